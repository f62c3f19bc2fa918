/* The adversary's rows come last, so that all parameters before them start from the values that they have
 * without an adversary, and its tensors are one run at the end of the model's list. */
#include "nn/model/model.h"

#include <math.h>
#include <stdio.h>

static sotto_status add_dense(struct nn_model *m, int *row, size_t index, size_t width, int relu)
{
    struct layer_spec dense = {.layer = &layer_dense,
                               .src = *row,
                               .residual = SOURCE_NONE,
                               .relu = relu,
                               .width = width,
                               .init = INIT_GLOROT_UNIFORM};
    snprintf(dense.path, sizeof dense.path, "adversary.%zu", index);
    return network_add(m, &dense, row);
}

sotto_status model_add_adversary(struct nn_model *m, const struct nn_adversary *a)
{
    sotto_status status = SOTTO_OK;
    size_t first = m->row_count;
    int row = SOURCE_NONE;
    REQUIRE(m->embedding_row >= 0, "adversary: this model has no encoder, which the adversary needs");
    REQUIRE(a->values >= 2 && a->hidden_count <= sizeof a->hidden / sizeof *a->hidden,
            "adversary: %zu values and %zu hidden layers; expected at least 2 values and at most %zu hidden "
            "layers",
            a->values, a->hidden_count, sizeof a->hidden / sizeof *a->hidden);
    REQUIRE(a->reversal >= 0 && isfinite(a->reversal), "lambda must be finite and >= 0 (got %g)",
            a->reversal);
    struct layer_spec reverse = {.layer = &layer_reverse,
                                 .path = "reversal",
                                 .src = m->embedding_row,
                                 .residual = SOURCE_NONE,
                                 .rate = a->reversal};
    TRY(network_add(m, &reverse, &row));
    for (size_t i = 0; i < a->hidden_count; i++)
        TRY(add_dense(m, &row, 2 * i, a->hidden[i], 1));
    TRY(add_dense(m, &row, 2 * a->hidden_count, a->values, a->relu_logits));
    m->adversary_rows = m->row_count - first;
done:
    return status;
}

/* Tensors before, or from, the first of the adversary's rows. */
static struct tensor_list tensors_of(const struct nn_model *m, bool adversary)
{
    const struct tensor_list *all = &m->tensor_list;
    size_t first = 0;
    for (size_t i = 0; i < m->parameter_count; i++)
        first += !m->parameters[i].statistic && m->parameters[i].row <= model_output_row(m);
    return adversary ? (struct tensor_list){all->items + first, all->count - first}
                     : (struct tensor_list){all->items, first};
}

struct tensor_list model_task_tensors(const struct nn_model *m)
{
    return tensors_of(m, false);
}

struct tensor_list model_adversary_tensors(const struct nn_model *m)
{
    return tensors_of(m, true);
}
