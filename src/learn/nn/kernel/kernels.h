/* kernels.h - element-wise kernels, compiled once per instruction set (pointwise.isa.c); the plan keeps the
 * table of the best one. bf16 is the upper half of a float, rounded to nearest even. */
#ifndef NN_KERNEL_KERNELS_H
#define NN_KERNEL_KERNELS_H

#include "nn/nn.h"
#include "par/par.h"

typedef uint16_t bf16;

/** [dtype]: NN_F32, NN_BF16. All take spans of n elements that may not overlap unless they are the same. */
struct kernels {
    void (*relu[2])(void *x, size_t n);                   /* x = max(0, x) */
    void (*mask[2])(void *diff, const void *x, size_t n); /* diff = x > 0 ? diff : 0 */
    void (*add[2])(void *y, const void *x, size_t n);     /* y += x, rounded once */
    void (*row_sums[2])(float *sums, const void *x, size_t rows,
                        size_t columns);               /* sums[c] = sum over rows */
    void (*tanh[2])(void *y, const void *x, size_t n); /* absolute error below 3e-7 before bf16 rounds */
    void (*tanh_back[2])(void *diff_x, const void *diff_y, const void *y, size_t n); /* diff_y (1 - y^2) */
    void (*leaky[2])(void *y, const void *x, float slope, size_t n);                 /* x > 0 ? x : slope x */
    void (*leaky_back[2])(void *diff_x, const void *diff_y, const void *y, float slope, size_t n);
    /* Max pooling, pixel by pixel of a window: most = max(most, x), NaN counts as the largest; and back: diff
     * takes what is left of the gradient where x is the largest, which then is 0 for later pixels. */
    void (*most)(float *most, const float *x, size_t n);
    void (*route)(float *diff, float *left, const float *x, const float *most, size_t n);
    void (*to_bf16)(bf16 *y, const float *x, size_t n);
    void (*to_f32)(float *y, const bf16 *x, size_t n);
};
const struct kernels *kernels_best(void);

static inline size_t dtype_size(enum nn_dtype d)
{
    return d == NN_BF16 ? sizeof(bf16) : sizeof(float);
}

/* The same over whole tensors, in fixed chunks on `threads` threads; `stop` (or NULL) is asked before each. */
void tensor_relu(const struct kernels *k, enum nn_dtype d, void *x, size_t n, int threads,
                 struct par_stop *stop);
void tensor_mask(const struct kernels *k, enum nn_dtype d, void *diff, const void *x, size_t n, int threads,
                 struct par_stop *stop);
void tensor_add(const struct kernels *k, enum nn_dtype d, void *y, const void *x, size_t n, int threads,
                struct par_stop *stop);
void tensor_to_bf16(const struct kernels *k, bf16 *y, const float *x, size_t n, int threads,
                    struct par_stop *stop);
void tensor_to_f32(const struct kernels *k, float *y, const bf16 *x, size_t n, int threads,
                   struct par_stop *stop);
/** sums (columns) = sum over the rows of x (rows, columns): fixed chunks added in order. `partial` holds
 *  tensor_row_sums_partial() floats. */
size_t tensor_row_sums_partial(size_t rows, size_t columns);
void tensor_row_sums(const struct kernels *k, enum nn_dtype d, float *sums, const void *x, size_t rows,
                     size_t columns, float *partial, int threads, struct par_stop *stop);

#endif
