/* depthwise_image.h - depthwise convolutions of whole images, row by row: kernels of 3x3, a border of one pixel, stride 1 or 2
 * (nn/kernel/depthwise_rows.h). Batch norms before and behind leave parts of their work to it (nn/layer/norm_rows.h). */
#ifndef NN_LAYER_DEPTHWISE_IMAGE_H
#define NN_LAYER_DEPTHWISE_IMAGE_H

#include "nn/layer/layer.h"

struct depthwise_rows;
bool depthwise_image_fits(const struct layer_run *run);
/** Bytes of a thread's own memory. */
size_t depthwise_image_bytes(const struct layer_run *run);

struct depthwise_image {
    const struct layer_run *run;
    const struct depthwise_rows *kernels;
    const float *weight, *flipped; /* (9, C); flipped: taps in reverse order */
    char *room;                    /* depthwise_image_bytes() */
    size_t image;
};
void depthwise_image_forward(const struct depthwise_image *w);
/** Writes diff_weight (9, C), of this image alone, and src->diff where it is needed. */
void depthwise_image_backward(const struct depthwise_image *w, float *diff_weight);

#endif
