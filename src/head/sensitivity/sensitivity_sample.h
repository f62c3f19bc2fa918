/* sensitivity_sample.h - the sampler behind sotto_sensitivity_run(), for any way of making heads. */
#ifndef HEAD_SENSITIVITY_SENSITIVITY_SAMPLE_H
#define HEAD_SENSITIVITY_SENSITIVITY_SAMPLE_H

#include "head/many/head_batch_train.h"

/** head_batch_train(), or what a test puts in its place. */
typedef sotto_status (*head_maker)(const struct head_data *data, const struct sotto_head_recipe *recipe,
                                   size_t heads, const struct head_job *job, const struct sotto_context *ctx);

/** As sotto_sensitivity_run(). EINVAL also when `make` gives one head two sets of bits. */
sotto_status sensitivity_sample(struct sotto_sensitivity_sample *out, const struct head_data *data,
                                const struct sotto_head_recipe *recipe, size_t pairs, head_maker make,
                                const struct sotto_context *ctx);

#endif
