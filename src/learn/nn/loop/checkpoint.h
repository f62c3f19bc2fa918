/* checkpoint.h - the state of a training run between two steps, as one file. */
#ifndef NN_LOOP_CHECKPOINT_H
#define NN_LOOP_CHECKPOINT_H

#include "nn/model/epoch_moments.h"

/** Where a run stands. Sums are over the running epoch, means over the last complete one. */
struct training_progress {
    uint64_t step;
    double loss_sum, accuracy_sum, epoch_loss, epoch_accuracy;
};
/** What a private run keeps besides: the run's name in its ledger, the clipping norm where it has got to, the
 * weights' moving average (NULL: none), and labels that were released to train on (NULL: none). */
struct checkpoint_private {
    char run[48];
    double clip;
    struct nn_model *average;
    int64_t *labels; /* (label_count), each in 0 .. classes - 1 */
    size_t label_count, classes;
    char label_entry[65]; /* hash of their entry in the ledger */
};
/** What a run with an adversary keeps besides: its optimizer; sums over the running epoch and their number of
 * steps, means over the last complete one. */
struct checkpoint_adversary {
    struct nn_optimizer *optimizer;
    double loss_sum, accuracy_sum, steps, epoch_loss, epoch_accuracy;
};
/** The other network of a run that trains two, with its own optimizer. */
struct checkpoint_second {
    struct nn_model *model;
    struct nn_optimizer *optimizer;
};
/** What a checkpoint must have been made by, to be continued. Both texts are lines "key=value". */
struct checkpoint_origin {
    const char *recipe;                /* whatever decides the weights, besides threads and instruction set */
    const char *machine;               /* decides their last bits */
    uint64_t steps;                    /* of the whole run */
    struct checkpoint_private *secret; /* saved and loaded too; NULL: none. Its checkpoints are told apart by
                                          their recipe */
    struct checkpoint_adversary *adversary; /* likewise */
    struct checkpoint_second *second;       /* likewise */
    struct epoch_moments *moments;          /* likewise; on ranks collected before */
};
/** A copy of the whole state. Clear *out with sotto_tensors_clear(). */
sotto_status checkpoint_copy(struct sotto_tensors *out, const struct checkpoint_origin *origin,
                             const struct nn_model *model, const struct nn_optimizer *optimizer,
                             const struct training_progress *progress);
/** Writes it, atomically. */
sotto_status checkpoint_save(const char *path, const struct checkpoint_origin *origin,
                             const struct nn_model *model, const struct nn_optimizer *optimizer,
                             const struct training_progress *progress);
/** EINVAL: made by a run with other options or data; the text names the first difference. EFORMAT: damaged, by as little as a bit.
 *  Warns when threads or instruction set differ: the run continues, but not with the bits of an uninterrupted
 * one. */
sotto_status checkpoint_load(const char *path, const struct checkpoint_origin *origin, struct nn_model *model,
                             struct nn_optimizer *optimizer, struct training_progress *progress,
                             const struct sotto_context *ctx);

/** The first line in which two texts of lines "key=value" differ, as key and both values; false if none. */
bool checkpoint_difference(char key[32], char was[128], char is[128], const char *saved, const char *wanted);
/** By what a checkpoint was computed: names; "" where it does not say. EFORMAT: not one. */
struct checkpoint_computed {
    char backend[16], dtype[8];
};
sotto_status checkpoint_computed_by(struct checkpoint_computed *out, const char *path,
                                    const struct sotto_context *ctx);

#endif
