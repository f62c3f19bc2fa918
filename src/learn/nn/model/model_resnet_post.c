/* Residual networks with norm and ReLU after each convolution (He et al. 2016a), names as in torchvision:
 * stem, four stages of basic blocks (3x3, 3x3) or bottlenecks (1x1, 3x3, 1x1 to four times the width),
 * shortcut 1x1 convolution and norm where the shape changes, global average pool. */
#include "nn/model/resnet_parts.h"

#include <stdio.h>

struct resnet_stages {
    size_t blocks[4];
    int bottleneck;
    size_t widening; /* of a block's result over its 3x3 convolution */
};
static const struct resnet_stages resnet18_stages = {.blocks = {2, 2, 2, 2}, .widening = 1};
static const struct resnet_stages resnet50_stages = {.blocks = {3, 4, 6, 3}, .bottleneck = 1, .widening = 4};

/* Convolution NUMBER of a block and its norm, with a ReLU unless it closes the block without a sum. */
static sotto_status add_pair(int *row, struct resnet *b, int src, const char *prefix, int number,
                             struct resnet_convolution c, int residual)
{
    sotto_status status = SOTTO_OK;
    char path[48];
    snprintf(path, sizeof path, "%sconv%d", prefix, number);
    TRY(resnet_convolution(row, b, src, c, path));
    snprintf(path, sizeof path, "%sbn%d", prefix, number);
    TRY(resnet_norm(row, b, *row, 1, residual, path));
done:
    return status;
}

static sotto_status add_block(int *row, struct resnet *b, const struct resnet_stages *s, size_t stage,
                              size_t block)
{
    sotto_status status = SOTTO_OK;
    char path[48], prefix[48];
    size_t width = (size_t)32 << stage, out = width * s->widening, stride = stage > 1 && block == 0 ? 2 : 1;
    int x = *row, shortcut = x, inner = x, last = s->bottleneck ? 3 : 2;
    resnet_name(prefix, stage, block, "");
    if (stride != 1 || model_shape(b->model, x).channels != out) {
        TRY(resnet_convolution(&shortcut, b, x, (struct resnet_convolution){out, 1, stride, SOURCE_NONE, {0}},
                               resnet_name(path, stage, block, "downsample.0")));
        TRY(resnet_norm(&shortcut, b, shortcut, 0, SOURCE_NONE,
                        resnet_name(path, stage, block, "downsample.1")));
    }
    if (s->bottleneck)
        TRY(add_pair(&inner, b, x, prefix, 1, (struct resnet_convolution){width, 1, 1, SOURCE_NONE, {0}},
                     SOURCE_NONE));
    TRY(add_pair(&inner, b, inner, prefix, last - 1,
                 (struct resnet_convolution){width, 3, stride, SOURCE_NONE, {0}}, SOURCE_NONE));
    TRY(add_pair(row, b, inner, prefix, last,
                 (struct resnet_convolution){out, s->bottleneck ? 1 : 3, 1, SOURCE_NONE, {0}}, shortcut));
    network_end_block(b->model);
done:
    return status;
}

/* 3x3 convolution with stride 1; 7x7 with stride 2 and a 3x3 max pool with stride 2. */
enum resnet_stem { RESNET_STEM_CIFAR, RESNET_STEM_IMAGENET };

static sotto_status add_stem(int *row, struct resnet *b, enum resnet_stem stem)
{
    sotto_status status = SOTTO_OK;
    struct resnet_convolution small = {64, 3, 1, SOURCE_NONE, {0}}, large = {64, 7, 2, SOURCE_NONE, {0}};
    TRY(add_pair(row, b, b->model->input_row, "encoder.", 1, stem == RESNET_STEM_CIFAR ? small : large,
                 SOURCE_NONE));
    if (stem == RESNET_STEM_CIFAR)
        goto done;
    struct layer_spec pool = {.layer = &layer_max_pool,
                              .path = "encoder.maxpool",
                              .src = *row,
                              .residual = SOURCE_NONE,
                              .kernel = 3,
                              .stride = 2,
                              .pad = 1};
    TRY(network_add(b->model, &pool, row));
done:
    return status;
}

static sotto_status resnet_post_activation(int *embedding_row, struct nn_model *m,
                                           const struct nn_model_config *config,
                                           const struct resnet_stages *stages, enum resnet_stem stem)
{
    sotto_status status = SOTTO_OK;
    struct resnet b;
    int row;
    TRY(resnet_start(&b, m, config));
    TRY(add_stem(&row, &b, stem));
    for (size_t stage = 1; stage <= 4; stage++)
        for (size_t block = 0; block < stages->blocks[stage - 1]; block++)
            TRY(add_block(&row, &b, stages, stage, block));
    TRY(resnet_pool(embedding_row, &b, row));
done:
    return status;
}

/* ResNet-18 (He et al. 2016a) with the CIFAR stem: 3x3 convolution with stride 1, no pooling; four stages of
 * two basic blocks, 64 to 512 channels. Names as in torchvision. 11,173,962 parameters with 10 classes. */
static sotto_status build_resnet18(int *embedding_row, struct nn_model *m,
                                   const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet18_stages, RESNET_STEM_CIFAR);
}

const struct model_kind model_resnet18 = {.name = "resnet18",
                                          .title = "residual network with the CIFAR stem, 64 to 512 channels",
                                          .build = build_resnet18};

/* ResNet-18 with the ImageNet stem, for images of some 64 pixels and more. As in torchvision, 11,689,512
 * parameters with 1,000 classes. */
static sotto_status build_resnet18_imagenet(int *embedding_row, struct nn_model *m,
                                            const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet18_stages, RESNET_STEM_IMAGENET);
}

const struct model_kind model_resnet18_imagenet = {
    .name = "resnet18-imagenet", .title = "ResNet-18 with the 7x7 stem", .build = build_resnet18_imagenet};

/* ResNet-50 (He et al. 2016a) with the CIFAR stem: four stages of 3, 4, 6 and 3 bottlenecks, 256 to 2,048
 * channels, strides at the 3x3 convolution as in torchvision. 23,520,842 parameters with 10 classes. */
static sotto_status build_resnet50(int *embedding_row, struct nn_model *m,
                                   const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet50_stages, RESNET_STEM_CIFAR);
}

const struct model_kind model_resnet50 = {
    .name = "resnet50",
    .title = "bottleneck residual network with the CIFAR stem, 256 to 2,048 channels",
    .build = build_resnet50};

/* ResNet-50 with the ImageNet stem. As in torchvision, 25,557,032 parameters with 1,000 classes. */
static sotto_status build_resnet50_imagenet(int *embedding_row, struct nn_model *m,
                                            const struct nn_model_config *config)
{
    return resnet_post_activation(embedding_row, m, config, &resnet50_stages, RESNET_STEM_IMAGENET);
}

const struct model_kind model_resnet50_imagenet = {
    .name = "resnet50-imagenet", .title = "ResNet-50 with the 7x7 stem", .build = build_resnet50_imagenet};
