#include "audit/measure/epsilon_bounds.h"

#include "num/beta.h"

#include <math.h>

/* e^(k e) and delta (e^(k e) - 1) / (e^e - 1) for one side of the test. */
static bool epsilon_bounds_refuted(double epsilon, double hit, double false_alarm, double delta, double k)
{
    double factor = exp(k * epsilon);
    double slack = delta * (epsilon > 0 ? expm1(k * epsilon) / expm1(epsilon) : k);
    return hit > factor * false_alarm + slack;
}

double epsilon_of_group(const struct rates *r, double delta, size_t group)
{
    double low = 0, high = 64, k = (double)group;
    for (int i = 0; i < 100; i++) {
        double e = low + (high - low) / 2;
        if (epsilon_bounds_refuted(e, r->tpr.lower, r->fpr.upper, delta, k) ||
            epsilon_bounds_refuted(e, 1 - r->fpr.upper, 1 - r->tpr.lower, delta, k))
            low = e;
        else
            high = e;
    }
    return low;
}

/* Pr[Bin(r, q) >= v]. */
static double epsilon_bounds_tail(size_t r, double q, size_t v)
{
    if (v == 0)
        return 1;
    if (v > r)
        return 0;
    return beta_cdf(q, (double)v, (double)(r - v) + 1).lower;
}

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double one_run_p(double epsilon, double delta, size_t m, size_t r, size_t v)
{
    double q = 1 / (1 + exp(-epsilon)), beta = epsilon_bounds_tail(r, q, v), alpha = 0;
    if (delta == 0 || v == 0)
        return beta;
    /* alpha = max over i of the mean of Pr[Bin = v - 1], ..., Pr[Bin = v - i]; the terms follow from one
     * another. They rise and then fall, so a mean that falls does so for good (rounding aside). */
    double j = (double)v - 1, n = (double)r, sum = 0;
    double term = exp(log_choose(n, j) + j * log(q) + (n - j) * log1p(-q)), odds = (1 - q) / q;
    for (size_t i = 1; i <= v && term > 0; i++) {
        sum += term;
        if (sum / (double)i < alpha * (1 - 1e-9))
            break;
        alpha = fmax(alpha, sum / (double)i);
        term *= j / (n - j + 1) * odds;
        j -= 1;
    }
    return fmin(1, beta + 2 * (double)m * delta * alpha);
}

double one_run_epsilon(double delta, size_t m, size_t r, size_t v, double confidence)
{
    double low = 0, high = 64, level = 1 - confidence;
    if (r == 0 || one_run_p(0, delta, m, r, v) > level)
        return 0;
    for (int i = 0; i < 100; i++) {
        double e = low + (high - low) / 2;
        if (one_run_p(e, delta, m, r, v) <= level)
            low = e;
        else
            high = e;
    }
    return low;
}

/* Noncentral hypergeometric: how many of `drawn` flagged records are members, with weights e^(log_w[x] + x
 * t). */
struct hypergeometric {
    size_t least, most;
    double *log_weight; /* (most - least + 1) */
};

struct moments {
    double mean, at_least, at_most; /* at least and at most what was seen */
};

static struct moments moments_at(const struct hypergeometric *h, double t, size_t seen)
{
    double top = -INFINITY, sum = 0;
    struct moments out = {0, 0, 0};
    for (size_t x = h->least; x <= h->most; x++)
        top = fmax(top, h->log_weight[x - h->least] + (double)(x - h->least) * t);
    for (size_t x = h->least; x <= h->most; x++) {
        double w = exp(h->log_weight[x - h->least] + (double)(x - h->least) * t - top);
        sum += w;
        out.mean += (double)x * w;
        out.at_least += x >= seen ? w : 0;
        out.at_most += x <= seen ? w : 0;
    }
    return (struct moments){out.mean / sum, out.at_least / sum, out.at_most / sum};
}

enum odds_end { ODDS_LOWER, ODDS_ESTIMATE, ODDS_UPPER };

/* All three grow with t (at_most falls), so bisection finds them. */
static double epsilon_bounds_solve(const struct hypergeometric *h, size_t seen, enum odds_end end,
                                   double tail_error)
{
    double low = -64, high = 64;
    for (int i = 0; i < 80; i++) {
        double t = low + (high - low) / 2;
        struct moments m = moments_at(h, t, seen);
        bool below = end == ODDS_LOWER      ? m.at_least < tail_error
                     : end == ODDS_ESTIMATE ? m.mean < (double)seen
                                            : m.at_most > tail_error;
        if (below)
            low = t;
        else
            high = t;
    }
    return low + (high - low) / 2;
}

sotto_status odds_ratio_interval(struct sotto_estimate *out, size_t hits, size_t n1, size_t false_alarms,
                                 size_t n0, double confidence)
{
    sotto_status status = SOTTO_OK;
    size_t drawn = hits + false_alarms;
    struct hypergeometric h = {.least = drawn > n0 ? drawn - n0 : 0, .most = drawn < n1 ? drawn : n1};
    NEW(h.log_weight, h.most - h.least + 1);
    for (size_t x = h.least; x <= h.most; x++)
        h.log_weight[x - h.least] =
            log_choose((double)n1, (double)x) + log_choose((double)n0, (double)(drawn - x));
    double error = (1 - confidence) / 2;
    *out = (struct sotto_estimate){0, -INFINITY, INFINITY};
    if (h.least < h.most) {
        out->lower = hits > h.least ? epsilon_bounds_solve(&h, hits, ODDS_LOWER, error) : -INFINITY;
        out->upper = hits < h.most ? epsilon_bounds_solve(&h, hits, ODDS_UPPER, error) : INFINITY;
        out->estimate = hits == h.least  ? -INFINITY
                        : hits == h.most ? INFINITY
                                         : epsilon_bounds_solve(&h, hits, ODDS_ESTIMATE, 0);
    }
done:
    base_free(h.log_weight);
    return status;
}
