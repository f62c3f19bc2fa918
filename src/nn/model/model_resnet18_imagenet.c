/* ResNet-18 with the ImageNet stem, for images of some 64 pixels and more. As in torchvision, 11,689,512
 * parameters with 1,000 classes. */
#include "nn/model/resnet_parts.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet18_stages, RESNET_STEM_IMAGENET);
}

const struct model_kind model_resnet18_imagenet = {
    .name = "resnet18-imagenet", .title = "ResNet-18 with the 7x7 stem", .build = build};
