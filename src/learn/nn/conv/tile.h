/* tile.h - the inner loop of our f32 products, for .isa.c files: a tile of sums that lives in registers. */
#ifndef NN_CONV_TILE_H
#define NN_CONV_TILE_H

#include "base/simd.h"

enum { TILE_LANES = VECTOR_BYTES / sizeof(float), TILE_VECTORS = 4 };

/* The first n lanes; the others are 0, or left, and their memory is not touched. */
#if defined(__AVX2__) && !defined(__AVX512F__)
INLINE __m256i tile_lanes(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

INLINE vf32 tile_load(const float *p, size_t n)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    return (vf32)_mm256_maskload_ps(p, tile_lanes(n));
#else
    return f32_load_part(p, n);
#endif
}

INLINE void tile_store(float *p, vf32 v, size_t n)
{
#if defined(__AVX512F__)
    if (n == TILE_LANES / 2) /* masked stores are slower */
        _mm256_storeu_ps(p, _mm512_castps512_ps256((__m512)v));
    else
        _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#elif defined(__AVX2__)
    _mm256_maskstore_ps(p, tile_lanes(n), (__m256)v);
#else
    memcpy(p, &v, n * sizeof *p);
#endif
}

/** left (rows, depth) and right (depth, vectors), with strides; of the last vector of right `last` lanes are there. */
struct tile_factors {
    const float *left, *right;
    size_t left_row, left_depth, right_row, depth, last;
};

/* sum (rows, vectors) += left right, each a chain by depth. `rows`, `vectors` and, if they are to be displacements, the
 * strides are constants at each call, so that `sum` lives in registers. */
INLINE void tile_multiply(vf32 sum[][TILE_VECTORS], size_t rows, size_t vectors, struct tile_factors f)
{
    for (size_t k = 0; k < f.depth; k++, f.left += f.left_depth, f.right += f.right_row) {
        vf32 b[TILE_VECTORS];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            b[v] = v + 1 == vectors && f.last < TILE_LANES ? tile_load(f.right + v * TILE_LANES, f.last)
                                                           : f32_load(f.right + v * TILE_LANES);
#pragma GCC unroll 16
        for (size_t r = 0; r < rows; r++) {
            vf32 a = f32_all(f.left[r * f.left_row]);
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = f32_fma(a, b[v], sum[r][v]);
        }
    }
}

#endif
