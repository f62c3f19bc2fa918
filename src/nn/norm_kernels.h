/* norm_kernels.h - the passes that batch norm and group norm are made of, one table per instruction set.
 *
 * All work on `rows` pixels of `channels` neighbouring values; [NN_F32], [NN_BF16] is the type of the
 * tensors. Sums are f32 and meant for at most some thousand rows; the layers add chunks up in double. */
#ifndef NN_NORM_KERNELS_H
#define NN_NORM_KERNELS_H

#include "nn/nn.h"

struct norm_kernels {
    /** sum[c] = sum over rows of x. */
    void (*sums[2])(float *sum, const void *x, size_t rows, size_t channels);
    /** square[c] = sum over rows of (x - center[c])^2. */
    void (*squares[2])(float *square, const void *x, const float *center, size_t rows, size_t channels);
    /** y = x * scale[c] + shift[c], then max(0, .) if relu. */
    void (*apply[2])(void *y, const void *x, const float *scale, const float *shift, int relu, size_t rows,
                     size_t channels);
    /** sum[c] = sum of dy, product[c] = sum of dy * (x - center[c]). */
    void (*back_sums[2])(float *sum, float *product, const void *dy, const void *x, const float *center,
                         size_t rows, size_t channels);
    /** dx = dy * a[c] + x * b[c] + d[c]. */
    void (*back_apply[2])(void *dx, const void *dy, const void *x, const float *a, const float *b,
                          const float *d, size_t rows, size_t channels);
};
const struct norm_kernels *norm_kernels_best(void);

#endif
