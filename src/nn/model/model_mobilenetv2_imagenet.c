/* MobileNetV2 as published. As in torchvision, 3,504,872 parameters with 1,000 classes. */
#include "nn/model/mobilenet.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return mobilenetv2_add(embedding_row, m, config, 2, 2);
}

const struct model_kind model_mobilenetv2_imagenet = {
    .name = "mobilenetv2-imagenet", .title = "MobileNetV2 with all its halvings", .build = build};
