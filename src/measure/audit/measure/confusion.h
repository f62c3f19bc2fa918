/* confusion.h - scores of a classifier with many classes, and their bootstrap over test records. */
#ifndef AUDIT_MEASURE_CONFUSION_H
#define AUDIT_MEASURE_CONFUSION_H

#include "base/memory.h"

struct confusion_scores {
    struct sotto_estimate accuracy, balanced, macro_f1; /* balanced: mean recall of the classes that occur */
};
/* truth, guess (n), both 0 .. classes-1. Accuracy: Clopper-Pearson. The others: percentile intervals of `draws` draws; resampling n records is a multinomial draw
 * over the cells of the confusion table. ENOMEM. */
sotto_status confusion_measure(struct confusion_scores *out, const int64_t *truth, const int64_t *guess,
                               size_t n, size_t classes, size_t draws, double confidence, uint64_t seed,
                               uint64_t stream);
/* How much more often `guess` is right than `other`, on the same records. ENOMEM. */
sotto_status confusion_gain(struct sotto_estimate *out, const int64_t *truth, const int64_t *guess,
                            const int64_t *other, size_t n, size_t draws, double confidence, uint64_t seed,
                            uint64_t stream);

#endif
