/* distribution_shift_test.h - can members and non-members be told apart by the records alone, before any model has seen
 * them? If so, every attack result also measures that. */
#ifndef AUDIT_DISTRIBUTION_SHIFT_TEST_H
#define AUDIT_DISTRIBUTION_SHIFT_TEST_H

#include "sotto/base.h"

enum { TWO_SETS_FOLDS = 5, TWO_SETS_MOST = 1000 };

/* AUC of a logistic regression on features (n_member + n_nonmember, width), members first, each record scored
 * by a model that did not see it: the mean over five folds, with the interval from DeLong's variance in each.
 * At most TWO_SETS_MOST records of a side take part, drawn with `seed`. Needs at least 10 of each. EINVAL,
 * ENOMEM. */
sotto_status distribution_shift_auc(struct sotto_estimate *out, const float *features, size_t n_member,
                                    size_t n_nonmember, size_t width, double confidence, uint64_t seed,
                                    const struct sotto_context *ctx);
/* Pearson's chi-squared test of equal class shares: its p-value (Wilson and Hilferty's approximation), 1 if
 * there is one class only. */
double distribution_shift_classes_p(const size_t *member, const size_t *nonmember, size_t classes);

#endif
