/* layer.h - what a layer is. A network is an array of rows (struct layer_spec) in running order; each row
 * names the row it reads and, for residual networks, a second row that is added to its result. No autograd,
 * no graph.
 *
 * To add a layer: one file layer_NAME.c with a `const struct layer layer_NAME`, declared at the end of this
 * header. What the plan (plan.c) does for every layer, so that the layer need not:
 *   - adds the residual source and applies the ReLU when the row asks for them and the layer does not fuse them;
 *   - multiplies the incoming gradient by the ReLU's mask unless the layer that wrote it has done so already;
 *   - adds up the gradients of a row that several rows read (a layer OVERWRITES src->diff unless it can add);
 *   - converts the last row to f32. */
#ifndef NN_LAYER_LAYER_H
#define NN_LAYER_LAYER_H

#include "nn/nn.h"
#include "par/any_order.h"
#include "par/tree.h"

#include <stdbool.h>

struct kernels; /* nn/kernel/kernels.h: our own vector kernels of the best instruction set */

static inline size_t shape_count(struct nn_shape s) /* range-checked by network_add */
{
    return s.channels * s.height * s.width;
}

/* ---- rows ---- */
struct layer;
enum parameter_init { INIT_ZERO, INIT_ONE, INIT_GLOROT_UNIFORM, INIT_HE_NORMAL, INIT_NORMAL_002 };
enum { SOURCE_INPUT = -1, SOURCE_NONE = -2 };
struct layer_spec {
    const struct layer *layer;
    char path[48]; /* module name in files, e.g. "encoder.0"; its tensors are path.weight, path.bias, ... */
    int src;       /* row that is read, or SOURCE_INPUT */
    int residual;  /* row added to the result before the ReLU, SOURCE_INPUT, or SOURCE_NONE */
    int relu;      /* result = max(0, .) */
    double cap;    /* norms: the ReLU's upper end (ReLU6: 6); 0: none */
    size_t width;  /* conv, dense: output channels */
    size_t kernel, stride, pad; /* conv, pooling */
    int no_bias;                /* conv, dense: a normalisation follows that would cancel it */
    enum parameter_init init;   /* conv, dense: of the weight */
    size_t groups;              /* group norm */
    int frozen;                 /* its parameters are not trained (struct nn_freeze) */
    double rate; /* dropout; scale: the factor; clip: the radius; reverse: lambda; leaky: the slope */
    struct nn_noise noise; /* added to the result, after the residual sum and before the ReLU */
    struct nn_shape shape; /* of the result; set by network_add */
};

/* ---- parameters: f32, owned by the model ---- */
struct nn_parameter {
    char name[64]; /* "encoder.0.weight" */
    int row;       /* layer it belongs to */
    /* (out, height, width, in), last index fastest; diff exists once a training plan was made */
    float *value, *diff;
    size_t out, in, height, width, count;
    int file_ndim; /* 1: (out); 2: (out, in * height * width), channels slowest; 4: (out, in, height,
                      width) */
    int statistic; /* running statistic: saved with the model but not trained; diff is NULL */
    int frozen;    /* its layer is frozen: neither trained nor moved */
    enum parameter_init init;
    size_t fan_in, fan_out;
};
enum { LAYER_PARAMETERS_MAX = 4 };

/* ---- running ---- */
/** The result of a row inside a plan: (N, H, W, C). */
struct activation {
    struct nn_shape shape;
    enum nn_dtype dtype;
    size_t count; /* N * H * W * C */
    void *data;
    /* same type and shape. When relu is set: gradient with respect to the value BEFORE the ReLU */
    void *diff;
    int relu;
};
/** Squared norms of gradients of single examples, one layer's parameters: the norm of what example i adds to a
 * sum, divided by its factor, is at most what `square + excess` says, up to the rounding of double sums. */
struct example_norms {
    double *square, *excess; /* (examples) */
};
/** What a layer that goes by rows does for a batch norm beside it (nn/layer/norm_rows.h; set by plan_norms.c). */
struct norm_shared {
    bool images;         /* the norm's partial sums end with images, so that rows can be shared at all */
    bool result, slopes; /* the layer that reads the norm's result makes it, and sums its gradient */
    bool moments,
        gradient; /* the layer that makes the norm's source finds its moments, and makes its gradient */
};
/** What one layer sees of its plan. */
struct layer_run {
    const struct layer_spec *spec;
    const struct nn_backend *backend;
    const struct kernels *kernels;
    size_t batch;
    int threads;
    /* asked between pieces; a layer that was stopped leaves the rest undone. NULL: not asked */
    struct par_stop *stop;
    int training; /* backward is planned */
    /* tangents: the same row's result in the plan that has the slopes; else NULL */
    const struct activation *gate;
    int relu; /* this layer must apply the ReLU itself (only if it fuses_relu) */
    /* to be added by the layer, before the ReLU (only if it fuses_residual) */
    const struct activation *residual;
    size_t views;      /* > 0: gradients of single examples, each of so many rows of the batch (DP-SGD) */
    int keep_diff;     /* set by plan(): dst->diff must outlast the backward pass */
    int can_add;       /* set by plan(), or layer->adds: backward adds to src->diff when add_diff_src */
    int need_diff_src; /* 0: src->diff is never read; skip it */
    int add_diff_src;  /* add to src->diff instead of overwriting it (only if can_add) */
    struct activation *src, *dst;
    struct norm_shared shared;                   /* of a batch norm */
    struct layer_run *norm_before, *norm_behind; /* of a layer by rows, which works for them; else NULL */
    struct nn_parameter *parameters;             /* in the order of layer->parameters */
    /* with norm scope "leaf": where the moments of a leaf are added up, place by place as `statistics`, the model's; else
     * NULL: running moments move at once */
    struct any_order *moments;
    const float *statistics;
    const double *crossed; /* of a leaf: the step's sums for its next half (struct layer_cross); else NULL */
    void *state;           /* the layer's own; made by plan(), freed by release() */
    double *noise_parts;   /* relative noise: partial sums, placed by plan_memory() */
    double noise_count, noise_mean,
        noise_deviation; /* of the result before its noise, in the last forward pass */
};
/** What changes from step to step. */
struct pass {
    int training; /* batch statistics, dropout */
    uint64_t seed, step;
    size_t leaf; /* of the step; random numbers are drawn by the place in the whole step */
    /* the leaf's rows are so many views of equal room, and in each the first `used` are records; 0: all rows are */
    size_t views, used;
    double weight; /* of the leaf's moments (layer_run.moments) */
    /* of a phase, within which weights stay as they are, and what was made of them; 0: they may be any */
    uint64_t weights;
    int input_only; /* backward: gradients of parameters are not read, and may be left out */
};

