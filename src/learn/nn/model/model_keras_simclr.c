/* The encoder of keras-io "semisupervised_simclr": four convolutions 3x3, stride 2, no padding, 128 filters,
 * ReLU; flatten; dense 128, ReLU. Glorot-uniform kernels, zero biases. 462,848 parameters at 32x32, 856,064
 * at 96x96. File names are those of the same network as nn.Sequential with its ReLU and Flatten modules: 0,
 * 2, 4, 6, 9. */
#include "nn/model/model.h"

#include <stdio.h>

enum { WIDTH = 128, CONVOLUTIONS = 4, SMALLEST = 31 };

static sotto_status model_keras_simclr_build(int *embedding_row, struct nn_model *m,
                                             const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    (void)config;
    int row = m->input_row;
    REQUIRE(m->input.height >= SMALLEST && m->input.width >= SMALLEST,
            "keras-simclr: images are %zux%zu; expected at least 31x31 for four 3x3 convolutions with stride "
            "2 (pad 28x28 images to 32x32)",
            m->input.height, m->input.width);
    for (int i = 0; i < CONVOLUTIONS; i++) {
        struct layer_spec conv = {.layer = &layer_conv,
                                  .src = row,
                                  .residual = SOURCE_NONE,
                                  .relu = 1,
                                  .width = WIDTH,
                                  .kernel = 3,
                                  .stride = 2,
                                  .init = INIT_GLOROT_UNIFORM};
        snprintf(conv.path, sizeof conv.path, "encoder.%d", 2 * i);
        TRY(network_add(m, &conv, &row));
        network_end_block(m);
    }
    struct layer_spec dense = {.layer = &layer_dense,
                               .path = "encoder.9",
                               .src = row,
                               .residual = SOURCE_NONE,
                               .relu = 1,
                               .width = WIDTH,
                               .init = INIT_GLOROT_UNIFORM};
    TRY(network_add(m, &dense, embedding_row));
done:
    return status;
}

const struct model_kind model_keras_simclr = {.name = "keras-simclr",
                                              .title = "4 convolutions (128, stride 2) and a dense layer",
                                              .smallest_side = SMALLEST,
                                              .build = model_keras_simclr_build};
