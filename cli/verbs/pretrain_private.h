/* pretrain_private.h - sotto pretrain --dp-sgd. */
#ifndef CLI_VERBS_PRETRAIN_PRIVATE_H
#define CLI_VERBS_PRETRAIN_PRIVATE_H

#include "inputs/image_inputs.h"

/* --dp-sgd, and what belongs to it. */
extern const struct option_row pretrain_private_rows[];
/* EUSAGE: an option that makes no difference, on either way. */
sotto_status pretrain_private_check(const struct options *o);
/* An image_trainer. */
sotto_status pretrain_private(const struct options *o, const struct sotto_dataset *data,
                              const char *checkpoint, const struct sotto_context *ctx, int json);

#endif
