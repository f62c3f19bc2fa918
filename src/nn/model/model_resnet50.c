/* ResNet-50 (He et al. 2016a) with the CIFAR stem: four stages of 3, 4, 6 and 3 bottlenecks, 256 to 2,048
 * channels, strides at the 3x3 convolution as in torchvision. 23,520,842 parameters with 10 classes. */
#include "nn/model/resnet_parts.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet50_stages, RESNET_STEM_CIFAR);
}

const struct model_kind model_resnet50 = {
    .name = "resnet50",
    .title = "bottleneck residual network with the CIFAR stem, 256 to 2,048 channels",
    .build = build};
