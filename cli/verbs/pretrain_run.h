/* pretrain_run.h - sotto pretrain, for parts of that verb which train something beside the encoder (ssl/pretrain_part.h). */
#ifndef CLI_VERBS_PRETRAIN_RUN_H
#define CLI_VERBS_PRETRAIN_RUN_H

#include "inputs/image_inputs.h"

/* Checks the options, opens the data and calls `train`. */
sotto_status pretrain_run(const struct options *o, const struct sotto_context *ctx, int json,
                          image_trainer *train);
/* What an image_trainer of a part calls, with the struct of its options; NULL: no part. */
sotto_status pretrain_train(const struct options *o, const struct sotto_dataset *data, const char *checkpoint,
                            const char *part, const void *part_options, const struct sotto_context *ctx,
                            int json);

#endif
