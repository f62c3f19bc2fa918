/* forward(): a result is a dot product along both matrices' rows; a tile of rows by outputs stays in registers.
 * backward(): a result is a chain of multiply-adds over the outputs, from 0; a tile of rows by vectors of inputs
 * stays in registers. Tiles at the borders are smaller, and compute each element in the same way. */
#include "nn/kernel/row_kernels.h"

#include "base/simd.h"

#include <string.h>

enum {
    LANES = VECTOR_BYTES / sizeof(float),
    TALL = VECTOR_BYTES == 64 ? 4 : 2, /* forward: rows, and outputs of a tile */
    BROAD = VECTOR_BYTES == 64 ? 6 : 4,
    ROWS = VECTOR_BYTES == 64 ? 8 : 4, /* backward: rows, and vectors */
    WIDE = 3
};

INLINE void forward_tile(int tall, int broad, float *dst, const float *src, const float *weights,
                         const float *bias, bool relu, const struct row_shape *s)
{
    vf32 sum[TALL][BROAD];
    const size_t n = s->inputs;
#pragma GCC unroll 4
    for (int i = 0; i < tall; i++)
#pragma GCC unroll 6
        for (int j = 0; j < broad; j++)
            sum[i][j] = (vf32){0};
    size_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        vf32 w[BROAD];
#pragma GCC unroll 6
        for (int j = 0; j < broad; j++)
            w[j] = f32_load(weights + (size_t)j * n + c);
#pragma GCC unroll 4
        for (int i = 0; i < tall; i++) {
            vf32 x = f32_load(src + (size_t)i * n + c);
#pragma GCC unroll 6
            for (int j = 0; j < broad; j++)
                sum[i][j] = f32_fma(x, w[j], sum[i][j]);
        }
    }
    if (c < n)
#pragma GCC unroll 4
        for (int i = 0; i < tall; i++)
#pragma GCC unroll 6
            for (int j = 0; j < broad; j++)
                sum[i][j] = f32_fma(f32_load_part(src + (size_t)i * n + c, n - c),
                                    f32_load_part(weights + (size_t)j * n + c, n - c), sum[i][j]);
#pragma GCC unroll 4
    for (int i = 0; i < tall; i++)
#pragma GCC unroll 6
        for (int j = 0; j < broad; j++) {
            float y = f32_total(sum[i][j]) + (bias ? bias[j] : 0);
            dst[(size_t)i * s->outputs + (size_t)j] = relu && !(y > 0) ? 0 : y;
        }
}

/* All rows by `broad` outputs, the weights of which stay in the first-level cache. */
INLINE void forward_outputs(int broad, float *dst, const float *src, const float *weights, const float *bias,
                            bool relu, const struct row_shape *s)
{
    size_t i = 0;
    for (; i + TALL <= s->rows; i += TALL)
        forward_tile(TALL, broad, dst + i * s->outputs, src + i * s->inputs, weights, bias, relu, s);
    for (; i < s->rows; i++)
        forward_tile(1, broad, dst + i * s->outputs, src + i * s->inputs, weights, bias, relu, s);
}

static void row_kernel_forward(float *dst, const float *src, const float *weights, const float *bias,
                               bool relu, const struct row_shape *s)
{
    size_t j = 0;
    for (; j + BROAD <= s->outputs; j += BROAD)
        forward_outputs(BROAD, dst + j, src, weights + j * s->inputs, bias ? bias + j : NULL, relu, s);
    for (; j < s->outputs; j++)
        forward_outputs(1, dst + j, src, weights + j * s->inputs, bias ? bias + j : NULL, relu, s);
}

INLINE void backward_tile(int rows, int vectors, size_t last, float *diff_src, const float *diff_dst,
                          const float *weights, const struct row_shape *s)
{
    vf32 sum[ROWS][WIDE];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++)
            sum[i][v] = (vf32){0};
    for (size_t k = 0; k < s->outputs; k++, weights += s->inputs) {
        vf32 w[WIDE];
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++)
            w[v] = v + 1 < vectors || last == LANES ? f32_load(weights + v * LANES)
                                                    : f32_load_part(weights + v * LANES, last);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            vf32 g = f32_all(diff_dst[(size_t)i * s->outputs + k]);
#pragma GCC unroll 3
            for (int v = 0; v < vectors; v++)
                sum[i][v] = f32_fma(g, w[v], sum[i][v]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) {
            float *to = diff_src + (size_t)i * s->inputs + (size_t)(v * LANES);
            if (v + 1 < vectors || last == LANES)
                *(stored_f32 *)to = sum[i][v];
            else
                memcpy(to, &sum[i][v], last * sizeof *to);
        }
}

/* All rows by `vectors` vectors of inputs. */
INLINE void backward_inputs(int vectors, size_t last, float *diff_src, const float *diff_dst,
                            const float *weights, const struct row_shape *s)
{
    size_t i = 0;
    for (; i + ROWS <= s->rows; i += ROWS)
        backward_tile(ROWS, vectors, last, diff_src + i * s->inputs, diff_dst + i * s->outputs, weights, s);
    for (; i < s->rows; i++)
        backward_tile(1, vectors, last, diff_src + i * s->inputs, diff_dst + i * s->outputs, weights, s);
}

static void row_kernel_backward(float *diff_src, const float *diff_dst, const float *weights,
                                const struct row_shape *s)
{
    for (size_t c = 0; c < s->inputs; c += WIDE * LANES) {
        size_t left = s->inputs - c, vectors = left >= WIDE * LANES ? WIDE : (left + LANES - 1) / LANES,
               last = left >= WIDE * LANES ? LANES : left - (vectors - 1) * LANES;
        if (vectors == 3 && last == LANES)
            backward_inputs(3, LANES, diff_src + c, diff_dst, weights + c, s);
        else if (vectors == 3)
            backward_inputs(3, last, diff_src + c, diff_dst, weights + c, s);
        else if (vectors == 2)
            backward_inputs(2, last, diff_src + c, diff_dst, weights + c, s);
        else
            backward_inputs(1, last, diff_src + c, diff_dst, weights + c, s);
    }
}

extern const struct row_kernels ISA_NAME(row_kernels);
const struct row_kernels ISA_NAME(row_kernels) = {row_kernel_forward, row_kernel_backward};
