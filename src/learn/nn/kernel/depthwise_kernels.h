/* depthwise_kernels.h - convolution of every channel with a kernel of its own, one table per instruction set.
 *
 * Images are (H, W, C), kernels (taps, C) with the channel fastest. A line says, for every pixel along one
 * side of the result, which taps of the kernel meet which pixels of the source: forward and the gradient of
 * the source are the same weighted sum with other lines. [NN_F32], [NN_BF16] is the type of the images. */
#ifndef NN_KERNEL_DEPTHWISE_KERNELS_H
#define NN_KERNEL_DEPTHWISE_KERNELS_H

#include "nn/nn.h"

enum { DEPTHWISE_KERNEL_MAX = 7 };
/** Taps that meet a pixel: tap + i * tap_step meets pixel + i, for i < count. */
struct depthwise_reach {
    size_t count, tap, pixel;
    int tap_step; /* forward: 1 */
};
struct depthwise_lines {
    const struct depthwise_reach *rows, *columns; /* (height), (width) of the result */
    size_t height, width, source_width, channels, kernel;
};
struct depthwise_kernels {
    /** dst (height, width, C) = sum over the taps that meet a pixel of weight * that pixel. */
    void (*gather[2])(void *dst, const void *src, const float *weight, const struct depthwise_lines *lines);
    /** diff_weight (taps, C) = sum over the pixels of the result of diff * the source pixel the tap meets. */
    void (*weights[2])(float *diff_weight, const void *src, const void *diff,
                       const struct depthwise_lines *lines);
};
const struct depthwise_kernels *depthwise_kernels_best(void);

#endif
