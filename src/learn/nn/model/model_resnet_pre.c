/* Pre-activation residual networks (He et al. 2016b), the form of the residual-perturbation work: convolution
 * 3x3 to 16, three stages of 16, 32, 64 channels with strides 1, 2, 2 and one block each (resnet8) or more,
 *
 *     out = conv2(relu(bn2(conv1(a)))) + shortcut + noise,   a = relu(bn1(x)),
 *
 * shortcut x itself, or a 1x1 convolution of a where the shape changes; then norm, ReLU, global average pool.
 * resnet8: 77,850 parameters with 10 classes on 3x32x32. */
#include "nn/model/resnet_parts.h"

static sotto_status add_pre_activation_block(int *row, struct resnet *b, const struct nn_model_config *config,
                                             size_t stage, size_t block)
{
    sotto_status status = SOTTO_OK;
    char path[48];
    int x = *row, a, shortcut = x, inner, active;
    size_t width = (size_t)8 << stage, stride = stage > 1 && block == 0 ? 2 : 1;
    int changes = stride != 1 || model_shape(b->model, x).channels != width;
    TRY(resnet_norm(&a, b, x, 1, SOURCE_NONE, resnet_name(path, stage, block, "bn1")));
    if (config->no_skip)
        shortcut = SOURCE_NONE;
    else if (changes)
        TRY(resnet_convolution(&shortcut, b, a,
                               (struct resnet_convolution){width, 1, stride, SOURCE_NONE, {0}},
                               resnet_name(path, stage, block, "shortcut")));
    TRY(resnet_convolution(&inner, b, a, (struct resnet_convolution){width, 3, stride, SOURCE_NONE, {0}},
                           resnet_name(path, stage, block, "conv1")));
    TRY(resnet_norm(&active, b, inner, 1, SOURCE_NONE, resnet_name(path, stage, block, "bn2")));
    TRY(resnet_convolution(row, b, active, (struct resnet_convolution){width, 3, 1, shortcut, config->noise},
                           resnet_name(path, stage, block, "conv2")));
    network_end_block(b->model);
done:
    return status;
}

static sotto_status resnet_pre_activation(int *embedding_row, struct nn_model *m,
                                          const struct nn_model_config *config, size_t blocks)
{
    sotto_status status = SOTTO_OK;
    struct resnet b;
    int row;
    TRY(resnet_start(&b, m, config));
    TRY(resnet_convolution(&row, &b, m->input_row, (struct resnet_convolution){16, 3, 1, SOURCE_NONE, {0}},
                           "encoder.conv1"));
    for (size_t stage = 1; stage <= 3; stage++)
        for (size_t block = 0; block < blocks; block++)
            TRY(add_pre_activation_block(&row, &b, config, stage, block));
    TRY(resnet_norm(&row, &b, row, 1, SOURCE_NONE, "encoder.bn"));
    TRY(resnet_pool(embedding_row, &b, row));
done:
    return status;
}

static sotto_status build_resnet8(int *embedding_row, struct nn_model *m,
                                  const struct nn_model_config *config)
{
    return resnet_pre_activation(embedding_row, m, config, 1);
}

const struct model_kind model_resnet8 = {.name = "resnet8",
                                         .title = "pre-activation residual network, 16 to 64 channels",
                                         .pre_activation = 1,
                                         .build = build_resnet8};

static sotto_status build_resnet20(int *embedding_row, struct nn_model *m,
                                   const struct nn_model_config *config)
{
    return resnet_pre_activation(embedding_row, m, config, 3);
}

const struct model_kind model_resnet20 = {.name = "resnet20",
                                          .title = "pre-activation residual network, three blocks a stage",
                                          .pre_activation = 1,
                                          .build = build_resnet20};
