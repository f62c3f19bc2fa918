/* head_private.h - "dp-sgd", "dp-adam" and "dp-gd": training in steps of clipped sums with noise. */
#ifndef HEAD_PRIVATE_HEAD_PRIVATE_H
#define HEAD_PRIVATE_HEAD_PRIVATE_H

#include "head/model/head_trainer.h"

/** As train_private of struct head_trainer. */
sotto_status head_private_train(struct sotto_head **out, struct sotto_certificate **certificate,
                                const struct head_data *records, const struct sotto_head_recipe *recipe,
                                const struct sotto_head_privacy *privacy, const struct sotto_context *ctx);

/** As its as_event. */
sotto_status head_private_event(struct planned_event *out, const struct head_data *data,
                                const struct sotto_head_recipe *recipe,
                                const struct sotto_head_privacy *privacy, const struct sotto_context *ctx);

#endif
