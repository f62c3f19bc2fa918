/* columns.h - the column matrix of a convolution ("im2col"): one row per output pixel, holding the source
 * values that the kernel covers there, (r, s, c) with c fastest. A convolution then is a matrix product with
 * it. */
#ifndef NN_CONV_COLUMNS_H
#define NN_CONV_COLUMNS_H

#include "nn/backend.h"
#include "nn/kernel/kernels.h"

/** columns (images * P * Q, R * S * C) from src (images, H, W, C); elements of `size` bytes; zeros in the
 * padding. */
void columns_make(void *columns, const void *src, size_t images, size_t size, const struct conv_desc *d);
/** The way back ("col2im"): every value of diff_src (images, H, W, C; d->src_dtype) is the sum of the
 * columns' entries that were made from it, times (src > 0) when `src` is not NULL. columns are f32. */
void columns_sum(void *diff_src, const float *columns, size_t images, const void *src,
                 const struct kernels *k, const struct conv_desc *d);

#endif
