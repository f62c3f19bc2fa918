/* The range of one step by bisection on its tails; that of the composition by Chernoff's bound on a coarse
 * grid:
 *   P(sum >= u) <= M(t)^k e^(-t u),  so u = min over t of (k ln M(t) - ln rest) / t. */
#include "dp/ball/ball_window.h"

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

static double ball_window_reach(bool (*nothing)(double, const void *), struct tails *t)
{
    double high = 1, low;
    while (high <= 1e6 && !nothing(high, t))
        high *= 2;
    for (low = high / 2; low > 1e-12 && nothing(low, t); low /= 2)
        high = low;
    return low > 1e-12 ? bisect_up(low, high, nothing, t) : high;
}

/* (k ln M(t) - ln rest) / t, for losses times `sign`. */
struct chernoff {
    const double *mass, *loss;
    size_t length;
    double count, log_rest, sign;
};

static double ball_window_quantile(double t, const void *arg)
{
    const struct chernoff *c = arg;
    double peak = -INFINITY, sum = 0;
    for (size_t i = 0; i < c->length; i++)
        if (c->mass[i] > 0)
            peak = fmax(peak, t * c->sign * c->loss[i]);
    for (size_t i = 0; i < c->length; i++)
        if (c->mass[i] > 0)
            sum += c->mass[i] * exp(t * c->sign * c->loss[i] - peak);
    return (c->count * (log(sum) + peak) - c->log_rest) / t;
}

void ball_window_of(struct ball_window *out, const struct ball_pair *pair, double count, double rest)
{
    size_t n = pair->length;
    double *mass = ball_take(n * sizeof *mass), *loss = ball_take(n * sizeof *loss);
    for (size_t i = 0; i < n; i++) {
        mass[i] = arf_get_d(arb_midref(acb_realref(pair->mass + i)), ARF_RND_NEAR);
        loss[i] = (double)(pair->first + (slong)i) * pair->spacing;
    }
    double size = fmax(fabs(loss[0]), fabs(loss[n - 1]));
    struct chernoff c = {mass, loss, n, count, log(rest), 1};
    out->tilt_right = minimise_log(1e-9 / size, 1e5 / size, 0, ball_window_quantile, &c);
    out->end = ball_window_quantile(out->tilt_right, &c);
    c.sign = -1;
    out->tilt_left = minimise_log(1e-9 / size, 1e5 / size, 0, ball_window_quantile, &c);
    out->start = -ball_window_quantile(out->tilt_left, &c);
    ball_give(mass);
    ball_give(loss);
}

sotto_status ball_window_find(struct ball_range *range, struct ball_window *out, struct ball_law *law,
                              double count, double rest, bool swapped)
{
    sotto_status status = SOTTO_OK;
    struct tails t = {.law = law, .rest = rest / count};
    struct ball_pair pair;
    arb_ptr p = ball_numbers(COARSE), q = ball_numbers(COARSE);
    arb_init(t.epsilon);
    arb_init(t.p);
    arb_init(t.q);
    range->high = ball_window_reach(nothing_above, &t);
    range->low = -ball_window_reach(nothing_below, &t);
    if (fmax(range->high, -range->low) > 1e6)
        FAIL(SOTTO_EDOMAIN,
             "the noise is too small for a privacy-loss grid; the privacy loss of one step is above 1e6");
    double spacing = (range->high - range->low) / (COARSE - 3);
    slong first = (slong)floor(range->low / spacing);
    ball_tails(p, q, law, first, COARSE, spacing);
    ball_pair_make(&pair, p, q, first, COARSE, spacing, swapped, law);
    ball_window_of(out, &pair, count, rest);
    ball_pair_clear(&pair);
done:
    arb_clear(t.epsilon);
    arb_clear(t.p);
    arb_clear(t.q);
    ball_numbers_free(p, COARSE);
    ball_numbers_free(q, COARSE);
    return status;
}
