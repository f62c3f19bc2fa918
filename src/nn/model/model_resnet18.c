/* ResNet-18 (He et al. 2016a) with the CIFAR stem: 3x3 convolution with stride 1, no pooling; four stages of
 * two basic blocks, 64 to 512 channels. Names as in torchvision. 11,173,962 parameters with 10 classes. */
#include "nn/model/resnet_parts.h"

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet18_stages, RESNET_STEM_CIFAR);
}

const struct model_kind model_resnet18 = {
    .name = "resnet18", .title = "residual network with the CIFAR stem, 64 to 512 channels", .build = build};
