/* model.h - inside of a model: rows and parameters. Builders (model_NAME.c) add rows; plans and optimizers
 * read them.
 *
 * To add a model: a file model_NAME.c (relatives share one) with a `const struct model_kind model_NAME`, one
 * ROW in model_list.h. */
#ifndef NN_MODEL_MODEL_H
#define NN_MODEL_MODEL_H

#include "nn/layer/layer.h"
#include "nn/tensor_list.h"

enum { MODEL_ROWS_MAX = 512, MODEL_PARAMETERS_MAX = 1024, MODEL_BLOCKS_MAX = 32 };

struct nn_model {
    struct nn_shape input;
    size_t row_count;
    struct layer_spec rows[MODEL_ROWS_MAX];
    int embedding_row; /* the embedding is the result of this row; SOURCE_INPUT: the input itself, or an
                              ensemble, which has none */
    /* first row behind each block: no later row reads from within it */
    size_t block_count, block_end[MODEL_BLOCKS_MAX];
    size_t frozen_rows;    /* first rows that are not trained; batch norms may be frozen beyond */
    size_t adversary_rows; /* how many of the last rows are the adversary's */
    char prefix[32];       /* while building: before every path, e.g. "member0." */
    int input_row;         /* while building: what the first layer reads */
    uint32_t noises;       /* while building: rows with noise so far */
    size_t parameter_count;
    struct nn_parameter parameters[MODEL_PARAMETERS_MAX];
    size_t first_parameter[MODEL_ROWS_MAX + 1]; /* of each row */
    /* All trainable values in one span of `trainable` floats, all gradients in another of the same layout: an
     * optimizer is one loop. Tensors start on 64 bytes; the gaps stay zero in both. */
    size_t trainable;
    float *values, *diffs, *statistics;
    size_t statistic_count;                      /* floats of `statistics`, in one span too */
    struct tensor tensors[MODEL_PARAMETERS_MAX]; /* the trainable ones, see nn_model_tensors */
    struct tensor_list tensor_list;
    struct arena memory, gradient_memory;
};

/** Allocates the gradients (once); called when a training plan is made. */
sotto_status model_need_gradients(struct nn_model *m);
/** Shape of a row's result, or of the input for SOURCE_INPUT. */
struct nn_shape model_shape(const struct nn_model *m, int row);

/** What nn_plan_output() shows: the last row of projector or classifier; the adversary's begin after it. */
static inline int model_output_row(const struct nn_model *m)
{
    return (int)(m->row_count - m->adversary_rows) - 1;
}
/** How many values lie from a parameter's first to the next one's. */
static inline size_t model_padded(size_t count)
{
    return (count + 15) & ~(size_t)15; /* 64 bytes */
}
/** The trainable tensors without, and of, the adversary: two runs of nn_model_tensors(). Borrowed. */
struct tensor_list model_task_tensors(const struct nn_model *m);
struct tensor_list model_adversary_tensors(const struct nn_model *m);
/** Appends the adversary; nothing may follow it. EINVAL. */
sotto_status model_add_adversary(struct nn_model *m, const struct nn_adversary *a);

/* ---- for builders ---- */
/** Appends a row: works out its shape and parameters. Returns its index in *row (may be NULL). EINVAL: shapes
 * do not fit; row->layer says why. */
sotto_status network_add(struct nn_model *m, const struct layer_spec *spec, int *row);

/** The rows so far, from the end of the block before, are a block of the encoder: what freezing can cut between. */
void network_end_block(struct nn_model *m);
/** EINVAL: a shape is empty, or too large for later products of its numbers. */
sotto_status network_check_shape(struct nn_shape s, const char *path);

struct model_kind {
    const char *name, *title;
    size_t smallest_side; /* of an image; smaller ones must be padded */
    int pre_activation;   /* takes noise, no_skip, members */
    /** Adds the rows up to the embedding and returns the last one's index (SOURCE_INPUT: none). Projector and
     *  classifier are added by nn_model_create. */
    sotto_status (*build)(int *embedding_row, struct nn_model *m, const struct nn_model_config *config);
};
/** EINVAL lists the known names. */
sotto_status model_kind_find(const struct model_kind **out, const char *name);

#endif
