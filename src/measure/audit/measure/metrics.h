/* metrics.h - the one place where scores become rates, areas, intervals and bounds.
 *
 * A record is flagged as a member when score > threshold. Curves step only between distinct scores; nothing
 * is interpolated. Thresholds that a rate is reported for were chosen on other records than those it is
 * measured on. */
#ifndef AUDIT_MEASURE_METRICS_H
#define AUDIT_MEASURE_METRICS_H

#include "base/memory.h"

/* Cumulative counts at each distinct score, highest first: flagging everything at or above score[i] gives
 * true_positives[i] and false_flags[i]. Owns its arrays. */
struct roc {
    size_t points, n_member, n_nonmember;
    double *score;
    size_t *true_positives, *false_flags;
};
/* Scores must be finite. n_member, n_nonmember > 0. ENOMEM. */
sotto_status roc_make(struct roc *out, const double *member, size_t n_member, const double *nonmember,
                      size_t n_nonmember);
void roc_clear(struct roc *c);
/* The curve of the opposite guess, which takes a high score for a non-member's: the two sides exchanged. Borrows c's arrays. */
struct roc roc_swapped(const struct roc *c);
/* Room for curves of up to `capacity` records, one after the other: the curve borrows its arrays. */
struct roc_room {
    size_t capacity;
    double *sorted, *scratch, *score;
    size_t *true_positives, *false_flags;
};
sotto_status roc_room_make(struct roc_room *room, size_t capacity);
void roc_room_clear(struct roc_room *room);
void roc_fill(struct roc *out, struct roc_room *room, const double *member, size_t n_member,
              const double *nonmember, size_t n_nonmember);

/* Mann-Whitney area with half ties; DeLong variance on the logit scale with Student's t (Satterthwaite's
 * degrees of freedom, as Brunner and Munzel 2000 do for the same statistic). Where that variance is 0
 * (perfect separation, constant scores) the interval is Clopper-Pearson on min(n_member, n_nonmember)
 * disjoint pairs. *exact says which. */
struct sotto_estimate roc_auc(const struct roc *c, double confidence, bool *exact);
/* The area and DeLong's variance of it on the plain scale. */
double roc_auc_variance(const struct roc *c, double *area);
double roc_area(const struct roc *c);
/* Largest TPR - FPR over all thresholds, >= 0: optimistic, chosen on the records it is measured on. */
double roc_advantage(const struct roc *c);
/* Indices of at most `limit` points, rising, that keep the shape on linear and on log axes; returns how
 * many. */
size_t roc_thin(size_t *out, size_t limit, const struct roc *c);

/* Thresholds (flag when score > t; INFINITY flags no record). */
double roc_threshold_at_fpr(const struct roc *c, double fpr); /* largest TPR with FPR <= fpr */
double roc_threshold_balanced(const struct roc *c); /* largest TPR - FPR; INFINITY if never positive */
double roc_threshold_epsilon(const struct roc *c, double delta, double confidence);

/* Rates at a threshold fixed beforehand, each with its two-sided Clopper-Pearson interval at `confidence`. */
struct rates {
    struct sotto_estimate tpr, fpr;
    size_t n_member, n_nonmember;
};
struct rates roc_rates(const struct roc *c, double threshold, double confidence);
/* Lower bound on epsilon at `confidence`, from rates made with the same confidence (each two-sided interval
 * spends half of the error on each end, and one end of each is used, so together they spend it once). Never
 * below 0. */
double rates_epsilon(const struct rates *r, double delta);
/* (TPR + TNR) / 2; interval from two intervals at half the error each. */
struct sotto_estimate roc_balanced(const struct roc *c, double threshold, double confidence);
/** Out: *out: area under the ROC curve (ties count half), with DeLong's interval. Returns: EINVAL, ENOMEM. */
sotto_status estimate_auc(struct sotto_estimate *out, const double *member, size_t n_member,
                          const double *nonmember, size_t n_nonmember, double confidence);
/** Out: *out: k / n and its Clopper-Pearson interval. Returns: EINVAL. */
sotto_status estimate_proportion(struct sotto_estimate *out, size_t k, size_t n, double confidence);

#endif
