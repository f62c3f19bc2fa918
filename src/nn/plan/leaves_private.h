/* leaves_private.h - what the files of leaves share. */
#ifndef NN_PLAN_LEAVES_PRIVATE_H
#define NN_PLAN_LEAVES_PRIVATE_H

#include "nn/plan/leaves.h"
#include "nn/plan/plan.h"

struct leaves {
    struct leaves_config config;
    struct nn_model *model;
    size_t count, workers, rows, width, inputs; /* rows: of a leaf; width, inputs: floats of a row */
    size_t first, end;                          /* this rank's leaves */
    size_t *leaf_borders, *record_borders;      /* (ranks + 1) rank r has leaves leaf_borders[r] .. */
    struct nn_plan **plans;                     /* (workers) */
    struct arena *memory;                       /* (end - first) */
    /* The rows that cross leaves, in ascending order, cut a pass into phases: phase k begins with the second half of
     * crossing k - 1 and ends with the first half of crossing k. */
    size_t crossings, *crossing, widest;
    double *gathered, *crossed;  /* (count, widest), (widest) */
    struct tree_sums **sums;     /* (crossings + 1) gradients of each phase's rows; NULL: it has none */
    float *output, *diff_output; /* of the whole step; one leaf: its plan's own */
    double *values;              /* (count) */
    /* of the running pass */
    int training;
    uint64_t seed, step;
    size_t phase;
    leaf_fill *fill;
    void *state;
};

static inline bool leaves_fast(const struct leaves *l)
{
    return !l->config.order.exact;
}
static inline struct arena *leaf_memory(const struct leaves *l, size_t leaf)
{
    return &l->memory[leaf - l->first];
}
static inline struct leaf leaf_at(const struct leaves *l, size_t i, size_t worker)
{
    const size_t room = l->config.order.leaf, first = i * room, left = l->config.records - first;
    return (struct leaf){i, first, left < room ? left : room, room, worker};
}
static inline const struct layer_cross *plan_cross(const struct nn_plan *p, size_t row)
{
    return p->model->rows[row].layer->cross;
}

/** Which leaves this rank has, and where those of all ranks begin. EINVAL: too few; ENOTSUP: order fast on several ranks. */
sotto_status leaves_deal(struct leaves *l);
/** What all leaves have gathered for crossing k, merged to l->crossed. Errors of the transport. */
sotto_status leaves_merge_gathered(struct leaves *l, size_t k, bool forward);
/** Outputs of all leaves, on all ranks. Errors of the transport. */
sotto_status leaves_gather_outputs(struct leaves *l);

#endif
