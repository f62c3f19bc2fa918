/* norm_kernels.h - the passes that batch norm and group norm are made of, one table per instruction set.
 *
 * All work on `rows` pixels of `channels` neighbouring values; [NN_F32], [NN_BF16] is the type of the
 * tensors. Sums are f32 and meant for at most some thousand rows; the layers add chunks up in double. */
#ifndef NN_KERNEL_NORM_KERNELS_H
#define NN_KERNEL_NORM_KERNELS_H

#include "nn/nn.h"

struct norm_gate {
    const float *scale, *shift;
    float most; /* the ReLU's upper end; INFINITY: none */
};
struct norm_slopes {
    const float *a, *b, *d;
};
struct norm_kernels {
    /** sum[c] = sum over rows of x. */
    void (*sums[2])(float *sum, const void *x, size_t rows, size_t channels);
    /** square[c] = sum over rows of (x - center[c])^2. */
    void (*squares[2])(float *square, const void *x, const float *center, size_t rows, size_t channels);
    /** y = x * scale[c] + shift[c] + more, then cut to [0, most] if most > 0. more: as x; NULL: nothing. */
    void (*apply[2])(void *y, const void *x, const void *more, const float *scale, const float *shift,
                     float most, size_t rows, size_t channels);
    /** sum[c] = sum of g, product[c] = sum of g * (x - center[c]), where g = dy; with a gate: g = dy where
     *  x * gate->scale[c] + gate->shift[c] is between 0 and most, else 0 (the ReLU that apply() fused, seen
     *  again from x). */
    void (*back_sums[2])(float *sum, float *product, const void *dy, const void *x, const float *center,
                         const struct norm_gate *gate, size_t rows, size_t channels);
    /** dx = g * a[c] + x * b[c] + d[c], or dx += that if add. dx may be dy. */
    void (*back_apply[2])(void *dx, int add, const void *dy, const void *x, const struct norm_slopes *slopes,
                          const struct norm_gate *gate, size_t rows, size_t channels);
};
const struct norm_kernels *norm_kernels_best(void);

#endif
