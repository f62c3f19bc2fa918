/* ensemble.h - an ensemble of members that are trained apart. */
#ifndef TRAIN_PLAIN_ENSEMBLE_H
#define TRAIN_PLAIN_ENSEMBLE_H

#include "train/network/network.h"

struct members_run {
    const struct sotto_dataset *data;
    const int64_t *rows; /* (n) */
    size_t n;
    const struct sotto_train_options *options; /* residual.members > 1 */
    const struct sotto_context *ctx;
};
/** Behind sotto_train() with residual.independent; its errors. result may be NULL. */
sotto_status members_train(struct sotto_network **out, struct sotto_train_result *result,
                           const struct members_run *run);
/** The seed of member k. */
uint64_t members_seed(uint64_t seed, size_t k);

#endif
