/* row_kernels.h - products of rows of records with a weight matrix in which a result's bits depend on its row and
 * the weights alone: not on the number of rows, on the others, or on the place among them. Libraries' products do
 * not promise that (oneDNN's AVX2 product gives the last rows other bits), and DP-SGD needs it. */
#ifndef NN_KERNEL_ROW_KERNELS_H
#define NN_KERNEL_ROW_KERNELS_H

#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>

/** weights (outputs, inputs). */
struct row_shape {
    size_t rows, inputs, outputs;
};
struct row_kernels {
    /** dst (rows, outputs) = src (rows, inputs) weights' + bias, where it is not NULL; max(0, .) with relu. */
    void (*forward)(float *dst, const float *src, const float *weights, const float *bias, bool relu,
                    const struct row_shape *s);
    /** diff_src (rows, inputs) = diff_dst (rows, outputs) weights. */
    void (*backward)(float *diff_src, const float *diff_dst, const float *weights, const struct row_shape *s);
};
const struct row_kernels *row_kernels_best(void);
#endif
