/* resnet_parts.h - pieces of the residual networks (model_resnet*.c) and of model_mobilenet.c. Convolutions
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

#endif
