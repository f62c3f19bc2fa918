/* sensitivity_sample.h - the sampler behind sotto_sensitivity_run(), for any way of making heads. */
#ifndef HEAD_SENSITIVITY_SENSITIVITY_SAMPLE_H
#define HEAD_SENSITIVITY_SENSITIVITY_SAMPLE_H

#include "head/batch/head_batch_train.h"
#include "sotto/lab/sensitivity.h"

/** head_batch_train(), or what a test puts in its place. */
typedef sotto_status (*head_maker)(const struct head_data *data, const struct sotto_head_recipe *recipe,
                                   size_t heads, const struct head_job *job, const struct sotto_context *ctx);

/** As sotto_sensitivity_run(). EINVAL also when `make` gives one head two sets of bits. */
sotto_status sensitivity_sample(struct sotto_sensitivity_sample *out, const struct head_data *data,
                                const struct sotto_head_recipe *recipe, size_t pairs, head_maker make,
                                const struct sotto_context *ctx);

/** What one pair shows; numbers only, as blocks of them are kept in files. */
struct pair_change {
    double l1, l2, linf;
    struct sotto_norm_pair paper[SOTTO_PAPER_NORMS];
};
/** changes (count): of the pairs first .. first + count - 1 of a checked recipe; pair k is a function of its seed and k. tells: a line
 *  each time the number of pairs has doubled. */
sotto_status sensitivity_changes(struct pair_change *changes, size_t first, size_t count,
                                 const struct head_data *data, const struct sotto_head_recipe *r, bool tells,
                                 head_maker make, const struct sotto_context *ctx);
/** In pair order. */
void sensitivity_fold(struct sotto_sensitivity_sample *out, const struct pair_change *changes, size_t pairs,
                      const struct head_data *data, const struct sotto_head_recipe *r);
/** EINVAL: none, or more than there are distinct ones. */
sotto_status sensitivity_check_pairs(size_t pairs, size_t n);

#endif
