/* tanh_parts.h - rows that the networks with bounded activations share (model_tanh_*.c). `module` is the
 * place of the first of them in the same network as nn.Sequential, which is its name in files. */
#ifndef NN_MODEL_TANH_PARTS_H
#define NN_MODEL_TANH_PARTS_H

#include "nn/model/model.h"

struct tanh_convolution {
    size_t width, kernel, stride, pad;
};
/** A convolution and tanh: modules `module` and module + 1. *row is what is read, then what came of it. */
sotto_status tanh_convolution(int *row, struct nn_model *m, size_t module, struct tanh_convolution c);
/** A max pool over 2x2 pixels. */
sotto_status tanh_pool(int *row, struct nn_model *m, size_t module, size_t stride);
/** A dense layer and tanh, after Flatten: modules module + 1 and module + 2. */
sotto_status tanh_dense(int *row, struct nn_model *m, size_t module, size_t width);

#endif
