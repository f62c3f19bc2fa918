#include "num/binomial.h"

#include "num/beta.h"
#include "num/special.h"

#include <math.h>
#include <stdbool.h>

/* The stated error of beta_cdf() is 1e-13. */
static const double safety = 1 + 1e-12;

/* The largest double x in [low, high] found with fits(x), which holds at `low` and up to some point. */
static double binomial_largest(double low, double high, bool (*fits)(double x, const void *arg),
                               const void *arg)
{
    for (double middle = low + (high - low) / 2; middle > low && middle < high;
         middle = low + (high - low) / 2)
        if (fits(middle, arg))
            low = middle;
        else
            high = middle;
    return low;
}

struct count {
    double k, n, alpha;
};

static bool too_few_explain(double p, const void *arg)
{
    const struct count *c = arg;
    return beta_cdf(p, c->k, c->n - c->k + 1).lower * safety <= c->alpha;
}

double binomial_lower_limit(uint64_t k, uint64_t n, double alpha)
{
    struct count c = {(double)k, (double)n, alpha};
    if (k == 0)
        return 0;
    if (k == n) /* p^n = alpha */
        return iv_exp(iv_div(iv_log(iv(alpha)), iv(c.n))).lo;
    return binomial_largest(0, 1, too_few_explain, &c);
}

double fair_coin_p_value(uint64_t k, uint64_t n)
{
    double most = (double)(k > n - k ? k : n - k);
    if (most * 2 <= (double)n)
        return 1;
    double tail = 2 * beta_cdf(0.5, most, (double)n - most + 1).lower * safety;
    return tail < 1 ? tail : 1;
}

static bool normal_is_below(double z, const void *p)
{
    return normal_cdf(iv(z)).hi <= *(const double *)p;
}

double normal_quantile_below(double p)
{
    return p > 0.5 ? binomial_largest(0, 40, normal_is_below, &p) : 0;
}

/* 1 - p is exact for p in [1/2, 1]; at 1 the largest double below stands for it. */
static struct interval binomial_complement(double p)
{
    return iv(1 - fmin(p, next_down(1)));
}

double laplace_quantile_below(double p)
{
    return p > 0.5 ? fmax(0, iv_neg(iv_log(iv_scale(binomial_complement(p), 2))).lo) : 0;
}

double logistic_quantile_below(double p)
{
    return p > 0.5 ? fmax(0, iv_log(iv_div(iv(p), binomial_complement(p))).lo) : 0;
}
