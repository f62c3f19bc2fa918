/* depthwise_rows.h - depthwise convolutions with kernels of 3x3 and a border of one pixel, row by row, one table per
 * instruction set: a row at a time, all channels, so that memory is read in order and each row is still in cache when
 * the next two results need it. The same bits as the sums of depthwise_kernels.h.
 *
 * Channels are a multiple of 16, rows (W, C), kernels (9, C) with the channel fastest. [NN_F32], [NN_BF16] is the type
 * of the rows. */
#ifndef NN_KERNEL_DEPTHWISE_ROWS_H
#define NN_KERNEL_DEPTHWISE_ROWS_H

#include "nn/nn.h"

enum { DEPTHWISE_TAPS = 9 };
/** What is read while a row is worked on, for the next one; NULL: nothing. `times` its bytes a vector of the result. */
struct depthwise_fetch {
    const void *from;
    size_t times;
};
enum { DEPTHWISE_FETCHES = 3 };
struct depthwise_row {
    /* rows of the source above, at and below; NULL: outside of the image. Not the one at */
    const void *src[3];
    size_t width, source_width, stride, channels; /* width: of the result, at least 2; stride: 1, 2 */
    struct depthwise_fetch fetch[DEPTHWISE_FETCHES];
};
/** What a row of the source's gradient comes from, stride 2: one or two rows of the result's gradient. */
struct depthwise_back_row {
    const void *diff[2];                /* the second may be NULL */
    size_t tap[2];                      /* row of the kernel that each of them met this row by */
    size_t width, diff_width, channels; /* width: of the source */
    struct depthwise_fetch fetch[DEPTHWISE_FETCHES];
};
struct depthwise_rows {
    /** dst (width, C) = sum of weight times what it meets. With a flipped kernel and rows of the result's gradient: of the
     *  source's gradient, stride 1. */
    void (*forward[2])(void *dst, const struct depthwise_row *row, const float *weight);
    void (*back[2])(void *dst, const struct depthwise_back_row *row, const float *weight);
    /** sum (9, C) += diff (width, C) times what each tap meets. */
    void (*weights[2])(float *sum, const struct depthwise_row *row, const void *diff);
};
const struct depthwise_rows *depthwise_rows_best(void);

#endif
