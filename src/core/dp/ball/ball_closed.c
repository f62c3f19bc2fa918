/* Closed forms, with t = shift / scale:
 *   logistic  delta = (1 - e^((eps-t)/2))^2 / (1 - e^-t),  eps = t + 2 ln(1 - sqrt(delta (1 - e^-t))),
 *             renyi = (ln sinh((alpha - 1/2) t) - ln sinh(t/2) - ln(2 alpha - 1)) / (alpha - 1);
 *   Laplace   delta = 1 - e^((eps-t)/2),  eps = t + 2 ln(1 - delta),
 *             renyi = t + ln(1 + (alpha-1)/(2 alpha-1) (e^(-(2 alpha-1) t) - 1)) / (alpha - 1);
 *   Gaussian  delta = Phi(t/2 - eps/t) - e^eps Phi(-t/2 - eps/t),  renyi = alpha t^2 / 2.
 * Cancellation is no concern: the precision grows until the ball is narrow. */
#include "dp/ball/ball_private.h"
#include "num/special.h"

struct closed {
    enum ball_noise noise;
    double t, x; /* x: epsilon, delta or alpha */
};

/* P(N > slope + sign t/2) */
static void ball_closed_tail(arb_t out, const arb_t t, const arb_t slope, int sign, slong bits)
{
    arb_mul_2exp_si(out, t, -1);
    arb_mul_si(out, out, sign, bits);
    arb_add(out, slope, out, bits);
    arb_t root;
    arb_init(root);
    arb_sqrt_ui(root, 2, bits);
    arb_div(out, out, root, bits);
    arb_clear(root);
    arb_hypgeom_erfc(out, out, bits);
    arb_mul_2exp_si(out, out, -1);
}

static void delta_formula(arb_t out, const void *arg, slong bits)
{
    const struct closed *c = arg;
    arb_t t, e, slope, part;
    arb_init(t);
    arb_init(e);
    arb_init(slope);
    arb_init(part);
    arb_set_d(t, c->t);
    arb_set_d(e, c->x);
    if (c->noise == BALL_GAUSSIAN) {
        arb_div(slope, e, t, bits);
        ball_closed_tail(out, t, slope, -1, bits);
        ball_closed_tail(part, t, slope, 1, bits);
        arb_exp(e, e, bits);
        arb_submul(out, part, e, bits);
    } else {
        arb_sub(out, e, t, bits);
        arb_mul_2exp_si(out, out, -1);
        arb_expm1(out, out, bits);
        if (c->noise == BALL_LOGISTIC) {
            arb_neg(t, t);
            arb_expm1(t, t, bits);
            arb_mul(out, out, out, bits);
            arb_div(out, out, t, bits);
        }
        arb_neg(out, out);
    }
    arb_clear(t);
    arb_clear(e);
    arb_clear(slope);
    arb_clear(part);
}

static void epsilon_formula(arb_t out, const void *arg, slong bits)
{
    const struct closed *c = arg;
    arb_t t;
    arb_init(t);
    arb_set_d(t, c->t);
    arb_set_d(out, c->x);
    if (c->noise == BALL_LOGISTIC) {
        arb_neg(t, t);
        arb_expm1(t, t, bits);
        arb_mul(out, out, t, bits);
        arb_neg(out, out);
        arb_sqrt(out, out, bits);
        arb_set_d(t, c->t);
    }
    arb_neg(out, out);
    arb_log1p(out, out, bits);
    arb_mul_2exp_si(out, out, 1);
    arb_add(out, out, t, bits);
    arb_clear(t);
}

/* ln sinh x = x - ln 2 + ln(1 - e^-2x), without the ln 2, which cancels */
static void log_sinh(arb_t out, const arb_t x, slong bits)
{
    arb_t part;
    arb_init(part);
    arb_mul_2exp_si(part, x, 1);
    arb_neg(part, part);
    arb_expm1(part, part, bits);
    arb_neg(part, part);
    arb_log(part, part, bits);
    arb_add(out, x, part, bits);
    arb_clear(part);
}

