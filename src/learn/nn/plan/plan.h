/* plan.h - inside of a plan, for tests and benchmarks. */
#ifndef NN_PLAN_PLAN_H
#define NN_PLAN_PLAN_H

#include "nn/kernel/kernels.h"
#include "nn/model/model.h"
#include "par/par.h"

/** Where the gradient of a row goes; decided once by plan_memory.c. */
struct node_gradient_flow {
    int add_src;       /* another row has written src->diff before: write to `spare` and add */
    int add_residual;  /* likewise for the residual source; otherwise the two share one gradient */
    int copy_residual; /* likewise first, but this row keeps its gradient: the other gets a copy */
    int mask;          /* some writer of this row's gradient did not apply the ReLU mask */
};
struct nn_plan {
    struct nn_model *model;
    struct nn_parameter *parameters; /* of the model; of a plan of leaves: copies with gradients elsewhere */
    struct nn_plan_config config;
    const struct kernels *kernels;
    int threads;
    struct par_stop stop; /* asked before each row and between the pieces of its work */
    size_t row_count;
    size_t first; /* backward passes end with this row: those before are not trained now */
    /* results that are read from outside; adversary_row: its logits, or SOURCE_NONE */
    int output_row, adversary_row;
    struct layer_run *runs;          /* (row_count) */
    struct node_gradient_flow *flow; /* (row_count) */
    /* (row_count + 1); activations[0] is the input, tensors[i + 1] the result of row i */
    struct activation *activations;
    /* f32 faces; the same memory as the tensors in a f32 plan */
    float *input, *output, *diff_output, *diff_input;
    struct pass pass; /* of the last forward; backward redraws the same dropout */
    void *spare;      /* second gradient of a row with several readers */
    /* of a plan with views: (rows, examples) squared norms, their excess and clip factors; (examples) */
    double *square, *excess, *factor, *norm;
    double norm_rounding;          /* above 1: what sums of squares in double may have lost */
    struct assignment *assignment; /* plan_memory.c */
    struct arena keep, scratch;    /* what lasts from forward to backward; what does not */
};
static inline size_t plan_examples(const struct nn_plan *p)
{
    return p->config.views ? p->config.batch / p->config.views : 0;
}
static inline struct activation *plan_activation(struct nn_plan *p, int row)
{
    return &p->activations[row + 1];
}

/** Does the row compute with sums over all leaves of a step? */
static inline bool plan_crosses(const struct nn_plan *p, size_t row)
{
    const struct layer_spec *spec = &p->model->rows[row];
    return p->config.leaves && !p->config.leaf_norms && spec->layer->cross && !spec->frozen;
}

/** Is its noise scaled by sums over all leaves of a step? */
static inline bool plan_noise_crosses(const struct nn_plan *p, size_t row)
{
    return p->config.leaves && p->model->rows[row].noise.relative;
}

/** A loss stands on this row's result. */
static inline int plan_ends(const struct nn_plan *p, int row)
{
    return row == p->output_row || row == p->adversary_row;
}
static inline struct activation *plan_output(struct nn_plan *p)
{
    return plan_activation(p, p->output_row);
}

/** ESTOPPED: a pass was, or is to be, stopped. */
sotto_status plan_go_on(struct nn_plan *p);
/** One row's part of nn_plan_forward(), and its halves: the layer and, where its noise is relative, what is added to it; then
 * noise and ReLU. */
void plan_forward_row(struct nn_plan *p, size_t i);
void plan_forward_sum(struct nn_plan *p, size_t i);
void plan_forward_noise(struct nn_plan *p, size_t i);
/** One row's part of nn_plan_backward(), and its halves: until the gradient of the row's result is there, itself in two (the
 * ReLU, the noise), and from then on. */
void plan_backward_row(struct nn_plan *p, size_t i);
void plan_backward_result(struct nn_plan *p, size_t i);
void plan_backward_mask(struct nn_plan *p, size_t i);
void plan_backward_noise(struct nn_plan *p, size_t i);
void plan_backward_source(struct nn_plan *p, size_t i);
/** The parts of nn_plan_forward() and nn_plan_backward(): what comes before the rows, rows `from` to `to` - 1 (backward in
 * descending order), and what comes after them. ESTOPPED. */
void plan_forward_begin(struct nn_plan *p);
sotto_status plan_forward_rows(struct nn_plan *p, size_t from, size_t to);
void plan_forward_end(struct nn_plan *p);
void plan_backward_begin(struct nn_plan *p);
sotto_status plan_backward_rows(struct nn_plan *p, size_t from, size_t to);
/** Decides the gradient flow and places every tensor and layer in the two arenas. */
sotto_status plan_memory(struct nn_plan *p);
/** With config.leaves: from now on the pass is this one, of a leaf, in the leaf's memory (of the capacity of p->keep, borrowed). */
void plan_bind(struct nn_plan *p, struct arena *keep, const struct pass *pass);
/** Backward writes gradients of the values first .. end - 1 of nn_model.values to gradients[0] and so on; those that it does not
 * write are 0. */
void plan_write_gradients(struct nn_plan *p, float *gradients, size_t first, size_t end);
/** Places all of them again, after p->keep was exchanged for another of its size. */
void plan_place_again(struct nn_plan *p);

#endif
