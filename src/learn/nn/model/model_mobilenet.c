/* MobileNetV2 (Sandler et al. 2018): inverted residuals: the sum joins the narrow ends. A 1x1 convolution
 * widens (not in the first block), a depthwise 3x3 filters, a 1x1 narrows without an activation after it.
 * Norms and ReLU6 elsewhere. Names as in torchvision. */
#include "nn/model/resnet_parts.h"

#include <stdio.h>

enum { STEM = 32, LAST = 1280 };

static const struct group {
    size_t widening, channels, blocks, stride;
} groups[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

static sotto_status add_norm(int *row, struct resnet *b, int active, int residual, const char *path)
{
    sotto_status status = SOTTO_OK;
    if (!active)
        return resnet_norm(row, b, *row, 0, residual, path);
    struct layer_spec spec = {
        .layer = b->norm, .src = *row, .residual = SOURCE_NONE, .relu = 1, .cap = 6, .groups = RESNET_GROUPS};
    snprintf(spec.path, sizeof spec.path, "%s", path);
    TRY(network_add(b->model, &spec, row));
done:
    return status;
}

/* PREFIX.0, a convolution, and PREFIX.1, its norm and ReLU6. */
static sotto_status add_active(int *row, struct resnet *b, const char *prefix, struct resnet_convolution c)
{
    sotto_status status = SOTTO_OK;
    char path[48];
    snprintf(path, sizeof path, "%.40s.0", prefix);
    TRY(resnet_convolution(row, b, *row, c, path));
    snprintf(path, sizeof path, "%.40s.1", prefix);
    TRY(add_norm(row, b, 1, SOURCE_NONE, path));
done:
    return status;
}

static sotto_status add_depthwise(int *row, struct resnet *b, const char *prefix, size_t stride)
{
    sotto_status status = SOTTO_OK;
    char path[48];
    struct layer_spec spec = {.layer = &layer_depthwise,
                              .src = *row,
                              .residual = SOURCE_NONE,
                              .kernel = 3,
                              .stride = stride,
                              .pad = 1,
                              .no_bias = 1,
                              .init = INIT_HE_NORMAL};
    snprintf(spec.path, sizeof spec.path, "%.40s.0", prefix);
    TRY(network_add(b->model, &spec, row));
    snprintf(path, sizeof path, "%.40s.1", prefix);
    TRY(add_norm(row, b, 1, SOURCE_NONE, path));
done:
    return status;
}

static sotto_status add_block(int *row, struct resnet *b, size_t feature, const struct group *g,
                              size_t stride)
{
    sotto_status status = SOTTO_OK;
    char path[48];
    int x = *row, part = 0;
    size_t channels = model_shape(b->model, x).channels;
    int residual = stride == 1 && channels == g->channels ? x : SOURCE_NONE;
    if (g->widening != 1) {
        snprintf(path, sizeof path, "encoder.features.%zu.conv.%d", feature, part++);
        TRY(add_active(row, b, path,
                       (struct resnet_convolution){g->widening * channels, 1, 1, SOURCE_NONE, {0}}));
    }
    snprintf(path, sizeof path, "encoder.features.%zu.conv.%d", feature, part++);
    TRY(add_depthwise(row, b, path, stride));
    snprintf(path, sizeof path, "encoder.features.%zu.conv.%d", feature, part++);
    TRY(resnet_convolution(row, b, *row, (struct resnet_convolution){g->channels, 1, 1, SOURCE_NONE, {0}},
                           path));
    snprintf(path, sizeof path, "encoder.features.%zu.conv.%d", feature, part);
    TRY(add_norm(row, b, 0, residual, path));
    network_end_block(b->model);
done:
    return status;
}

/* Stem of stride `stem`, second group of blocks of stride `second` (published: 2 and 2). */
static sotto_status mobilenetv2_add(int *embedding_row, struct nn_model *m,
                                    const struct nn_model_config *config, size_t stem, size_t second)
{
    sotto_status status = SOTTO_OK;
    struct resnet b;
    int row = m->input_row;
    size_t feature = 1;
    TRY(resnet_start(&b, m, config));
    TRY(add_active(&row, &b, "encoder.features.0",
                   (struct resnet_convolution){STEM, 3, stem, SOURCE_NONE, {0}}));
    for (size_t g = 0; g < GROUP_COUNT; g++)
        for (size_t block = 0; block < groups[g].blocks; block++) {
            size_t stride = block > 0 ? 1 : g == 1 ? second : groups[g].stride;
            TRY(add_block(&row, &b, feature++, &groups[g], stride));
        }
    TRY(add_active(&row, &b, "encoder.features.18",
                   (struct resnet_convolution){LAST, 1, 1, SOURCE_NONE, {0}}));
    TRY(resnet_pool(embedding_row, &b, row));
done:
    return status;
}

/* MobileNetV2 for small images: the first two of its five halvings left out. 2,236,682 parameters with 10
 * classes. */
static sotto_status build_small(int *embedding_row, struct nn_model *m, const struct nn_model_config *config)
{
    return mobilenetv2_add(embedding_row, m, config, 1, 1);
}

const struct model_kind model_mobilenetv2 = {
    .name = "mobilenetv2",
    .title = "inverted residuals, depthwise convolutions, for small images",
    .build = build_small};

/* MobileNetV2 as published. As in torchvision, 3,504,872 parameters with 1,000 classes. */
static sotto_status build_published(int *embedding_row, struct nn_model *m,
                                    const struct nn_model_config *config)
{
    return mobilenetv2_add(embedding_row, m, config, 2, 2);
}

const struct model_kind model_mobilenetv2_imagenet = {
    .name = "mobilenetv2-imagenet", .title = "MobileNetV2 with all its halvings", .build = build_published};
