/* The range of one step by bisection on its tails; that of the composition by Chernoff's bound on a coarse
 * grid: P(sum >= u) <= M(t)^k e^(-t u),  so u = min over t of (k ln M(t) - ln rest) / t. */
#include "dp/ball/ball_window.h"
#include "base/memory.h"
#include "num/special.h"

enum { COARSE = 2048 };

struct tails {
    struct ball_law *law;
    double rest;
    arb_t epsilon, p, q;
};

static bool nothing_above(double epsilon, const void *arg)
{
    struct tails *t = (struct tails *)arg;
    arb_set_d(t->epsilon, epsilon);
    ball_law_tails(t->p, t->q, t->law, t->epsilon);
    return ball_enclosure(t->p).hi <= t->rest;
}

static bool nothing_below(double minus_epsilon, const void *arg)
{
    struct tails *t = (struct tails *)arg;
    arb_set_d(t->epsilon, -minus_epsilon);
    ball_law_tails(t->p, t->q, t->law, t->epsilon);
    arb_sub_ui(t->p, t->p, 1, t->law->bits);
    arb_sub_ui(t->q, t->q, 1, t->law->bits);
    return ball_enclosure(t->p).lo >= -t->rest && ball_enclosure(t->q).lo >= -t->rest;
}

static double reach(bool (*nothing)(double, const void *), struct tails *t)
{
    double high = 1, low;
    while (high <= 1e6 && !nothing(high, t))
        high *= 2;
    for (low = high / 2; low > 1e-12 && nothing(low, t); low /= 2)
        high = low;
    return low > 1e-12 ? bisect_up(low, high, nothing, t) : high;
}

/* k ln M(t) - ln rest over t, for losses times `sign`. */
struct chernoff {
    const double *mass, *loss;
    double count, log_rest, sign;
};

static double quantile(double t, const void *arg)
{
    const struct chernoff *c = arg;
    double peak = -INFINITY, sum = 0;
    for (size_t i = 0; i < COARSE; i++)
        peak = fmax(peak, c->mass[i] > 0 ? t * c->sign * c->loss[i] : -INFINITY);
    for (size_t i = 0; i < COARSE; i++)
        if (c->mass[i] > 0)
            sum += c->mass[i] * exp(t * c->sign * c->loss[i] - peak);
    return (c->count * (log(sum) + peak) - c->log_rest) / t;
}

static void chernoff_ends(struct ball_window *out, const double *mass, const double *loss, double count,
                          double rest)
{
    double size = fmax(fabs(loss[0]), fabs(loss[COARSE - 1]));
    struct chernoff c = {mass, loss, count, log(rest), 1};
    out->tilt_right = minimise_log(1e-9 / size, 1e5 / size, 0, quantile, &c);
    out->end = quantile(out->tilt_right, &c);
    c.sign = -1;
    out->tilt_left = minimise_log(1e-9 / size, 1e5 / size, 0, quantile, &c);
    out->start = -quantile(out->tilt_left, &c);
}

sotto_status ball_window_find(struct ball_window *out, struct ball_law *law, double count, double rest,
                              bool swapped)
{
    sotto_status status = SOTTO_OK;
    struct tails t = {.law = law, .rest = rest / count};
    struct ball_pair pair = {.mass = NULL};
    arb_ptr p = ball_numbers(COARSE), q = ball_numbers(COARSE);
    double *mass = base_alloc(COARSE, sizeof *mass), *loss = base_alloc(COARSE, sizeof *loss);
    arb_init(t.epsilon);
    arb_init(t.p);
    arb_init(t.q);
    if (!p || !q || !mass || !loss)
        FAIL(SOTTO_ENOMEM, "out of memory (privacy-loss window)");
    out->high = reach(nothing_above, &t);
    out->low = -reach(nothing_below, &t);
    if (out->high > 1e6 || out->low < -1e6)
        FAIL(SOTTO_EDOMAIN, "privacy losses beyond 1e6 in one step: the noise is too small for a grid");
    double spacing = (out->high - out->low) / (COARSE - 3);
    slong first = (slong)floor(out->low / spacing);
    ball_tails(p, q, law, first, COARSE, spacing);
    TRY(ball_pair_make(&pair, p, q, first, COARSE, spacing, swapped, law->bits));
    for (size_t i = 0; i < COARSE; i++) {
        mass[i] = arf_get_d(arb_midref(acb_realref(pair.mass + i)), ARF_RND_NEAR);
        loss[i] = (double)(pair.first + (slong)i) * spacing;
    }
    chernoff_ends(out, mass, loss, count, rest);
done:
    if (pair.mass)
        ball_pair_clear(&pair);
    arb_clear(t.epsilon);
    arb_clear(t.p);
    arb_clear(t.q);
    ball_numbers_free(p, COARSE);
    ball_numbers_free(q, COARSE);
    base_free(mass);
    base_free(loss);
    return status;
}
