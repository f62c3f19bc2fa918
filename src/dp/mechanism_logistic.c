/* Additive logistic noise. exp(L/2) of the privacy loss L is uniform on [e^(-t/2), e^(t/2)], so every
 * quantity below is elementary. The intervals evaluate forms without cancellation: delta(eps)   = (e^(t/2) -
 * e^(eps/2))^2 / (e^t - 1) = (1 - e^((eps-t)/2))^2 / (1 - e^-t) eps(delta)   = t + 2 ln(1 - sqrt(delta (1 -
 * e^-t))) renyi        = (h((alpha - 1/2) t) - h(t/2)) / (alpha - 1),  h(x) = ln(sinh x / x) renyi_ball   = n
 * renyi(t / sqrt n): the L2 theorem, by concavity of renyi in t^2. */
#include "dp/logistic_compose.h"
#include "dp/mechanism.h"
#include "num/special.h"

static struct interval delta(struct interval t, double epsilon)
{
    struct interval gap = iv_scale(iv_sub(t, iv(epsilon)), 0.5); /* (t - eps)/2; none left: delta is 0 */
    gap.lo = fmax(0, gap.lo);
    gap.hi = fmax(0, gap.hi);
    struct interval top = iv_square(iv_expm1(iv_neg(gap)));
    struct interval ratio = iv_div(top, iv_neg(iv_expm1(iv_neg(t))));
    return (struct interval){fmax(0, ratio.lo), fmin(1, ratio.hi)};
}

/* By equation (1) of the derivation, with g = e^((y-t)/2): P(L > y) = (1 - g) / (1 - e^-t) and
 * Q(L > y) = e^-y g (1 - g) / (1 - e^-t). */
static struct tails tails(double t, double y)
{
    if (y >= t)
        return (struct tails){iv(0), iv(0), iv(0)};
    struct interval gap = iv_scale(iv_sub(iv(y), iv(t)), 0.5);
    struct interval alpha = iv_div(iv_expm1(gap), iv_expm1(iv(-t)));
    struct interval beta = iv_mul(iv_exp(iv_sub(gap, iv(y))), alpha);
    return (struct tails){alpha, beta, delta(iv(t), y)};
}

static struct interval epsilon(struct interval t, double target)
{
    struct interval root = iv_sqrt(iv_scale(iv_neg(iv_expm1(iv_neg(t))), target));
    struct interval answer = iv_add(t, iv_scale(iv_log1p(iv_neg(root)), 2));
    return iv_max(iv_min(answer, t), iv(0));
}

static struct interval renyi_ball(struct interval t, double n, double alpha)
{
    struct interval one = iv_div(t, iv_sqrt(iv(n)));
    struct interval order = iv_sub(iv(alpha), iv(0.5));
    struct interval far = log_sinhc(iv_mul(order, one)), near = log_sinhc(iv_scale(one, 0.5));
    struct interval sum = iv_mul(iv(n), iv_div(iv_sub(far, near), iv_sub(iv(alpha), iv(1))));
    return iv_max(sum, iv(0));
}

static struct interval renyi(struct interval t, double alpha)
{
    return iv_min(renyi_ball(t, 1, alpha), t);
}

/* 2 ln( (w + sqrt(delta (w^2 - 1 + delta))) / (1 - delta) ), w = e^(eps/2), with w taken out of the root. */
static double shift(double target_epsilon, double target)
{
    double rest = -expm1(-target_epsilon) + target * exp(-target_epsilon); /* (w^2 - 1 + delta) / w^2 */
    return target_epsilon + 2 * (log1p(sqrt(target * rest)) - log1p(-target));
}

static double cdf(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double measure(double u, double v)
{
    (void)v;
    return log(u) - log1p(-u);
}

const struct mechanism mechanism_logistic = {
    .name = "logistic",
    .title = "additive logistic noise: pure by L1 and like a Gaussian by L2",
    .source = "docs/derivations/logistic.md",
    .standard_deviation = 1.8137993642342178, /* pi / sqrt 3 */
    .zcdp_divisor = 6,
    .pure = true,
    .epsilon = epsilon,
    .delta = delta,
    .tails = tails,
    .composed = logistic_composed_epsilon,
    .composed_max = LOGISTIC_COMPOSE_MAX,
    .renyi = renyi,
    .renyi_ball = renyi_ball,
    .shift = shift,
    .cdf = cdf,
    .magnitude = lattice_logistic,
    .fixed = fixed_logistic,
    .measure = measure,
};
