/* training_loop.h - the loop around a training step: order, learning rate, progress, metrics, checkpoints,
 * stops.
 *
 * What a step is made of comes from the caller (struct training_step): the records of the step, then the
 * gradient of their loss. Other batches (Poisson samples) or another gradient (clipped and noisy sums) are
 * another training_step; the loop and its checkpoints do not know the difference. */
#ifndef NN_LOOP_TRAINING_LOOP_H
#define NN_LOOP_TRAINING_LOOP_H

#include "base/checkpoint_lock.h"
#include "nn/loop/checkpoint.h"
#include "nn/loop/checkpoint_writer.h"

struct metric_log;

/** Results of one step. */
struct training_batch {
    double loss;     /* mean over the batch, nats (Poisson samples: sum over the expected size) */
    double accuracy; /* in [0, 1], likewise */
};
struct training_step {
    void *state;
    /** The records of this step, borrowed until the next call. */
    sotto_status (*draw)(const int64_t **rows, size_t *n, void *state, uint64_t step);
    /** Leaves in the model the gradient that the optimizer is to follow. ESTOPPED: it is dropped, and the step is made
     * anew when the run continues; nothing but the model's running statistics may have changed. */
    sotto_status (*gradient)(struct training_batch *out, void *state, const int64_t *rows, size_t n,
                             uint64_t step);
    /** Follows it; NULL: the loop's optimizer moves the whole model. ESTOPPED: likewise. */
    sotto_status (*update)(void *state, double lr, uint64_t step);
    /** At the end of an epoch, further metrics beside the loop's own (log may be NULL); NULL: none. */
    sotto_status (*log)(void *state, struct metric_log *log, uint64_t step, double seconds);
    /** At the end of an epoch 1, 2, ..., before its checkpoint; NULL: nothing to do. */
    sotto_status (*after_epoch)(void *state, uint64_t epoch);
    /** The step is over and stays, before all that follows an epoch; NULL: nothing to do. */
    void (*keep)(void *state);
};

struct training_loop {
    /* filled in and owned by the caller */
    const char *stage, *unit; /* "pretrain", "images": for progress and texts */
    const char *hint;         /* what to try when the loss diverges */
    const char *checkpoint;   /* file, or NULL */
    const char *metrics;      /* metrics.jsonl to append to, or NULL */
    struct checkpoint_origin origin;
    struct schedule schedule;
    size_t batch, steps_per_epoch; /* batch: records in a step, for progress and rates */
    struct nn_model *model;
    struct nn_optimizer *optimizer;
    struct training_step step;
    /* NULL: alone. Else its ranks make the steps together: gradient() fails on all or on none, and each moves its copy of the
     * model. Rank 0 reads and writes files. */
    const struct sotto_team *team;
    /* Of a step's work, what this rank has, in that of the rank with the most (leaves_share()): the slowest rank is then named
     * after each epoch. 0: how long ranks work is not told, as in private runs, where it depends on the records. */
    double share;
    const struct sotto_context *ctx; /* without a team in it */
    /* where it stands */
    struct training_progress progress;
    bool resumed;
    uint64_t first_step; /* of this process */
    double started, saved;
    double worked;               /* seconds in steps of this epoch, of this rank */
    float *statistics;           /* the model's running ones before this step */
    struct checkpoint_lock lock; /* on the checkpoint, rank 0's */
    struct checkpoint_writer writer;
};
/** Locks the checkpoint, and takes the state from it, if there is one; on ranks rank 0 does. Errors of checkpoint_load();
 * EAGAIN: another run continues it. */
sotto_status training_loop_resume(struct training_loop *l);
/** Unlocks the checkpoint; harmless on {0} and twice. Call at every `done:`. */
void training_loop_release(struct training_loop *l);
/** Runs to the end. EDIVERGED: a loss that is not finite; ESTOPPED: the context said stop, and the checkpoint
 * was written; errors of the step and of writing. */
sotto_status training_loop_run(struct training_loop *l);
/** Seconds and records a second of this process. */
double training_loop_seconds(const struct training_loop *l);
double training_loop_rate(const struct training_loop *l);

/** Batches of one size in a new order every epoch; the last, incomplete one is dropped. A function of seed
 * and epoch, so a resumed run needs no state. */
struct epoch_order {
    const int64_t *rows; /* borrowed */
    int64_t *order;      /* (n): rows in the order of `epoch` */
    size_t n, batch;
    uint64_t seed, epoch;
};
/** ENOMEM. Free order with base_free(). */
sotto_status epoch_order_make(struct epoch_order *out, const int64_t *rows, size_t n, size_t batch,
                              uint64_t seed);
const int64_t *epoch_order_batch(struct epoch_order *o, uint64_t step);

#endif
