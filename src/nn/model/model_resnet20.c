/* The pre-activation network of model_resnet8.c with three blocks a stage. */
#include "nn/model/resnet_parts.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return resnet_pre_activation(embedding_row, m, config, 3);
}

const struct model_kind model_resnet20 = {.name = "resnet20",
                                          .title = "pre-activation residual network, three blocks a stage",
                                          .pre_activation = 1,
                                          .build = build};