static void renyi_formula(arb_t out, const void *arg, slong bits)
{
    const struct closed *c = arg;
    arb_t t, twice, less, part; /* 2 alpha - 1, alpha - 1 */
    arb_init(t);
    arb_init(twice);
    arb_init(less);
    arb_init(part);
    arb_set_d(t, c->t);
    arb_set_d(less, c->x);
    arb_mul_2exp_si(twice, less, 1);
    arb_sub_ui(twice, twice, 1, bits);
    arb_sub_ui(less, less, 1, bits);
    if (c->noise == BALL_LOGISTIC) {
        arb_mul_2exp_si(t, t, -1);
        arb_mul(part, t, twice, bits);
        log_sinh(out, part, bits);
        log_sinh(part, t, bits);
        arb_sub(out, out, part, bits);
        arb_log(part, twice, bits);
        arb_sub(out, out, part, bits);
        arb_div(out, out, less, bits);
    } else {
        arb_mul(out, twice, t, bits);
        arb_neg(out, out);
        arb_expm1(out, out, bits);
        arb_mul(out, out, less, bits);
        arb_div(out, out, twice, bits);
        arb_log1p(out, out, bits);
        arb_div(out, out, less, bits);
        arb_add(out, out, t, bits);
    }
    arb_clear(t);
    arb_clear(twice);
    arb_clear(less);
    arb_clear(part);
}

static void gaussian_renyi_formula(arb_t out, const void *arg, slong bits)
{
    const struct closed *c = arg;
    arb_t alpha;
    arb_init(alpha);
    arb_set_d(alpha, c->x);
    arb_set_d(out, c->t);
    arb_mul(out, out, out, bits);
    arb_mul(out, out, alpha, bits);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(alpha);
}

static struct interval ball_closed_within(struct interval x, double lowest, double highest)
{
    return (struct interval){fmax(lowest, x.lo), fmin(highest, x.hi)};
}

struct interval ball_delta(enum ball_noise noise, double t, double epsilon)
{
    const struct closed c = {noise, t, epsilon};
    if (noise != BALL_GAUSSIAN && epsilon >= t)
        return iv(0);
    return ball_closed_within(ball_narrow(delta_formula, &c), 0, 1);
}

static bool ball_closed_holds(double epsilon, const void *arg)
{
    const struct closed *c = arg;
    return ball_delta(c->noise, c->t, epsilon).hi <= c->x;
}

struct search {
    struct closed closed;
    struct interval found;
};

/* No closed form: the smallest double found where delta holds, and one just below where it does not. */
static sotto_status gaussian_epsilon(void *arg)
{
    struct search *s = arg;
    const struct closed *c = &s->closed;
    struct interval out = {0, INFINITY};
    double high = 1, low;
    if (ball_closed_holds(0, c)) {
        s->found = iv(0);
        return SOTTO_OK;
    }
    while (high < 1e300 && !ball_closed_holds(high, c))
        high *= 2;
    for (low = high / 2; ball_closed_holds(low, c); low /= 2)
        high = low;
    if (ball_closed_holds(high, c))
        out.hi = bisect_up(low, high, ball_closed_holds, c);
    for (double step = 0x1p-52; isfinite(out.hi) && step < 1; step *= 2)
        if (ball_delta(BALL_GAUSSIAN, c->t, out.hi * (1 - step)).lo > c->x) {
            out.lo = out.hi * (1 - step);
            break;
        }
    s->found = out;
    return SOTTO_OK;
}

struct interval ball_epsilon(enum ball_noise noise, double t, double delta)
{
    const struct closed c = {noise, t, delta};
    if (noise == BALL_GAUSSIAN) {
        struct search search = {c, {0, INFINITY}};
        ball_run(gaussian_epsilon, &search, NULL);
        return search.found;
    }
    struct interval e = ball_closed_within(ball_narrow(epsilon_formula, &c), -INFINITY, t);
    return iv_max(e, iv(0));
}

struct interval ball_renyi(enum ball_noise noise, double t, double alpha)
{
    const struct closed c = {noise, t, alpha};
    if (noise == BALL_GAUSSIAN)
        return ball_narrow(gaussian_renyi_formula, &c);
    return ball_closed_within(ball_narrow(renyi_formula, &c), 0, t);
}

struct conversion {
    double renyi, alpha, delta;
};

static void conversion_formula(arb_t out, const void *arg, slong bits)
{
    const struct conversion *c = arg;
    arb_t alpha, less, part;
    arb_init(alpha);
    arb_init(less);
    arb_init(part);
    arb_set_d(alpha, c->alpha);
    arb_sub_ui(less, alpha, 1, bits);
    arb_set_d(part, c->delta);
    arb_mul(part, part, alpha, bits);
    arb_log(part, part, bits);
    arb_div(out, part, less, bits);
    arb_div(part, less, alpha, bits);
    arb_log(part, part, bits);
    arb_sub(out, part, out, bits);
    arb_set_d(part, c->renyi);
    arb_add(out, out, part, bits);
    arb_clear(alpha);
    arb_clear(less);
    arb_clear(part);
}

struct interval ball_renyi_to_epsilon(double renyi, double alpha, double delta)
{
    const struct conversion c = {renyi, alpha, delta};
    return iv_max(ball_narrow(conversion_formula, &c), iv(0));
}
