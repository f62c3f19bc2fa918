#include "audit/measure/tpr_interval.h"

#include "num/beta.h"

#include <math.h>

/* P(K >= k), K ~ Bin(n, p), and P(K < k). */
static struct beta_tails at_least(size_t n, double p, size_t k)
{
    if (k == 0)
        return (struct beta_tails){1, 0};
    if (k > n)
        return (struct beta_tails){0, 1};
    return beta_cdf(p, (double)k, (double)(n - k) + 1);
}

struct tpr_ranks tpr_ranks_find(size_t n, double fpr, double confidence)
{
    const double error = (1 - confidence) / 4;
    size_t from = 0, to = n + 1; /* P(K < from) <= error */
    while (from + 1 < to) {
        const size_t k = from + (to - from) / 2;
        if (at_least(n, fpr, k).upper <= error)
            from = k;
        else
            to = k;
    }
    struct tpr_ranks out = {.low = from, .low_error = at_least(n, fpr, from).upper};
    from = 0, to = n + 1; /* P(K >= to) <= error */
    while (from < to) {
        const size_t k = from + (to - from) / 2;
        if (at_least(n, fpr, k).lower <= error)
            to = k;
        else
            from = k + 1;
    }
    out.high = to;
    out.high_error = at_least(n, fpr, to).lower;
    return out;
}

double tpr_ranks_least(double fpr, double confidence)
{
    return ceil(log((1 - confidence) / 4) / log1p(-fpr) - 1e-9);
}

/* First point that flags at least `rank` non-members: its score is the rank-th highest of theirs. */
static size_t point_of_rank(const struct roc *c, size_t rank)
{
    size_t low = 0, high = c->points - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->false_flags[middle] >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct sotto_estimate tpr_by_ranks(const struct roc *c, double fpr, double confidence, bool *has_lower)
{
    const double half = (1 - confidence) / 2, m = (double)c->n_member;
    const struct tpr_ranks ranks = tpr_ranks_find(c->n_nonmember, fpr, confidence);
    struct sotto_estimate out = roc_rates(c, roc_threshold_at_fpr(c, fpr), confidence).tpr;
    double ignored;
    *has_lower = ranks.low > 0;
    out.lower = 0, out.upper = 1;
    if (ranks.low > 0) {
        const size_t point = point_of_rank(c, ranks.low), above = point ? c->true_positives[point - 1] : 0;
        clopper_pearson(&out.lower, &ignored, (double)above, m, 1 - 2 * (half - ranks.low_error));
    }
    if (ranks.high <= c->n_nonmember) {
        const size_t point = point_of_rank(c, ranks.high);
        clopper_pearson(&ignored, &out.upper, (double)c->true_positives[point], m,
                        1 - 2 * (half - ranks.high_error));
    }
    return out;
}
