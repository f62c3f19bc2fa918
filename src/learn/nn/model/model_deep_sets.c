/* Deep sets (Zaheer et al. 2017): a record is a set of elements in any order, as an image of one pixel for
 * each (elements down, their features as channels). The same two dense layers on every element, the mean over
 * the elements, one more dense layer; 32 wide each, ReLU between. Permuting the elements permutes a sum and
 * nothing else. Names are those of nn.Sequential(Conv2d 1x1, ReLU, Conv2d 1x1, ReLU, AdaptiveAvgPool2d,
 * Flatten, Linear, ReLU). */
#include "nn/model/model.h"

#include <stdio.h>

enum { WIDTH = 32 };

static sotto_status model_deep_sets_add(struct nn_model *m, int *row, const struct layer *layer,
                                        size_t module)
{
    struct layer_spec spec = {.layer = layer,
                              .src = *row,
                              .residual = SOURCE_NONE,
                              .relu = layer != &layer_global_pool,
                              .width = WIDTH,
                              .kernel = 1,
                              .stride = 1,
                              .init = INIT_GLOROT_UNIFORM};
    snprintf(spec.path, sizeof spec.path, "encoder.%zu", module);
    return network_add(m, &spec, row);
}

static sotto_status model_deep_sets_build(int *embedding_row, struct nn_model *m,
                                          const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    int row = m->input_row;
    (void)config;
    TRY(model_deep_sets_add(m, &row, &layer_conv, 0));
    TRY(model_deep_sets_add(m, &row, &layer_conv, 2));
    TRY(model_deep_sets_add(m, &row, &layer_global_pool, 4));
    TRY(model_deep_sets_add(m, &row, &layer_dense, 6));
    *embedding_row = row;
done:
    return status;
}

const struct model_kind model_deep_sets = {
    .name = "deep-sets",
    .title = "a set of elements in any order: dense layers on each, their mean",
    .build = model_deep_sets_build};
