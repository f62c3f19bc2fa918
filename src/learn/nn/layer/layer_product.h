/* layer_product.h - the common part of conv and dense: both are one backend convolution with a bias. */
#ifndef NN_LAYER_LAYER_PRODUCT_H
#define NN_LAYER_LAYER_PRODUCT_H

#include "nn/layer/layer.h"

/** plan() with the kernel given; layout, forward, backward, release as in struct layer. */
sotto_status product_plan(struct layer_run *run, size_t kernel_height, size_t kernel_width, size_t stride,
                          size_t pad);
void product_layout(struct layer_run *run, struct arena *keep, struct arena *scratch);
void product_lasting(struct layer_run *run, struct arena *memory);
void product_forward(struct layer_run *run, const struct pass *pass);
void product_backward(struct layer_run *run, const struct pass *pass);
void product_use(struct layer_run *run, size_t rows);
void product_example_norms(struct layer_run *run, const struct example_norms *out, size_t examples);
void product_example_sum(struct layer_run *run, double *sum, const double *factor, size_t examples,
                         const struct nn_chains *chains);
void product_release(struct layer_run *run);

#endif
