/* leaves_private.h - what the files of leaves share. */
#ifndef NN_PLAN_LEAVES_PRIVATE_H
#define NN_PLAN_LEAVES_PRIVATE_H

#include "nn/plan/leaves.h"
#include "nn/layer/residual_noise.h"
#include "nn/plan/plan.h"

/** Where leaves wait for each other in the middle of a row: before the layer, or before its noise. */
struct crossing {
    size_t row;
    const struct layer_cross *cross;
};
static inline bool crosses_at_noise(const struct crossing *c)
{
    return c->cross == &residual_noise_cross;
}

struct leaves {
    struct leaves_config config;
    struct nn_model *model;
    size_t count, workers, rows, width, inputs; /* rows: of a leaf; width, inputs: floats of a row */
    size_t first, end;                          /* this rank's leaves */
    size_t *leaf_borders, *record_borders;      /* (ranks + 1) rank r has leaves leaf_borders[r] .. */
    struct nn_plan **plans;                     /* (workers) */
    struct arena *memory;                       /* (end - first) */
    /* In ascending order; a row has up to two. They cut a pass into phases: phase k begins with the second half of
     * crossing k - 1 and ends with the first half of crossing k. */
    struct crossing *crossing;
    size_t crossings, widest;
    double *gathered, *crossed; /* (count, widest), (widest) */
    struct arena sums_room;     /* phases come one after the other, and so do the sums of their gradients */
    struct tree_sums **sums;    /* (crossings + 1) gradients of each phase's rows; NULL: it has none */
    /* of the adversary's rows by themselves, from value adversary_first on; NULL: none */
    struct tree_sums *adversary_sums;
    size_t adversary_first;
    struct rank_sums *ranks_task, *ranks_adversary; /* of either over ranks; NULL: there is one */
    struct any_order *moments;   /* (workers, statistics) of this step; NULL: norm scope "batch" */
    float *output, *diff_output; /* of the whole step; one leaf: its plan's own */
    double *values;              /* (count) */
    /* of the running pass */
    int training;
    uint64_t seed, step;
    size_t phase;
    uint64_t phases; /* that began in any step: in each the weights stay as they are */
    leaf_fill *fill;
    leaf_loss *loss;
    void *state; /* of either */
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

/** The worker's plan, on this leaf. */
struct nn_plan *leaves_bind(struct leaves *l, const struct leaf *leaf);
/** Zeros to the rows behind the last record, of a leaf's rows of this width. */
void leaves_clear_rest(float *rows, size_t width, const struct leaves *l, const struct leaf *leaf);
/** Norm scope "leaf": room for what the batch norms of each worker see in a step; nothing in it; how much a leaf counts. */
sotto_status leaves_make_moments(struct leaves *l);
void leaves_clear_moments(struct leaves *l);
double leaves_moments_weight(const struct leaves *l, const struct leaf *leaf);
/** Runs all leaves of a worker. */
typedef sotto_status leaf_work(struct leaves *l, const struct leaf *leaf);
sotto_status leaves_run_worker(struct leaves *l, size_t worker, leaf_work *run);
/** Each worker on a thread of its own; argument of `body` are the leaves. */
sotto_status leaves_on_workers(struct leaves *l, par_body body);
/** Which leaves this rank has, and where those of all ranks begin. EINVAL: too few; ENOTSUP: order fast on several ranks. */
sotto_status leaves_deal(struct leaves *l);
/** What all leaves have gathered for crossing k, merged to l->crossed. Errors of the transport. */
sotto_status leaves_merge_gathered(struct leaves *l, size_t k, bool forward);
/** Outputs of all leaves, on all ranks. Errors of the transport. */
sotto_status leaves_gather_outputs(struct leaves *l);
/** Where the trained values of a phase's rows begin. */
size_t leaves_first_value(const struct leaves *l, size_t phase);
/** Sums of gradients: a tree for each phase, and one over ranks. ENOMEM. */
sotto_status leaves_make_sums(struct leaves *l);
void leaves_free_sums(struct leaves *l);
size_t leaves_sums_bytes(const struct leaves *l);

#endif
