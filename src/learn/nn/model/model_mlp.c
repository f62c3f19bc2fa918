/* Dense layers with ReLU between; the last hidden layer is the embedding. Names as in nn.Sequential: 0, 2, 4,
 * ... */
#include "nn/model/model.h"

#include <stdio.h>

static sotto_status model_mlp_build(int *embedding_row, struct nn_model *m,
                                    const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    int row = m->input_row;
    for (size_t i = 0; i < config->hidden_count; i++) {
        struct layer_spec dense = {.layer = &layer_dense,
                                   .src = row,
                                   .residual = SOURCE_NONE,
                                   .relu = 1,
                                   .width = config->hidden[i],
                                   .init = INIT_GLOROT_UNIFORM};
        snprintf(dense.path, sizeof dense.path, "encoder.%zu", 2 * i);
        TRY(network_add(m, &dense, &row));
    }
    *embedding_row = row;
done:
    return status;
}

const struct model_kind model_mlp = {
    .name = "mlp", .build = model_mlp_build, .title = "dense layers with ReLU (hidden)"};
