/* The convolutional network with tanh that is trained by DP-SGD (Papernot et al. 2021; Tramer & Boneh 2021):
 * stages of two convolutions 3x3, each stage followed by a 2x2 max pool, then one dense layer; tanh after
 * each of them. `hidden` lists the widths of the stages and, last, of the dense layer; 32, 64, 128, 128
 * unless given. With 10 classes on 3x32x32: 550,570 parameters. Names are those of the same network as
 * nn.Sequential: stage s holds encoder.(5 s) and .(5 s + 2), the dense layer comes after Flatten. */
#include "nn/model.h"

#include <stdio.h>

enum { STAGE_MODULES = 5, CONVOLUTIONS = 2 }; /* conv, tanh, conv, tanh, pool */
static const size_t usual[] = {32, 64, 128, 128};

static sotto_status add_tanh(int *row, struct nn_model *m, size_t module)
{
    struct layer_spec tanh = {.layer = &layer_tanh, .src = *row, .residual = SOURCE_NONE};
    snprintf(tanh.path, sizeof tanh.path, "encoder.%zu", module);
    return network_add(m, &tanh, row);
}

static sotto_status add_stage(int *row, struct nn_model *m, size_t stage, size_t width)
{
    sotto_status status = SOTTO_OK;
    struct layer_spec pool = {.layer = &layer_max_pool, .residual = SOURCE_NONE, .kernel = 2, .stride = 2};
    for (size_t i = 0; i < CONVOLUTIONS; i++) {
        size_t module = STAGE_MODULES * stage + 2 * i;
        struct layer_spec conv = {.layer = &layer_conv,
                                  .src = *row,
                                  .residual = SOURCE_NONE,
                                  .width = width,
                                  .kernel = 3,
                                  .stride = 1,
                                  .pad = 1,
                                  .init = INIT_GLOROT_UNIFORM};
        snprintf(conv.path, sizeof conv.path, "encoder.%zu", module);
        TRY(network_add(m, &conv, row));
        TRY(add_tanh(row, m, module + 1));
    }
    pool.src = *row;
    snprintf(pool.path, sizeof pool.path, "encoder.%zu", STAGE_MODULES * stage + 2 * CONVOLUTIONS);
    TRY(network_add(m, &pool, row));
done:
    return status;
}

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    const size_t *width = config->hidden_count ? config->hidden : usual;
    size_t count = config->hidden_count ? config->hidden_count : sizeof usual / sizeof *usual;
    int row = SOURCE_INPUT;
    REQUIRE(count >= 2,
            "tanh-cnn: %zu width given; expected those of at least one stage and of the dense layer", count);
    for (size_t stage = 0; stage + 1 < count; stage++)
        TRY(add_stage(&row, m, stage, width[stage]));
    size_t flatten = STAGE_MODULES * (count - 1);
    struct layer_spec dense = {.layer = &layer_dense,
                               .src = row,
                               .residual = SOURCE_NONE,
                               .width = width[count - 1],
                               .init = INIT_GLOROT_UNIFORM};
    snprintf(dense.path, sizeof dense.path, "encoder.%zu", flatten + 1);
    TRY(network_add(m, &dense, &row));
    TRY(add_tanh(&row, m, flatten + 2));
    *embedding_row = row;
done:
    return status;
}

const struct model_kind model_tanh_cnn = {
    .name = "tanh-cnn",
    .title = "pairs of convolutions 3x3 with tanh and max pools, a dense layer (--hidden)",
    .build = build};
