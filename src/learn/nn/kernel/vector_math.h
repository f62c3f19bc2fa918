/* vector_math.h - sixteen floats at a time, for NAME.isa.c files only.
 *
 * The sixteen lanes are fixed, whatever the register width, and no multiply-add is contracted: a sum over
 * lanes has the same bits on every instruction set. Where lanes do not meet, wide_*() take vectors of the level's
 * own width: longer ones than registers go through memory. */
#ifndef NN_KERNEL_VECTOR_MATH_H
#define NN_KERNEL_VECTOR_MATH_H

#include "base/simd.h"

#include <string.h>

enum { LANES = 16 };
/* As many as a vf32 has. */
typedef uint16_t vu16_half __attribute__((vector_size(VECTOR_BYTES / 2)));

INLINE f32x16 lanes_load(const float *from)
{
    f32x16 x;
    memcpy(&x, from, sizeof x);
    return x;
}

INLINE void lanes_store(float *to, f32x16 x)
{
    memcpy(to, &x, sizeof x);
}

/** The first n < LANES floats; the other lanes hold `fill`. */
INLINE f32x16 lanes_load_part(const float *from, size_t n, float fill)
{
    f32x16 x = (f32x16){0} + fill;
    memcpy(&x, from, n * sizeof *from);
    return x;
}

INLINE f32x16 lanes_from_bf16(u16x16 h)
{
#ifdef __AVX512F__
    return (f32x16)_mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)h), 16); /* gcc 12 converts halves */
#else
    return (f32x16)(__builtin_convertvector(h, u32x16) << 16);
#endif
}

/** Rounds to nearest even as VCVTNEPS2BF16 does: a NaN stays a NaN, and what is below 2^-126 becomes 0. */
INLINE u16x16 lanes_to_bf16(f32x16 x)
{
#ifdef __AVX512BF16__
    return (u16x16)_mm512_cvtneps_pbh((__m512)x);
#else
    u32x16 bits = (u32x16)x, rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, nan = (u32x16)(x != x),
           kept = (u32x16)((bits & 0x7f800000) != 0) | 0x8000;
    return __builtin_convertvector((rounded & ~nan & kept) | (((bits >> 16) | 0x40) & nan), u16x16);
#endif
}

/** n <= LANES elements from position i of a f32 (half = 0) or bf16 (half = 1) array; the other lanes are 0. n
 * is a constant LANES in the hot loops, so that the branch and the copy fold into one load. */
INLINE f32x16 lanes_get(const void *array, size_t i, size_t n, int half)
{
    if (half) {
        u16x16 h = {0};
        memcpy(&h, (const uint16_t *)array + i, n * sizeof(uint16_t));
        return lanes_from_bf16(h);
    }
    f32x16 x = {0};
    memcpy(&x, (const float *)array + i, n * sizeof(float));
    return x;
}

INLINE void lanes_put(void *array, size_t i, f32x16 x, size_t n, int half)
{
    if (half) {
        u16x16 h = lanes_to_bf16(x);
        memcpy((uint16_t *)array + i, &h, n * sizeof(uint16_t));
    } else
        memcpy((float *)array + i, &x, n * sizeof(float));
}

INLINE vf32 wide_from_bf16(vu16_half h)
{
#ifdef __AVX512F__
    return (vf32)lanes_from_bf16((u16x16)h);
#else
    return (vf32)(__builtin_convertvector(h, vu32) << 16);
#endif
}

INLINE vu16_half wide_to_bf16(vf32 x)
{
#ifdef __AVX512F__
    return (vu16_half)lanes_to_bf16((f32x16)x);
#else
    vu32 bits = (vu32)x, rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, nan = (vu32)(x != x),
         kept = (vu32)((bits & 0x7f800000) != 0) | 0x8000;
    return __builtin_convertvector((rounded & ~nan & kept) | (((bits >> 16) | 0x40) & nan), vu16_half);
#endif
}

INLINE vf32 wide_get(const void *array, size_t i, size_t n, int half)
{
    if (half) {
        vu16_half h = {0};
        memcpy(&h, (const uint16_t *)array + i, n * sizeof(uint16_t));
        return wide_from_bf16(h);
    }
    vf32 x = {0};
    memcpy(&x, (const float *)array + i, n * sizeof(float));
    return x;
}

INLINE void wide_put(void *array, size_t i, vf32 x, size_t n, int half)
{
    if (half) {
        vu16_half h = wide_to_bf16(x);
        memcpy((uint16_t *)array + i, &h, n * sizeof(uint16_t));
    } else
        memcpy((float *)array + i, &x, n * sizeof(float));
}

INLINE f32x16 lanes_select(i32x16 mask, f32x16 yes, f32x16 no)
{
    return (f32x16)(((i32x16)yes & mask) | ((i32x16)no & ~mask));
}

INLINE f32x16 lanes_max(f32x16 a, f32x16 b)
{
    return lanes_select(a > b, a, b);
}

INLINE float lanes_sum(f32x16 x)
{
    float s[LANES];
    lanes_store(s, x);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            s[i] += s[i + width];
    return s[0];
}

INLINE float lanes_top(f32x16 x)
{
    float s[LANES], top;
    lanes_store(s, x);
    top = s[0];
    for (int i = 1; i < LANES; i++)
        top = s[i] > top ? s[i] : top;
    return top;
}

/** e^x by x = n ln 2 + r, |r| <= ln(2)/2, and the Taylor polynomial of degree 7 in r (truncation below 6e-9).
 *  Relative error below 2e-7. x is cut to [-87, 88], so nothing under- or overflows; NaN stays NaN. */
INLINE f32x16 lanes_exp(f32x16 x)
{
    const f32x16 low = (f32x16){0} - 87.0f, high = (f32x16){0} + 88.0f;
    x = lanes_select(x < low, low, x);
    x = lanes_select(x > high, high, x);
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low mantissa bits */
    f32x16 shifted = x * 1.44269504f + magic;
    f32x16 n = shifted - magic;
    f32x16 r =
        (x - n * 0.693359375f) - n * -2.12194440e-4f; /* ln 2 in two parts, the first exact in 10 bits */
    f32x16 p = (f32x16){0} + 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = (p * r) * r + r + 1.0f;
    i32x16 power = ((i32x16)shifted - 0x4b400000) + 127; /* 0x4b400000: the bits of magic */
    return p * (f32x16)(power << 23);
}

#endif
