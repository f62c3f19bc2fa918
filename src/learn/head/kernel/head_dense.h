/* head_dense.h - the one product behind every layer, and the update rules. Included by *.isa.c only.
 *
 * C (m, n) = A (m, k) B (k, n) with A read one number at a time (so it may be transposed for free) and B and
 * C read as vectors. A block of C lives in registers while k runs from start to end: every sum is taken in
 * order, whatever the blocking, so a column's bits do not depend on the columns beside it. */
#ifndef HEAD_KERNEL_HEAD_DENSE_H
#define HEAD_KERNEL_HEAD_DENSE_H

#include "head/kernel/head_vector.h"

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

/* An update of the weights from an offset on: its constants as vectors, and where it happens. */
struct vector_update {
    vec rate, forget1, forget2, epsilon;
    real *w, *mean, *square;
};

INLINE struct vector_update vectors_of(const struct head_update *u, const struct head_layer *layer,
                                       size_t offset)
{
    int adam = u->adam;
    return (struct vector_update){.rate = v_all(-u->rate),
                                  .forget1 = v_all(u->forget1),
                                  .forget2 = v_all(u->forget2),
                                  .epsilon = v_all(u->epsilon),
                                  .w = layer->w + offset,
                                  .mean = adam ? layer->mean + offset : NULL,
                                  .square = adam ? layer->square + offset : NULL};
}

INLINE void apply_sgd(const struct vector_update *u, size_t at, vec g)
{
    v_store(u->w + at, v_fma(u->rate, g, v_load(u->w + at)));
}

INLINE void apply_adam(const struct vector_update *u, size_t at, vec g, int flush)
{
    vec m = v_load(u->mean + at), s = v_load(u->square + at);
    m = v_fma(u->forget1, g - m, m);
    s = v_fma(u->forget2, v_fma(g, g, -s), s);
    v_store(u->mean + at, flush ? v_flush(m) : m);
    v_store(u->square + at, flush ? v_flush(s) : s);
    v_store(u->w + at, v_fma(u->rate, v_over_root(m, s, u->epsilon), v_load(u->w + at)));
}

INLINE void apply(const struct head_update *u, const struct head_layer *layer, size_t offset,
                  const real *gradient, size_t count)
{
    struct vector_update v = vectors_of(u, layer, offset);
    if (u->adam && u->flush)
        for (size_t i = 0; i < count; i += LANES)
            apply_adam(&v, i, v_load(gradient + i), 1);
    else if (u->adam)
        for (size_t i = 0; i < count; i += LANES)
            apply_adam(&v, i, v_load(gradient + i), 0);
    else
        for (size_t i = 0; i < count; i += LANES)
            apply_sgd(&v, i, v_load(gradient + i));
}

/* The same for a gradient of at most 8 vectors that is in registers. */
INLINE void apply_vectors(const struct head_update *u, const struct head_layer *layer, size_t offset,
                          const vec *gradient, int vectors)
{
    struct vector_update v = vectors_of(u, layer, offset);
    if (u->adam && u->flush)
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++)
            apply_adam(&v, (size_t)j * LANES, gradient[j], 1);
    else if (u->adam)
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++)
            apply_adam(&v, (size_t)j * LANES, gradient[j], 0);
    else
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++)
            apply_sgd(&v, (size_t)j * LANES, gradient[j]);
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