/** Of a layer, or the noise behind it, that computes with sums over all records of a step. Where a step is cut into leaves, each pass of such a layer
 * has two halves: all leaves gather (width doubles each), the tree merges, and then forward() or backward() of each leaf finds
 * the step's sums in run->crossed. */
struct layer_cross {
    size_t (*width)(const struct layer_run *run);
    void (*gather_forward)(struct layer_run *run, const struct pass *pass, double *out);
    /** Reads dst->diff as backward() does; its own parameters' diff is the leaf's share, and is written here, not there. */
    void (*gather_backward)(struct layer_run *run, const struct pass *pass, double *out);
    tree_merge_rows *merge_forward, *merge_backward;
    /** Once in a step, with the merged sums of the way forward: what the layer remembers of it. NULL: nothing. */
    void (*remember)(struct layer_run *run, const double *crossed);
};

struct layer {
    const char *name;
    int fuses_relu;            /* forward applies the ReLU when run->relu */
    int fuses_residual;        /* forward adds run->residual, where there is one */
    int applies_own_relu_mask; /* backward takes dst->diff unmasked and applies its own ReLU's mask (only if
                                  run->relu and no residual) */
    int fuses_mask;            /* backward multiplies src->diff by (src->data > 0) when src->relu */
    int in_place;              /* backward may overwrite dst->diff by a src->diff of the same shape */
    int adds;                  /* run->can_add, always */
    int ends_gradient;         /* nothing below it has parameters: its dst->diff is not needed */
    int tangent;               /* heeds run->gate: then it is linear, without bias */
    bool (*by_rows)(
        const struct layer_run *run); /* reads and writes images row by row, and heeds run->norm_before and
                                                     run->norm_behind. NULL: never */
    int writes_f32;                   /* can write a f32 dst (and read its diff) in a bf16 plan */
    /** Shape of the result. EINVAL: the source does not fit (say why). */
    sotto_status (*shape)(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src);
    /** Fills out (names without the path; count and row are worked out by network_add) and returns how many.
     * NULL: no parameters. */
    size_t (*parameters)(struct nn_parameter out[LAYER_PARAMETERS_MAX], const struct layer_spec *spec,
                         struct nn_shape src);
    /** Makes run->state (heap, backend objects). NULL: nothing to do. */
    sotto_status (*plan)(struct layer_run *run);
    /** Places memory; called twice (arena_take). `keep` lasts from forward to backward and across steps;
     * `scratch` is shared by all layers and only valid inside one call. NULL: none. */
    void (*layout)(struct layer_run *run, struct arena *keep, struct arena *scratch);
    /** Of a plan for leaves: memory for what it makes of weights, which lasts from leaf to leaf with the same pass.weights;
     * called as layout. NULL: it makes nothing. */
    void (*lasting)(struct layer_run *run, struct arena *memory);
    void (*forward)(struct layer_run *run, const struct pass *pass);
    /** Reads dst->diff (masked already), overwrites src->diff (if need_diff_src; see can_add) and every
     * parameter's diff. */
    void (*backward)(struct layer_run *run, const struct pass *pass);
    /** With run->views: only the first `rows` of the batch matter from now on. NULL: all are computed. */
    void (*use)(struct layer_run *run, size_t rows);
    /** With run->views: backward leaves the parameters alone, then this gives the norms of the first
     * `examples` examples. */
    void (*example_norms)(struct layer_run *run, const struct example_norms *out, size_t examples);
    /** After the whole backward pass: sum (the layer's parameters, one after the other) += for each example i
     * factor[i] times its gradient, cut to whole numbers; fully connected layers add the examples of a chain first. A gradient with factor 0 may hold what is not finite. May overwrite src->data and
     * dst->diff. */
    void (*example_sum)(struct layer_run *run, double *sum, const double *factor, size_t examples,
                        const struct nn_chains *chains);
    const struct layer_cross *cross; /* NULL: its rows know nothing of each other */
    /** Why there is no gradient of a single example, and what to use instead; or NULL. */
    const char *cross_example_reason;
    void (*release)(struct layer_run *run);
};

extern const struct layer layer_conv, layer_dense, layer_batch_norm, layer_group_norm, layer_depthwise,
    layer_max_pool, layer_average_pool, layer_global_pool, layer_dropout, layer_scale, layer_clip, layer_tanh,
    layer_reverse, layer_softmax, layer_log_mean, layer_leaky;

#endif
