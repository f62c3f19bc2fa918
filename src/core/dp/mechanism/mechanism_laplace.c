/* Laplace noise. delta(eps) = 1 - e^((eps - t)/2) for eps <= t; Renyi (Mironov 2017, table II)
 *   ln[ alpha/(2 alpha - 1) e^((alpha-1) t) + (alpha-1)/(2 alpha - 1) e^(-alpha t) ] / (alpha - 1).
 * t-DP per coordinate gives alpha t_i^2/2 (Bun and Steinke 2016, proposition 3.3), so D2^2/(2 b^2)-zCDP for a
 * vector. */
#include "dp/mechanism/mechanism.h"

static struct interval mechanism_laplace_delta(struct interval t, double epsilon)
{
    struct interval gap = iv_scale(iv_sub(t, iv(epsilon)), 0.5);
    gap.lo = fmax(0, gap.lo);
    gap.hi = fmax(0, gap.hi);
    struct interval d = iv_neg(iv_expm1(iv_neg(gap)));
    return (struct interval){fmax(0, d.lo), fmin(1, d.hi)};
}

/* Below the atom at t: Q(L > y) = e^(-(y + t)/2) / 2. */
static struct tails mechanism_laplace_tails(double t, double y)
{
    if (y >= t)
        return (struct tails){iv(0), iv(0), iv(0)};
    struct interval far = iv_scale(iv_add(iv(y), iv(t)), -0.5), gap = iv_scale(iv_sub(iv(y), iv(t)), 0.5);
    struct interval d = mechanism_laplace_delta(iv(t), y);
    return (struct tails){iv_add(d, iv_scale(iv_exp(gap), 0.5)), iv_scale(iv_exp(far), 0.5), d};
}

/* A threshold c in (0, t) loses y = t - 2 c, and 2 t - 2 c. */
static struct interval mechanism_laplace_twice(double t, double y)
{
    return iv_add(iv(y), iv(t));
}

static double mechanism_laplace_balance(double t, double log_a, double log_b)
{
    double most = fmax(log_a, log_b - t);
    return most + log(exp(log_a - most) + exp(log_b - t - most));
}

static struct interval mechanism_laplace_epsilon(struct interval t, double target)
{
    struct interval answer = iv_add(t, iv_scale(iv_log1p(iv(-target)), 2));
    return iv_max(answer, iv(0));
}

/* (alpha-1) t + ln( alpha/(2 alpha-1) + (alpha-1)/(2 alpha-1) e^(-(2 alpha-1) t) ); the logarithm as
 * log1p( (alpha-1)/(2 alpha-1) expm1(-(2 alpha-1) t) ) keeps small shifts. */
static struct interval mechanism_laplace_renyi(struct interval t, double alpha)
{
    struct interval less = iv_sub(iv(alpha), iv(1)), twice = iv_sub(iv_scale(iv(alpha), 2), iv(1));
    struct interval fall = iv_expm1(iv_neg(iv_mul(twice, t)));
    struct interval sum = iv_add(iv_mul(less, t), iv_log1p(iv_mul(iv_div(less, twice), fall)));
    return iv_max(iv_min(iv_div(sum, less), t), iv(0));
}

static double mechanism_laplace_shift(double target_epsilon, double target)
{
    return target_epsilon - 2 * log1p(-target);
}

static struct interval mechanism_laplace_below(struct interval z)
{
    struct interval low = iv_scale(iv_exp(iv_min(z, iv(0))), 0.5),
                    high = iv_scale(iv_exp(iv_neg(iv_max(z, iv(0)))), 0.5);
    return (struct interval){z.lo < 0 ? low.lo : iv_sub(iv(1), high).lo,
                             z.hi < 0 ? low.hi : iv_sub(iv(1), high).hi};
}

static double mechanism_laplace_log_density(double z)
{
    return -fabs(z);
}

static double mechanism_laplace_cdf(double x)
{
    return x >= 0 ? 1 - 0.5 * exp(-x) : 0.5 * exp(x);
}

static double mechanism_laplace_measure(double u, double v)
{
    (void)v;
    return u < 0.5 ? log(2 * u) : -log(2 * (1 - u));
}

const struct mechanism mechanism_laplace = {
    .name = "laplace",
    .title = "Laplace noise: pure by L1",
    .source = "dwork2006calibrating; mironov2017renyi, table II",
    .standard_deviation = 1.4142135623730951,
    .zcdp_divisor = 2,
    .pure = true,
    .epsilon = mechanism_laplace_epsilon,
    .delta = mechanism_laplace_delta,
    .tails = mechanism_laplace_tails,
    .below = mechanism_laplace_below,
    .log_density = mechanism_laplace_log_density,
    .atom = 0.5,
    .twice = mechanism_laplace_twice,
    .balance = mechanism_laplace_balance,
    .renyi = mechanism_laplace_renyi,
    .shift = mechanism_laplace_shift,
    .cdf = mechanism_laplace_cdf,
    .law = DISCRETISED_LAPLACE,
    .measure = mechanism_laplace_measure,
};
