/* ResNet-18 (He et al. 2016a) with the CIFAR stem: 3x3 convolution with stride 1, no pooling; four stages of
 * two basic blocks, 64 to 512 channels; shortcut 1x1 convolution and norm where the shape changes. Names as
 * in torchvision. 11,173,962 parameters with 10 classes. */
#include "nn/resnet_parts.h"

static sotto_status add_basic_block(int *row, struct resnet *b, size_t stage, size_t block, size_t width,
                                    size_t stride)
{
    sotto_status status = SOTTO_OK;
    char path[48];
    int x = *row, shortcut = x, inner, active, outer;
    int changes = stride != 1 || model_shape(b->model, x).channels != width;
    if (changes) {
        TRY(resnet_convolution(&inner, b, x, (struct resnet_convolution){width, 1, stride, SOURCE_NONE, {0}},
                               resnet_name(path, stage, block, "downsample.0")));
        TRY(resnet_norm(&shortcut, b, inner, 0, SOURCE_NONE,
                        resnet_name(path, stage, block, "downsample.1")));
    }
    TRY(resnet_convolution(&inner, b, x, (struct resnet_convolution){width, 3, stride, SOURCE_NONE, {0}},
                           resnet_name(path, stage, block, "conv1")));
    TRY(resnet_norm(&active, b, inner, 1, SOURCE_NONE, resnet_name(path, stage, block, "bn1")));
    TRY(resnet_convolution(&outer, b, active, (struct resnet_convolution){width, 3, 1, SOURCE_NONE, {0}},
                           resnet_name(path, stage, block, "conv2")));
    TRY(resnet_norm(row, b, outer, 1, shortcut, resnet_name(path, stage, block, "bn2")));
done:
    return status;
}

static sotto_status build(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    struct resnet b;
    int row;
    TRY(resnet_start(&b, m, config));
    TRY(resnet_convolution(&row, &b, SOURCE_INPUT, (struct resnet_convolution){64, 3, 1, SOURCE_NONE, {0}},
                           "encoder.conv1"));
    TRY(resnet_norm(&row, &b, row, 1, SOURCE_NONE, "encoder.bn1"));
    for (size_t stage = 1; stage <= 4; stage++)
        for (size_t block = 0; block < 2; block++)
            TRY(add_basic_block(&row, &b, stage, block, (size_t)32 << stage,
                                stage > 1 && block == 0 ? 2 : 1));
    TRY(resnet_pool(embedding_row, &b, row));
done:
    return status;
}

const struct model_kind model_resnet18 = {
    .name = "resnet18", .title = "residual network with the CIFAR stem, 64 to 512 channels", .build = build};
