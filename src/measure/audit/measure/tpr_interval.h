/* tpr_interval.h - intervals of "TPR at FPR x": the threshold is unknown, and its chance is part of the interval.
 *
 * A threshold that was chosen on finitely many non-members does not have the FPR that it was chosen for, so an
 * interval of the rate at that threshold misses the rate at FPR x much more often than it says. */
#ifndef AUDIT_MEASURE_TPR_INTERVAL_H
#define AUDIT_MEASURE_TPR_INTERVAL_H

#include "audit/measure/metrics.h"

/* How the non-members' ranks enclose the threshold with FPR x: between the high-th and the low-th highest score. */
struct tpr_ranks {
    size_t low, high;             /* low 0: too few non-members for a lower end; high n + 1: likewise above */
    double low_error, high_error; /* chance that the threshold lies beyond each */
};
/* K ~ Bin(n, fpr) non-members score above that threshold: low is the largest rank with P(K < low) <= a/4, high the
 * smallest with P(K >= high) <= a/4, a = 1 - confidence. */
struct tpr_ranks tpr_ranks_find(size_t n, double fpr, double confidence);
/* Fewest non-members with low > 0. */
double tpr_ranks_least(double fpr, double confidence);

/* Clopper-Pearson limits of the members above the low-th highest non-member and of those at or above the high-th,
 * each with what the ranks left of a/2. Covers by the union bound, for any distribution and any ties (they count
 * against the claim at both ends). *has_lower: false where low is 0. The estimate is that of
 * roc_threshold_at_fpr(). */
struct sotto_estimate tpr_by_ranks(const struct roc *c, double fpr, double confidence, bool *has_lower);

#endif
