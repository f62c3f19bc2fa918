/* layer_norm_parts.h - what batch norm and group norm share. */
#ifndef NN_LAYER_LAYER_NORM_PARTS_H
#define NN_LAYER_LAYER_NORM_PARTS_H

#include "nn/layer/layer.h"

/** PyTorch's: variance + 1e-5 under the root; running = 0.9 running + 0.1 batch. */
#define NORM_EPSILON NN_NORM_EPSILON
#define NORM_MOMENTUM 0.1

/** The result has the source's shape. */
sotto_status norm_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src);
/** weight and bias, one per channel. */
size_t norm_affine(struct nn_parameter out[LAYER_PARAMETERS_MAX], size_t channels);
/** Upper end of the ReLU that the layer applies itself: INFINITY without a cap; 0: no ReLU. */
float norm_most(const struct layer_run *run);

#endif
