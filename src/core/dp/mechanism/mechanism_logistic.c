/* Additive logistic noise. exp(L/2) of the privacy loss L is uniform on [e^(-t/2), e^(t/2)], so every
 * quantity below is elementary. The intervals evaluate forms without cancellation:
 *   delta(eps)   = (e^(t/2) - e^(eps/2))^2 / (e^t - 1) = (1 - e^((eps-t)/2))^2 / (1 - e^-t)
 *   eps(delta)   = t + 2 ln(1 - sqrt(delta (1 - e^-t)))
 *   renyi        = (h((alpha - 1/2) t) - h(t/2)) / (alpha - 1),  h(x) = ln(sinh x / x)
 *   renyi_ball   = n renyi(t / sqrt n): the L2 theorem, by concavity of renyi in t^2. */
#include "dp/mechanism/logistic_compose.h"
#include "dp/mechanism/mechanism.h"
#include "num/special.h"

static struct interval mechanism_logistic_delta(struct interval t, double epsilon)
{
    struct interval gap = iv_scale(iv_sub(t, iv(epsilon)), 0.5); /* (t - eps)/2; none left: delta is 0 */
    gap.lo = fmax(0, gap.lo);
    gap.hi = fmax(0, gap.hi);
    struct interval top = iv_square(iv_expm1(iv_neg(gap)));
    struct interval ratio = iv_div(top, iv_neg(iv_expm1(iv_neg(t))));
    return (struct interval){fmax(0, ratio.lo), fmin(1, ratio.hi)};
}

/* By equation (1) of the derivation, with g = e^((y-t)/2):
 *   P(L > y) = (1 - g) / (1 - e^-t),  Q(L > y) = e^-y g (1 - g) / (1 - e^-t). */
static struct tails mechanism_logistic_tails(double t, double y)
{
    if (y >= t)
        return (struct tails){iv(0), iv(0), iv(0)};
    struct interval gap = iv_scale(iv_sub(iv(y), iv(t)), 0.5);
    struct interval alpha = iv_div(iv_expm1(gap), iv_expm1(iv(-t)));
    struct interval beta = iv_mul(iv_exp(iv_sub(gap, iv(y))), alpha);
    return (struct tails){alpha, beta, mechanism_logistic_delta(iv(t), y)};
}

/* 2 ln(2 cosh(t/2) e^(y/2) - 1): with A = e^((t-y)/2), the factor by which the distribution functions of a
 * shift t differ at the threshold, that of 2 t is A e^t / (e^t + 1 - A). */
static struct interval mechanism_logistic_twice(double t, double y)
{
    struct interval sum = iv_add(iv(y), iv(t));
    struct interval rest = iv_sub(iv_expm1(iv(-t)), iv_expm1(iv_scale(sum, -0.5)));
    return iv_add(sum, iv_scale(iv_log1p(rest), 2));
}

/* With g = e^(-y/2), k = 2 cosh(t/2) that is a g^2 + b g^2 / (k - g)^2 = 1, increasing and convex: Newton's
 * method from the right, where one term alone is 1. Beyond 600 the law is Laplace's. */
static double mechanism_logistic_balance(double t, double log_a, double log_b)
{
    if (t > 600) {
        double most = fmax(log_a, log_b - t);
        return most + log(exp(log_a - most) + exp(log_b - t - most));
    }
    double k = 2 * cosh(t / 2), root = exp(log_b / 2), g = fmin(exp(-log_a / 2), k / (1 + root));
    for (int i = 0; i < 20; i++) {
        double first = exp(log_a) * g * g, ratio = root / (k - g) * g, second = ratio * ratio;
        double step = (first + second - 1) / (2 * (first + second * k / (k - g)) / g);
        g -= step;
        if (!(step > 1e-15 * g))
            break;
    }
    return -2 * log(g);
}

static struct interval mechanism_logistic_epsilon(struct interval t, double target)
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

static struct interval mechanism_logistic_renyi(struct interval t, double alpha)
{
    return iv_min(renyi_ball(t, 1, alpha), t);
}

/* 2 ln( (w + sqrt(delta (w^2 - 1 + delta))) / (1 - delta) ), w = e^(eps/2), with w taken out of the root. */
static double mechanism_logistic_shift(double target_epsilon, double target)
{
    double rest = -expm1(-target_epsilon) + target * exp(-target_epsilon); /* (w^2 - 1 + delta) / w^2 */
    return target_epsilon + 2 * (log1p(sqrt(target * rest)) - log1p(-target));
}

static struct interval mechanism_logistic_below(struct interval z)
{
    return iv_div(iv(1), iv_add(iv(1), iv_exp(iv_neg(z))));
}

static double mechanism_logistic_log_density(double z)
{
    return -fabs(z) - 2 * log1p(exp(-fabs(z)));
}

static double mechanism_logistic_cdf(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double mechanism_logistic_measure(double u, double v)
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
    .epsilon = mechanism_logistic_epsilon,
    .delta = mechanism_logistic_delta,
    .tails = mechanism_logistic_tails,
    .below = mechanism_logistic_below,
    .log_density = mechanism_logistic_log_density,
    .twice = mechanism_logistic_twice,
    .balance = mechanism_logistic_balance,
    .composed = logistic_composed_epsilon,
    .composed_max = LOGISTIC_COMPOSE_MAX,
    .renyi = mechanism_logistic_renyi,
    .renyi_ball = renyi_ball,
    .shift = mechanism_logistic_shift,
    .cdf = mechanism_logistic_cdf,
    .law = DISCRETISED_LOGISTIC,
    .measure = mechanism_logistic_measure,
};
