/* MobileNetV2 for small images: the first two of its five halvings left out. 2,236,682 parameters with 10
 * classes. */
#include "nn/model/mobilenet.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return mobilenetv2_add(embedding_row, m, config, 1, 1);
}

const struct model_kind model_mobilenetv2 = {
    .name = "mobilenetv2",
    .title = "inverted residuals, depthwise convolutions, for small images",
    .build = build};
