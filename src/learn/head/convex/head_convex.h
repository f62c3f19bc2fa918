/* head_convex.h - softmax regression with proved sensitivity: clipped records, L2 regularisation, a
 * data-independent start, and either a fixed number of gradient steps, full-batch or on batches in one fixed
 * order, or a guaranteed stop. */
#ifndef HEAD_CONVEX_HEAD_CONVEX_H
#define HEAD_CONVEX_HEAD_CONVEX_H

#include "head/convex/convex_bound.h"
#include "head/kernel/convex_kernels.h"
#include "head/train/head_plain.h"
#include "num/lbfgs.h"

struct head_convex {
    struct arena memory;
    const struct convex_kernels *kernels;
    const struct sotto_head_recipe *recipe; /* borrowed, as is data */
    const struct head_data *data;
    struct convex_shape shape;
    struct convex_bound bound;  /* for the records of the last run */
    size_t entries;             /* K (d + 1) */
    size_t records;             /* of this run */
    size_t batch, batch_blocks; /* planned: records in a batch ("convex-sgd"; else all), and their blocks */
    float *x;                   /* (batches, batch_blocks, d, CONVEX_BLOCK): clipped records */
    int32_t *y;
    int64_t *order; /* (n): "convex-sgd" only */
    struct convex_scratch scratch;
    double *w, *gradient;            /* (entries) */
    double *lbfgs;                   /* its room; "convex-lbfgs" only */
    const struct sotto_context *ctx; /* of the run: asked between blocks of records */
    bool stopped;                    /* it said stop: what was computed since is of no use */
};

/** All memory for up to data->n records; recipe checked. */
sotto_status head_convex_plan(struct head_convex *c, const struct head_data *data,
                              const struct sotto_head_recipe *recipe);
/** Trains from zero on the records that slots and subset leave (head_plain.h). Allocates nothing. ESTOPPED;
 * EDOMAIN as convex_bound_find(). */
sotto_status head_convex_run(struct head_convex *c, const struct head_slots *slots,
                             const struct head_subset *subset, const struct sotto_context *ctx,
                             const char *stage);
/** Parameters in file order: the stored bias is c_b times the trained one. */
void head_convex_export(const struct head_convex *c, float *parameters);
void head_convex_clear(struct head_convex *c);

/* The three below ask c->ctx between blocks of records and set c->stopped, so a caller looks there before it uses a
 * result. */
/** Loads the records of a run: what head_convex_run() does first. */
void convex_gather(struct head_convex *c, const struct head_slots *slots, const struct head_subset *subset);
/** Gradient of J at w, and J itself if `value`; over all records, which must be one batch. */
void convex_objective(struct head_convex *c, const double *w, double *gradient, double *value);
/** Gradient of batch 0, 1, ...; every batch, also a short last one, is divided by the size of a full one. */
void convex_batch_gradient(struct head_convex *c, size_t batch, const double *w, double *gradient);
/** Minimises J from zero until the computed gradient norm is at most bound.stop: at most `iterations` of
 * L-BFGS, then gradient steps from zero, which get there for certain. *fell_back: whether it took those (NULL
 * allowed). */
sotto_status convex_lbfgs(struct head_convex *c, size_t iterations, bool *fell_back,
                          const struct sotto_context *ctx);

#endif
