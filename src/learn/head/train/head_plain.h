/* head_plain.h - trains one head after the other in memory that was planned once; one trainer per thread. */
#ifndef HEAD_TRAIN_HEAD_PLAIN_H
#define HEAD_TRAIN_HEAD_PLAIN_H

#include "head/kernel/head_bits.h"
#include "head/kernel/head_kernels.h"
#include "head/model/head_model.h"
#include "rng/rng.h"

struct head_plain {
    struct arena memory;
    struct head_net net;
    const struct head_kernels *kernels;
    const struct sotto_head_recipe *recipe; /* borrowed, as is data */
    const struct head_data *data;
    struct head_part part; /* of data: what is trained on */
    float *x;              /* (batch, d): gathered records */
    int64_t *y;            /* (batch) */
    int64_t *order;        /* (part.n) */
    const float *start;    /* parameters in file order to train on from; NULL: initial weights */
    bool sparse;           /* the records are bits, mostly zeros: x is not used, these are */
    uint64_t *bits;        /* (part.n, head_bit_words(d)) */
    struct head_bit_rows bit_rows;
    size_t step; /* steps done, which noise on records is drawn by */
};

/** One head of a replace-one pair. Slot `hole` is empty; slot `replacement_slot` holds
 * record `rival`, which is summed after the common records of its batch in both heads. SIZE_MAX: no such
 * slot. A batch without any record still makes a step, with gradient 0, so that all heads take the same
 * number. */
struct head_slots {
    size_t left_out, replacement_slot, replacement;
};

/** The records that a head may see: those with member[record * stride] != 0; member NULL: all. */
struct head_subset {
    const uint8_t *member;
    size_t stride;
};

/** All memory; data and recipe (checked) must outlive the trainer. */
sotto_status head_plain_plan(struct head_plain *t, const struct head_data *data,
                             const struct sotto_head_recipe *recipe);
/** The same for part of a table: its i-th record takes the place of record i. Only a part that brings bits is
 *  trained on by them. */
sotto_status head_plain_plan_part(struct head_plain *t, const struct head_part *part,
                                  const struct sotto_head_recipe *recipe);
/** Trains from t->start, or from scratch; allocates nothing. slots NULL: all n records; subset NULL: all. Honours ctx's stop
 *  flag between epochs; reports progress only when `stage` is not NULL. EDIVERGED, ESTOPPED. */
sotto_status head_plain_run(struct head_plain *t, const struct head_slots *slots,
                            const struct head_subset *subset, const struct sotto_context *ctx,
                            const char *stage);
/** Parameters in file order. */
void head_plain_export(const struct head_plain *t, float *parameters);
void head_plain_clear(struct head_plain *t);

/* What every way of training shares. */

/** Adam's constants, Keras's. */
#define HEAD_BETA1 0.9
#define HEAD_BETA2 0.999
#define HEAD_EPSILON 1e-7

/** The update of step 1, 2, ... under a recipe. */
struct head_update head_update_at(const struct sotto_head_recipe *r, size_t step);
/** order (n): the records in the order of an epoch. */
void head_order(int64_t *order, size_t n, uint64_t seed, size_t epoch);
/** Glorot uniform weights of layer l, drawn in file order (out, in). */
struct head_initial {
    struct rng stream;
    double limit;
};
struct head_initial head_initial_start(uint64_t seed, size_t l, size_t out, size_t in);
float head_initial_next(struct head_initial *draw);
/** ESTOPPED when ctx asks for it. */
sotto_status head_stop_check(const struct sotto_context *ctx, size_t epoch,
                             const struct sotto_head_recipe *r);
/** Records EDIVERGED and returns it. */
sotto_status head_diverged(size_t epoch, const struct sotto_head_recipe *r);

#endif
