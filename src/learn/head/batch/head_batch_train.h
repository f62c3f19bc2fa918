/* head_batch_train.h - trains many heads of one recipe on all threads: linear ones in blocks, others one a thread.
 *
 * Which head shares a block or a thread with which changes speed only; every head's bits are its own. */
#ifndef HEAD_BATCH_HEAD_BATCH_TRAIN_H
#define HEAD_BATCH_HEAD_BATCH_TRAIN_H

#include "head/convex/head_convex.h"
#include "head/batch/head_block.h"

struct head_worker {
    struct head_block block;   /* linear heads */
    struct head_convex convex; /* heads of the convex trainers */
    struct head_plain trainer; /* others */
    struct head_slots *slots;  /* (chunk) */
    float *parameters;         /* (chunk, P) */
};
enum head_batch_kind { HEAD_BATCH_BLOCKS, HEAD_BATCH_ONES, HEAD_BATCH_CONVEX };
struct head_batch {
    enum head_batch_kind kind;    /* which member of a worker is used */
    const struct head_data *data; /* borrowed, as is recipe (both checked) */
    const struct sotto_head_recipe *recipe;
    const struct sotto_context *ctx;
    size_t heads, parameters; /* parameters: P, of one head */
    size_t chunk, threads;    /* chunk: heads that a worker trains at a time, a multiple of `together` */
    struct head_worker *workers;
};
struct head_job {
    const char *stage, *unit; /* progress; a unit is `together` heads */
    size_t together; /* heads first .. first + count - 1 that arrive have first and count multiples of it */
    /** What head `head` sees; NULL: all records. */
    void (*slots)(void *arg, struct head_slots *out, size_t head);
    /** (records, stride) bytes: head h sees the records with member[record * stride + h] != 0. NULL: all. */
    const uint8_t *member;
    size_t stride;
    /** Takes the parameters (count, P) of trained heads; called by any thread, each head once. A failure ends
     * the run. */
    sotto_status (*take)(void *arg, size_t first, size_t count, const float *parameters);
    /** Called by one thread now and then; `finished` units. NULL: no call. */
    void (*note)(void *arg, size_t finished);
    void *arg;
};
/** heads must be a multiple of job->together. EDIVERGED, ESTOPPED, ENOMEM. */
sotto_status head_batch_train(const struct head_data *data, const struct sotto_head_recipe *recipe,
                              size_t heads, const struct head_job *job, const struct sotto_context *ctx);

/** Heads on subsets of the records (shadow models): head h trains on the records with member[record * heads +
 * h] != 0, all in one batch order. Checks data and recipe. Out: parameters (heads, P) in file order, P =
 * those of one head. EINVAL: a head without any record. */
sotto_status head_many_train(float *parameters, const struct head_data *data,
                             const struct sotto_head_recipe *recipe, const uint8_t *member, size_t heads,
                             const struct sotto_context *ctx);
/** P. */
size_t head_parameter_count(const struct sotto_head_recipe *recipe, size_t inputs, size_t classes);

#endif
