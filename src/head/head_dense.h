/* head_dense.h - the one product behind every layer, and the update rules. Included by *.isa.c only.
 *
 * C (m, n) = A (m, k) B (k, n) with A read one number at a time (so it may be transposed for free) and B and
 * C read as vectors. A block of C lives in registers while k runs from start to end: every sum is taken in
 * order, whatever the blocking, so a column's bits do not depend on the columns beside it. */
#ifndef HEAD_HEAD_DENSE_H
#define HEAD_HEAD_DENSE_H

#include "head/head_vector.h"

#include <string.h>

enum { BLOCK_VECTORS = 2, BLOCK_ROWS = VECTOR_BYTES == 64 ? 12 : 6 /* 32 or 16 vector registers */ };

struct product {
    real *c;
    size_t ldc;
    const real *a;
    size_t a_row, a_column; /* strides of A */
    const real *b;
    size_t ldb, m, n, k;
    const real *bias; /* (n), or NULL: start from zero */
};

INLINE void block(const struct product *p, size_t row, size_t column, int rows, int vectors)
{
    vec sum[BLOCK_ROWS][BLOCK_VECTORS];
    const real *a = p->a + row * p->a_row, *b = p->b + column;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = p->bias ? v_load(p->bias + column + (size_t)j * LANES) : (vec){0};
    for (size_t k = 0; k < p->k; k++, a += p->a_column, b += p->ldb) {
        vec right[BLOCK_VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            right[j] = v_load(b + (size_t)j * LANES);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vec left = v_all(a[(size_t)i * p->a_row]);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                sum[i][j] = v_fma(left, right[j], sum[i][j]);
        }
    }
    real *c = p->c + row * p->ldc + column;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            v_store(c + (size_t)i * p->ldc + (size_t)j * LANES, sum[i][j]);
}

INLINE void block_rows(const struct product *p, size_t row, size_t column, size_t rows, int vectors)
{
    /* clang-format off */
    switch (rows) {
#define CASE(r) case r: block(p, row, column, r, vectors); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
#if defined(__AVX512F__)
    CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
#undef CASE
    default: __builtin_unreachable();
    }
    /* clang-format on */
}

static void multiply(const struct product *p)
{
    /* Even blocks: 25 rows are 9 + 8 + 8, not 12 + 12 + 1. */
    size_t blocks = (p->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (size_t column = 0; column < p->n;) {
        int vectors = p->n - column >= (size_t)BLOCK_VECTORS * LANES ? BLOCK_VECTORS : 1;
        for (size_t i = 0; i < blocks; i++) {
            size_t row = i * p->m / blocks, rows = (i + 1) * p->m / blocks - row;
            if (vectors == BLOCK_VECTORS)
                block_rows(p, row, column, rows, BLOCK_VECTORS);
            else
                block_rows(p, row, column, rows, 1);
        }
        column += (size_t)vectors * LANES;
    }
}

INLINE void apply_adam(const struct head_update *u, const struct head_layer *layer, size_t offset,
                       const real *gradient, size_t count, int flush)
{
    real *w = layer->w + offset, *mean = layer->mean + offset, *square = layer->square + offset;
    vec rate = v_all(-u->rate), forget1 = v_all(u->forget1), forget2 = v_all(u->forget2),
        epsilon = v_all(u->epsilon);
    for (size_t i = 0; i < count; i += LANES) {
        vec g = v_load(gradient + i), m = v_load(mean + i), s = v_load(square + i);
        m = v_fma(forget1, g - m, m);
        s = v_fma(forget2, v_fma(g, g, -s), s);
        v_store(mean + i, flush ? v_flush(m) : m);
        v_store(square + i, flush ? v_flush(s) : s);
        v_store(w + i, v_fma(rate, v_over_root(m, s, epsilon), v_load(w + i)));
    }
}

INLINE void apply(const struct head_update *u, const struct head_layer *layer, size_t offset,
                  const real *gradient, size_t count)
{
    if (u->adam && u->flush) {
        apply_adam(u, layer, offset, gradient, count, 1);
    } else if (u->adam) {
        apply_adam(u, layer, offset, gradient, count, 0);
    } else {
        real *w = layer->w + offset;
        vec rate = v_all(-u->rate);
        for (size_t i = 0; i < count; i += LANES)
            v_store(w + i, v_fma(rate, v_load(gradient + i), v_load(w + i)));
    }
}

/* tile (strip, ld) = gradient of the weights of `strip` inputs, summed over the rows in order. */
INLINE void strip_gradient(real *tile, const struct head_layer *layer, const real *input, size_t stride,
                           size_t strip, size_t rows)
{
    struct product p = {tile,      layer->ld, input,     1,    stride, layer->diff,
                        layer->ld, strip,     layer->ld, rows, NULL};
    multiply(&p);
}

INLINE void bias_gradient(real *tile, const struct head_layer *layer, size_t rows)
{
    memset(tile, 0, layer->ld * sizeof(real));
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < layer->ld; k += LANES)
            v_store(tile + k, v_load(tile + k) + v_load(layer->diff + r * layer->ld + k));
}

#endif
