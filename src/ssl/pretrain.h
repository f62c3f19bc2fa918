/* pretrain.h - one pre-training run, shared by the loop, its settings and its checkpoints. */
#ifndef SSL_PRETRAIN_H
#define SSL_PRETRAIN_H

#include "data/augment.h"
#include "ssl/encoder.h"
#include "ssl/objective.h"

/** What is fixed before the first step. */
struct pretrain_setup {
    struct sotto_pretrain_options options; /* every text filled in */
    const struct objective *objective;
    const struct nn_backend *backend;
    enum nn_dtype dtype;
    struct nn_shape input;
    struct schedule schedule;
    size_t images, steps_per_epoch;
    uint64_t steps;
    int threads;
    char recipe[1024]; /* "key=value\n"...: whatever decides the weights, besides threads and instruction set
                        */
    char machine[128]; /* "threads=2\nisa=v4bf16\nbackend=...\n": decides their last bits */
};
/** Checks every option against the data; texts say what was wrong and what was expected. */
sotto_status pretrain_resolve(struct pretrain_setup *out, const struct sotto_dataset *data,
                              const int64_t *rows, size_t n, const struct sotto_pretrain_options *options,
                              const struct sotto_context *ctx);

/** Where a run stands. Sums are over the running epoch, means over the last complete one. */
struct pretrain_progress {
    uint64_t step;
    double loss_sum, accuracy_sum, epoch_loss, epoch_accuracy;
};
/** Writes the whole state, atomically. */
sotto_status checkpoint_save(const char *path, const struct pretrain_setup *setup,
                             const struct nn_model *model, const struct nn_optimizer *optimizer,
                             const struct pretrain_progress *progress);
/** EINVAL: made by a run with other options or data; the text names the first difference. EFORMAT: damaged.
 *  Warns when threads or instruction set differ: the run continues, but not with the bits of an uninterrupted
 * one. */
sotto_status checkpoint_load(const char *path, const struct pretrain_setup *setup, struct nn_model *model,
                             struct nn_optimizer *optimizer, struct pretrain_progress *progress,
                             const struct sotto_context *ctx);

#endif
