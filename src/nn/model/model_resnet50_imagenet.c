/* ResNet-50 with the ImageNet stem. As in torchvision, 25,557,032 parameters with 1,000 classes. */
#include "nn/model/resnet_parts.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet50_stages, RESNET_STEM_IMAGENET);
}

const struct model_kind model_resnet50_imagenet = {
    .name = "resnet50-imagenet", .title = "ResNet-50 with the 7x7 stem", .build = build};
