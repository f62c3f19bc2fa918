/* vector_math.h - sixteen floats at a time, for NAME.isa.c files only.
 *
 * The sixteen lanes are fixed, whatever the register width, and no multiply-add is contracted: a sum over
 * lanes has the same bits on every instruction set. */
#ifndef NN_KERNEL_VECTOR_MATH_H
#define NN_KERNEL_VECTOR_MATH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Everything is inlined, so no vector crosses a call and its ABI does not matter. */
#define LANE_INLINE static inline __attribute__((always_inline))

enum { LANES = 16 };
typedef float lanes __attribute__((vector_size(64)));
typedef int32_t lane_ints __attribute__((vector_size(64)));

LANE_INLINE lanes lanes_load(const float *from)
{
    lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}

LANE_INLINE void lanes_store(float *to, lanes x)
{
    memcpy(to, &x, sizeof x);
}

/** The first n < LANES floats; the other lanes hold `fill`. */
LANE_INLINE lanes lanes_load_part(const float *from, size_t n, float fill)
{
    lanes x = (lanes){0} + fill;
    memcpy(&x, from, n * sizeof *from);
    return x;
}

typedef uint16_t lane_halves __attribute__((vector_size(32)));
typedef uint32_t lane_words __attribute__((vector_size(64)));

LANE_INLINE lanes lanes_from_bf16(lane_halves h)
{
    return (lanes)(__builtin_convertvector(h, lane_words) << 16);
}

/** Rounds to nearest even; a NaN stays a NaN. */
LANE_INLINE lane_halves lanes_to_bf16(lanes x)
{
    lane_words bits = (lane_words)x, rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    lane_words nan = (lane_words)(x != x);
    return __builtin_convertvector((rounded & ~nan) | (((bits >> 16) | 0x40) & nan), lane_halves);
}

/** n <= LANES elements from position i of a f32 (half = 0) or bf16 (half = 1) array; the other lanes are 0. n
 * is a constant LANES in the hot loops, so that the branch and the copy fold into one load. */
LANE_INLINE lanes lanes_get(const void *array, size_t i, size_t n, int half)
{
    if (half) {
        lane_halves h = {0};
        memcpy(&h, (const uint16_t *)array + i, n * sizeof(uint16_t));
        return lanes_from_bf16(h);
    }
    lanes x = {0};
    memcpy(&x, (const float *)array + i, n * sizeof(float));
    return x;
}

LANE_INLINE void lanes_put(void *array, size_t i, lanes x, size_t n, int half)
{
    if (half) {
        lane_halves h = lanes_to_bf16(x);
        memcpy((uint16_t *)array + i, &h, n * sizeof(uint16_t));
    } else
        memcpy((float *)array + i, &x, n * sizeof(float));
}

LANE_INLINE lanes lanes_select(lane_ints mask, lanes yes, lanes no)
{
    return (lanes)(((lane_ints)yes & mask) | ((lane_ints)no & ~mask));
}

LANE_INLINE lanes lanes_max(lanes a, lanes b)
{
    return lanes_select(a > b, a, b);
}

LANE_INLINE float lanes_sum(lanes x)
{
    float s[LANES];
    lanes_store(s, x);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            s[i] += s[i + width];
    return s[0];
}

LANE_INLINE float lanes_top(lanes x)
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
LANE_INLINE lanes lanes_exp(lanes x)
{
    const lanes low = (lanes){0} - 87.0f, high = (lanes){0} + 88.0f;
    x = lanes_select(x < low, low, x);
    x = lanes_select(x > high, high, x);
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low mantissa bits */
    lanes shifted = x * 1.44269504f + magic;
    lanes n = shifted - magic;
    lanes r =
        (x - n * 0.693359375f) - n * -2.12194440e-4f; /* ln 2 in two parts, the first exact in 10 bits */
    lanes p = (lanes){0} + 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = (p * r) * r + r + 1.0f;
    lane_ints power = ((lane_ints)shifted - 0x4b400000) + 127; /* 0x4b400000: the bits of magic */
    return p * (lanes)(power << 23);
}

#endif
