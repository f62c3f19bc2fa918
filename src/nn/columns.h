/* columns.h - the column matrix of a convolution ("im2col"): one row per output pixel, holding the source
 * values that the kernel covers there, (r, s, c) with c fastest. A convolution then is a matrix product with
 * it. */
#ifndef NN_COLUMNS_H
#define NN_COLUMNS_H

#include "nn/backend.h"

/** columns (images * P * Q, R * S * C) from src (images, H, W, C); elements of `size` bytes; zeros in the
 * padding. */
void columns_make(void *columns, const void *src, size_t images, size_t size, const struct conv_desc *d);

#endif
