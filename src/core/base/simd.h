/* simd.h - vectors, for NAME.isa.c files and the headers that only they include.
 *
 * Two families: as wide as the level being compiled (v*, VECTOR_BYTES), and of a fixed number of lanes at
 * every level (f32x16, ...), for sums with bits that must not depend on the level. Multiply-add is spelled
 * out (f32_fma), as the build turns contraction off. */
#ifndef BASE_SIMD_H
#define BASE_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Everything is inlined, so no vector crosses a call and its ABI does not matter. */
#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif

#define SIMD_WIDE(type, name) typedef type name __attribute__((vector_size(VECTOR_BYTES), may_alias))
SIMD_WIDE(float, vf32);
SIMD_WIDE(double, vf64);
SIMD_WIDE(uint8_t, vu8);
SIMD_WIDE(int32_t, vi32);
SIMD_WIDE(uint32_t, vu32);
SIMD_WIDE(int64_t, vi64);
SIMD_WIDE(uint64_t, vu64);
#undef SIMD_WIDE

/* In memory, at any element; as values, gcc 14 for ARM cannot compile these. */
typedef vf32 stored_f32 __attribute__((aligned(4)));
typedef vu32 stored_u32 __attribute__((aligned(4)));
typedef vf64 stored_f64 __attribute__((aligned(8)));
typedef vi64 stored_i64 __attribute__((aligned(8)));
typedef vu64 stored_u64 __attribute__((aligned(8)));
typedef float stored_half_f32 __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));

#define SIMD_FIXED(type, name, lanes) typedef type name __attribute__((vector_size((lanes) * sizeof(type))))
SIMD_FIXED(float, f32x4, 4);
SIMD_FIXED(float, f32x16, 16);
SIMD_FIXED(double, f64x8, 8);
SIMD_FIXED(uint16_t, u16x16, 16);
SIMD_FIXED(int32_t, i32x16, 16);
SIMD_FIXED(uint32_t, u32x16, 16);
#undef SIMD_FIXED
/* These may be read from and written to arrays of their elements by a cast. */
typedef f32x16 f32x16_in_place __attribute__((may_alias));
typedef uint64_t u64x8 __attribute__((vector_size(64), may_alias));

INLINE vf32 f32_all(float x)
{
    return x - (vf32){0}; /* x - 0 keeps -0 */
}
INLINE vf64 f64_all(double x)
{
    return x - (vf64){0};
}
INLINE vu32 u32_all(uint32_t x)
{
    return x - (vu32){0};
}

INLINE vf32 f32_fma(vf32 a, vf32 b, vf32 c)
{
#if defined(__AVX512F__)
    return (vf32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (vf32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}
/* c - a b */
INLINE vf32 f32_fnma(vf32 a, vf32 b, vf32 c)
{
#if defined(__AVX512F__)
    return (vf32)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (vf32)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return c - a * b;
#endif
}
INLINE vf64 f64_fma(vf64 a, vf64 b, vf64 c)
{
#if defined(__AVX512F__)
    return (vf64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (vf64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

INLINE vf32 f32_sqrt(vf32 a)
{
#if defined(__AVX512F__)
    return (vf32)_mm512_sqrt_ps((__m512)a);
#elif defined(__AVX2__)
    return (vf32)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
    return (vf32)_mm_sqrt_ps((__m128)a);
#else
    for (size_t i = 0; i < VECTOR_BYTES / sizeof(float); i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}
INLINE vf64 f64_sqrt(vf64 a)
{
#if defined(__AVX512F__)
    return (vf64)_mm512_sqrt_pd((__m512d)a);
#elif defined(__AVX2__)
    return (vf64)_mm256_sqrt_pd((__m256d)a);
#else
    for (size_t i = 0; i < VECTOR_BYTES / sizeof(double); i++)
        a[i] = sqrt(a[i]);
    return a;
#endif
}

/* From memory at any element; the first n lanes, the others being 0. */
INLINE vf32 f32_load(const float *p)
{
    return *(const stored_f32 *)p;
}
INLINE void f32_store(float *p, vf32 v)
{
    *(stored_f32 *)p = v;
}
INLINE vf32 f32_load_part(const float *p, size_t n)
{
#if defined(__AVX512F__)
    return (vf32)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
    vf32 v = {0};
    memcpy(&v, p, n * sizeof *p);
    return v;
#endif
}

/* The sum of all lanes, in an order of the level's own. */
INLINE float f32_total(vf32 v)
{
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)v);
#else
    float sum = 0;
    for (size_t i = 0; i < VECTOR_BYTES / sizeof(float); i++)
        sum += v[i];
    return sum;
#endif
}

/* Lane by lane: a where the mask is all ones, b where it is 0. */
INLINE vf32 f32_choose(vu32 mask, vf32 a, vf32 b)
{
    return (vf32)((mask & (vu32)a) | (~mask & (vu32)b));
}
/* Lane by lane: a where a > b (a < b), else b: b, too, where one is not a number. */
INLINE vf32 f32_larger(vf32 a, vf32 b)
{
#if defined(__AVX512F__)
    return (vf32)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf32)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (vf32)_mm_max_ps((__m128)a, (__m128)b);
#else
    return f32_choose((vu32)(a > b), a, b);
#endif
}
INLINE vf32 f32_smaller(vf32 a, vf32 b)
{
#if defined(__AVX512F__)
    return (vf32)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf32)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (vf32)_mm_min_ps((__m128)a, (__m128)b);
#else
    return f32_choose((vu32)(a < b), a, b);
#endif
}
/* x where low < v < high, else 0. */
INLINE vf32 f32_between(vf32 x, vf32 v, vf32 low, vf32 high)
{
#if defined(__AVX512F__)
    __mmask16 above = _mm512_cmp_ps_mask((__m512)v, (__m512)low, _CMP_GT_OQ);
    return (vf32)_mm512_maskz_mov_ps(_mm512_mask_cmp_ps_mask(above, (__m512)v, (__m512)high, _CMP_LT_OQ),
                                     (__m512)x);
#else
    return (vf32)((vu32)x & (vu32)(v > low) & (vu32)(v < high));
#endif
}
INLINE vf64 f64_choose(vi64 mask, vf64 a, vf64 b)
{
    return (vf64)((mask & (vi64)a) | (~mask & (vi64)b));
}

#endif
