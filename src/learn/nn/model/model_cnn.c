/* The small convolutional network of the membership-inference literature (Shokri et al. 2017; Choquette-Choo
 * et al. 2021): convolutions 3x3 with ReLU, each followed by a 2x2 max pool, then one dense layer with ReLU.
 * `hidden` lists the widths of the convolutions and, last, of the dense layer; 32, 64, 128 unless given.
 * With 10 classes: 545,098 parameters on 3x32x32, 421,642 on 1x28x28. Names are those of the same network as
 * nn.Sequential with its ReLU, MaxPool2d and Flatten modules: encoder.0, .3, ..., and the dense layer. */
#include "nn/model/model.h"

#include <stdio.h>

static const size_t usual[] = {32, 64, 128};

static sotto_status add_stage(int *row, struct nn_model *m, size_t stage, size_t width)
{
    sotto_status status = SOTTO_OK;
    struct layer_spec conv = {.layer = &layer_conv,
                              .src = *row,
                              .residual = SOURCE_NONE,
                              .relu = 1,
                              .width = width,
                              .kernel = 3,
                              .stride = 1,
                              .pad = 1,
                              .init = INIT_GLOROT_UNIFORM};
    struct layer_spec pool = {.layer = &layer_max_pool, .residual = SOURCE_NONE, .kernel = 2, .stride = 2};
    snprintf(conv.path, sizeof conv.path, "encoder.%zu", 3 * stage);
    snprintf(pool.path, sizeof pool.path, "encoder.%zu", 3 * stage + 2);
    TRY(network_add(m, &conv, row));
    pool.src = *row;
    TRY(network_add(m, &pool, row));
done:
    return status;
}

static sotto_status model_cnn_build(int *embedding_row, struct nn_model *m,
                                    const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    const size_t *width = config->hidden_count ? config->hidden : usual;
    size_t count = config->hidden_count ? config->hidden_count : sizeof usual / sizeof *usual;
    int row = m->input_row;
    REQUIRE(count >= 2,
            "cnn: %zu width given; expected at least one for a convolution and one for the dense layer",
            count);
    for (size_t stage = 0; stage + 1 < count; stage++)
        TRY(add_stage(&row, m, stage, width[stage]));
    struct layer_spec dense = {.layer = &layer_dense,
                               .src = row,
                               .residual = SOURCE_NONE,
                               .relu = 1,
                               .width = width[count - 1],
                               .init = INIT_GLOROT_UNIFORM};
    snprintf(dense.path, sizeof dense.path, "encoder.%zu", 3 * (count - 1) + 1); /* after Flatten */
    TRY(network_add(m, &dense, embedding_row));
done:
    return status;
}

const struct model_kind model_cnn = {.name = "cnn",
                                     .title = "convolutions 3x3 with max pools, a dense layer (hidden)",
                                     .build = model_cnn_build};
