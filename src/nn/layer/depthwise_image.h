/* depthwise_image.h - depthwise convolutions of whole images, row by row: kernels of 3x3, a border of one pixel, stride 1 or 2
 * (nn/kernel/depthwise_rows.h). */
#ifndef NN_LAYER_DEPTHWISE_IMAGE_H
#define NN_LAYER_DEPTHWISE_IMAGE_H

#include "nn/layer/layer.h"

#include <stdbool.h>

struct depthwise_rows;
bool depthwise_image_fits(const struct layer_run *run);
/** weight: (9, C). */
void depthwise_image_forward(const struct layer_run *run, const struct depthwise_rows *kernels,
                             const float *weight, size_t image);
/** Writes diff_weight (9, C), of this image alone, and src->diff where it is needed. flipped: the kernel's taps in
 *  reverse order. */
void depthwise_image_backward(const struct layer_run *run, const struct depthwise_rows *kernels,
                              const float *weight, const float *flipped, float *diff_weight, size_t image);

#endif
