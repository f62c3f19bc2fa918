/* resnet_parts.h - pieces of the residual networks (model_resnet*.c) and of model_mobilenetv2.c. Convolutions
 * have no bias (a norm follows each) and He initialisation (fan out); a global average pool replaces the
 * fixed ones of 8x8 or 4x4, so that any size fits. */
#ifndef NN_MODEL_RESNET_PARTS_H
#define NN_MODEL_RESNET_PARTS_H

#include "nn/model/model.h"

enum { RESNET_GROUPS = 8 }; /* of group norm */
struct resnet {
    struct nn_model *model;
    const struct layer *norm;
};
/** Reads config->norm: batch (default) or group (8 groups). */
sotto_status resnet_start(struct resnet *b, struct nn_model *m, const struct nn_model_config *config);

struct resnet_convolution {
    size_t width, kernel, stride; /* padded by kernel / 2 */
    int residual;                 /* row added to the result, or SOURCE_NONE */
    struct nn_noise noise;        /* after that */
};
sotto_status resnet_convolution(int *row, struct resnet *b, int src, struct resnet_convolution c,
                                const char *path);
sotto_status resnet_norm(int *row, struct resnet *b, int src, int relu, int residual, const char *path);
/** "encoder.pool": global average. */
sotto_status resnet_pool(int *row, struct resnet *b, int src);
/** "encoder.layer2.0." + part, in out. */
const char *resnet_name(char out[48], size_t stage, size_t block, const char *part);
/** The pre-activation networks: three stages of `blocks` blocks (6 blocks + 2 layers), model_resnet8.c. */
sotto_status resnet_pre_activation(int *embedding_row, struct nn_model *m,
                                   const struct nn_model_config *config, size_t blocks);

/** The post-activation networks, resnet_post.c. Stems: 3x3 convolution with stride 1; 7x7 with stride 2 and a
 * 3x3 max pool with stride 2. */
struct resnet_stages {
    size_t blocks[4];
    int bottleneck;
    size_t widening; /* of a block's result over its 3x3 convolution */
};
extern const struct resnet_stages resnet18_stages, resnet50_stages;
enum resnet_stem { RESNET_STEM_CIFAR, RESNET_STEM_IMAGENET };
sotto_status resnet_post_activation(int *embedding_row, struct nn_model *m,
                                    const struct nn_model_config *config, const struct resnet_stages *stages,
                                    enum resnet_stem stem);

#endif
