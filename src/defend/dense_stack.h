/* dense_stack.h - a small dense network whose gradient goes on to its input, for trainings in which one
 * network works against another. ReLU between layers, none after the last; f32; batches of a fixed size at
 * most. */
#ifndef DEFEND_DENSE_STACK_H
#define DEFEND_DENSE_STACK_H

#include "nn/nn.h"
#include "nn/tensor_list.h"

enum { DENSE_STACK_LAYERS = 5 };

struct dense_stack {
    size_t layers, width[DENSE_STACK_LAYERS + 1], batch;
    float *weight[DENSE_STACK_LAYERS], *bias[DENSE_STACK_LAYERS];           /* (out, in), (out) */
    float *weight_grad[DENSE_STACK_LAYERS], *bias_grad[DENSE_STACK_LAYERS]; /* of the last backward */
    float *value[DENSE_STACK_LAYERS + 1], *diff[DENSE_STACK_LAYERS + 1];    /* (batch, width) */
    struct tensor tensors[2 * DENSE_STACK_LAYERS];
    struct tensor_list list;
    struct nn_optimizer *adam;
    const struct nn_backend *backend;
    struct arena memory;
};
/* Glorot uniform weights from rng_stream(seed, RNG_INIT, stream, layer), zero biases; Adam with its usual
 * settings. The stack may not be moved afterwards. ENOMEM. */
sotto_status dense_stack_make(struct dense_stack *s, const size_t *width, size_t layers, size_t batch,
                              uint64_t seed, uint64_t stream);
void dense_stack_clear(struct dense_stack *s);
/* Outputs of x (n, width[0]), n <= batch, borrowed. */
const float *dense_stack_forward(struct dense_stack *s, const float *x, size_t n);
/* From the gradient by the outputs (n, out) of the last forward: that of all weights, and by the input,
 * borrowed. */
const float *dense_stack_backward(struct dense_stack *s, const float *diff_output, size_t n);
/* Moves the weights by Adam along the gradients of the last backward. */
void dense_stack_step(struct dense_stack *s, double lr);

#endif
