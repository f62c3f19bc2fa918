/* Discrete Laplace (two-sided geometric) noise, P(K = k) = (1 - b) b^|k| / (1 + b), b = e^-h,
 * h = step / scale. For a shift of D steps the loss falls from D h to -D h in steps of 2 h, and with m the
 * last k with a loss (D - 2k) h still above eps
 *
 *   delta(eps) = F(m) - e^eps F(m - D) = 1 - (b^(m+1) + e^eps b^(D-m)) / (1 + b), m = floor((D - eps/h) / 2).
 *
 * For D = 1 that is randomised response, the worst of all; the record's own curves, which hold for every
 * step, are therefore randomised response's. */
#include "dp/mechanism/integer_search.h"
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/pure_pair.h"

/* P(K >= k) = b^k / (1 + b), k >= 0. */
static struct interval mechanism_discrete_laplace_tail(double k, struct interval h)
{
    return iv_div(iv_exp(iv_scale(h, -k)), iv_add(iv(1), iv_exp(iv_neg(h))));
}

/* S = {K <= m}, 0 <= m < D: alpha = 1 - P(K >= m + 1), lost = e^eps P(K >= D - m), and over 1 + b their
 * difference is (1 - b^(m+1)) + (b - e^eps b^(D-m)). */
static struct best_event at_threshold(double m, double steps, struct interval h, double epsilon)
{
    struct interval b = iv_exp(iv_neg(h)), all = iv_add(iv(1), b);
    struct interval kept = iv_neg(iv_expm1(iv_neg(iv_scale(h, m + 1))));
    struct interval gap = iv_sub(iv(epsilon), iv_scale(h, steps - m - 1)); /* e^eps b^(D-m) = b e^gap */
    struct interval rest = iv_neg(iv_expm1(gap));
    return (struct best_event){iv_div(iv_add(kept, b), all), iv_div(iv_mul(b, iv_exp(gap)), all),
                               iv_div(iv_add(kept, iv_mul(b, rest)), all)};
}

enum { CANDIDATES = 8 };
static const double countable = 0x1p50; /* beyond, doubles skip whole numbers */

static struct best_event mechanism_discrete_laplace_event(double steps, struct interval h, double epsilon)
{
    struct interval m = iv_scale(iv_sub(iv(steps), iv_div(iv(epsilon), h)), 0.5);
    struct best_event best = {iv(0), iv(0), iv(0)};
    double first = floor(fmax(0, m.lo)), last = floor(fmin(m.hi, steps - 1));
    if (last - first > CANDIDATES || last > countable) {
        best.delta.hi = pure_pair_delta(iv_scale(h, steps), epsilon).hi;
        return best;
    }
    for (double k = first; k <= last; k++) /* none: eps >= D h */
        best = best_of(best, at_threshold(k, steps, h, epsilon));
    return best;
}

static struct interval mechanism_discrete_laplace_delta(double steps, struct interval h, double epsilon)
{
    return mechanism_discrete_laplace_event(steps, h, epsilon).delta;
}

static struct interval mechanism_discrete_laplace_epsilon(double steps, struct interval h, double target)
{
    return integer_epsilon(mechanism_discrete_laplace_delta, steps, h, target, iv_scale(h, steps).hi);
}

/* D h + log1p(-(1 - r^D) (b - r) / ((1 - r)(1 + b))) / (alpha - 1), r = e^(-(2 alpha - 1) h): the sum over
 * both ends and the D - 1 points between them. */
static struct interval mechanism_discrete_laplace_renyi(double steps, struct interval h, double alpha)
{
    struct interval less = iv_sub(iv(alpha), iv(1)), twice = iv_sub(iv_scale(iv(alpha), 2), iv(1));
    struct interval t = iv_scale(h, steps), b = iv_exp(iv_neg(h)), rate = iv_mul(twice, h);
    struct interval top = iv_mul(iv_expm1(iv_neg(iv_scale(rate, steps))),
                                 iv_mul(b, iv_expm1(iv_neg(iv_scale(iv_mul(less, h), 2)))));
    struct interval fall = iv_div(top, iv_mul(iv_expm1(iv_neg(rate)), iv_add(iv(1), b)));
    struct interval sum = iv_add(t, iv_div(iv_log1p(fall), less));
    struct interval square = iv_scale(iv_mul(iv(alpha), iv_square(t)), 0.5);
    return iv_max(iv_min(iv_min(sum, t), square), iv(0));
}

static double mechanism_discrete_laplace_cdf(double k, double step)
{
    double b = exp(-step);
    k = floor(k);
    return k >= 0 ? 1 - exp(-step * (k + 1)) / (1 + b) : exp(step * k) / (1 + b);
}

/* sqrt(2 b) / (1 - b) steps. */
static double mechanism_discrete_laplace_deviation(double step)
{
    return sqrt(2 * exp(-step)) / -expm1(-step) * step;
}

/* P(K = 0) = (1 - b) / (1 + b). */
static struct interval mechanism_discrete_laplace_mass(double k, struct interval h)
{
    struct interval b = iv_exp(iv_neg(h));
    return iv_div(iv_mul(iv_neg(iv_expm1(iv_neg(h))), iv_exp(iv_scale(h, -fabs(k)))), iv_add(iv(1), b));
}

static struct interval loss_step(double steps, struct interval h)
{
    (void)steps;
    return h;
}

static const struct integer_law law = {
    .delta = mechanism_discrete_laplace_delta,
    .event = mechanism_discrete_laplace_event,
    .epsilon = mechanism_discrete_laplace_epsilon,
    .renyi = mechanism_discrete_laplace_renyi,
    .cdf = mechanism_discrete_laplace_cdf,
    .deviation = mechanism_discrete_laplace_deviation,
    .mass = mechanism_discrete_laplace_mass,
    .tail = mechanism_discrete_laplace_tail,
    .loss_step = loss_step,
    .bounded = true,
};

const struct mechanism mechanism_discrete_laplace = {
    .name = "discrete-laplace",
    .title = "discrete Laplace noise for whole numbers: pure by L1",
    .source = "ghosh2012universally; canonne2020discrete",
    .kind = RELEASE_INTEGER,
    .standard_deviation = NAN,
    .zcdp_divisor = 2,
    .pure = true,
    .epsilon = pure_pair_epsilon,
    .delta = pure_pair_delta,
    .composed = pure_pair_composed,
    .composed_max = PURE_PAIR_COMPOSE_MAX,
    .renyi = pure_pair_renyi,
    .integer = &law,
    .law = DISCRETISED_DISCRETE_LAPLACE,
};
