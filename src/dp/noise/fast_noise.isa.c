/* From random bits to noise of scale 1, by vectors of floats: 32 draws at a time.
 *
 * Words of 32 bits. An upper word h and a lower word l stand for the uniform number u = (2^32 h + l + 1/2) /
 * 2^64, known to 2^-24 of itself or of 1 - u, whichever is smaller: so draws keep their relative accuracy
 * both far out and near 0. Gaussian: pairs by Box and Muller (1958), radius sqrt(-2 ln u), angle 2 pi v; 16
 * upper and 16 lower words give radii, 16 more the angles, of 32 draws. Logistic: ln((1 - u) / u) for u below
 * 1/2, with a sign; Laplace: -ln 2 u, with a sign; 32 upper and 32 lower words (first bit: the sign).
 *
 * Additions, products, quotients and roots only, each rounded once, never fused: the same bits at every
 * level. Polynomials are those of least largest error (relative; the cosine's absolute), below 2^-28. */
#include "dp/noise/fast_noise.h"

#include "base/cpu.h"
#include "base/simd.h"

enum { LANES = VECTOR_BYTES / 4, HALF = FAST_BLOCK / 2 };

INLINE vu32 load(const uint32_t *words)
{
    return *(const stored_u32 *)words;
}

/* A number of at most 31 bits, rounded once. */
INLINE vf32 signed_value(vu32 w)
{
    return __builtin_convertvector((vi32)w, vf32);
}
/* A word, rounded once. */
INLINE vf32 value(vu32 w)
{
#if defined(__AVX512F__)
    return (vf32)_mm512_cvtepu32_ps((__m512i)w);
#else
    return signed_value(w >> 16) * f32_all(0x1p16f) + signed_value(w & u32_all(0xffff));
#endif
}
/* h + (l + 1/2) / 2^32. */
INLINE vf32 number(vu32 h, vu32 l)
{
    return value(h) + (value(l) + f32_all(0.5f)) * f32_all(0x1p-32f);
}

/* 2 atanh(s) for |s| <= 3 - 2 sqrt 2. */
INLINE vf32 twice_atanh(vf32 s)
{
    vf32 z = s * s, p = f32_all(0x1.32d782p-2f);
    p = p * z + f32_all(0x1.9953a6p-2f);
    p = p * z + f32_all(0x1.55558ap-1f);
    return (s + s) + s * (z * p);
}

/* e ln 2 + rest for a whole number e of at most 7 bits: e times the first part is exact. */
INLINE vf32 with_exponent(vi32 e, vf32 rest)
{
    vf32 count = __builtin_convertvector(e, vf32);
    return count * f32_all(0x1.63p-1f) + (count * f32_all(-0x1.bd0106p-13f) + rest);
}

/* -ln u for u = (2^32 h + l + 1/2) / 2^power, power 64 or 63 with h below 2^31. Above sqrt(1/2) it is the
 * distance from 1 that counts. */
INLINE vf32 minus_log(vu32 h, vu32 l, int power)
{
    vu32 top = u32_all(power == 64 ? 0xffffffff : 0x7fffffff),
         near = (vu32)(h > u32_all(power == 64 ? 0xb504f333 : 0x5a827999));
    vf32 a = number(h ^ (near & top), l ^ near);
    vu32 shifted = (vu32)a - u32_all(0x3f3504f3);
    vi32 e = (vi32)shifted >> 23;
    vf32 m = (vf32)((vu32)a - ((vu32)e << 23));
    vf32 f = f32_choose(near, a * f32_all(power == 64 ? -0x1p-32f : -0x1p-31f), m - f32_all(1));
    e = (vi32)(~near & (vu32)(power - 32 - e));
    return with_exponent(e, -twice_atanh(f / (f32_all(2) + f)));
}

/* ln((1 - u) / u) for u = (2^32 h + l + 1/2) / 2^64, h below 2^31. Near u = 1/2 it is the distance from there
 * that counts: 2 atanh(1 - 2 u). */
INLINE vf32 log_odds(vu32 h, vu32 l)
{
    const vu32 mantissa = u32_all(0x7fffff), one = u32_all(0x3f800000);
    vf32 away = number(h ^ u32_all(0x7fffffff), ~l) * f32_all(0x1p-31f); /* 1 - 2 u */
    vf32 a = number(h, l) * f32_all(0x1p-31f), b = f32_all(1) + away;    /* 2 u, 2 (1 - u) */
    vu32 near = (vu32)(away < f32_all(0.125f));
    vf32 above = (vf32)(((vu32)b & mantissa) | one), below = (vf32)(((vu32)a & mantissa) | one);
    vu32 large = (vu32)(above > below * f32_all(1.4142135f)),
         small = (vu32)(below > above * f32_all(1.4142135f));
    vi32 e = (vi32)(((vu32)b >> 23) - ((vu32)a >> 23) - large + small); /* masks are -1 */
    above = (vf32)((vu32)above + (small & u32_all(1 << 23)));
    below = (vf32)((vu32)below + (large & u32_all(1 << 23)));
    vf32 s = f32_choose(near, away, (above - below) / (above + below));
    return with_exponent((vi32)(~near & (vu32)e), twice_atanh(s));
}

/* cos and sin of 2 pi (w + 1/2) / 2^32: w as a whole number of right angles and at most half of one, either
 * way. */
INLINE void turn(vf32 *cosine, vf32 *sine, vu32 w)
{
    vu32 moved = w + u32_all(1u << 29), quarter = moved >> 30,
         rest = (moved & u32_all((1u << 30) - 1)) - u32_all(1u << 29);
    vf32 x = (signed_value(rest) + f32_all(0.5f)) * f32_all(0x1.921fb6p-30f), z = x * x; /* 2 pi / 2^32 */
    vf32 s = f32_all(-0x1.9856d4p-13f), c = f32_all(0x1.9be5fap-16f);
    s = s * z + f32_all(0x1.1103dap-7f);
    s = s * z + f32_all(-0x1.55553ap-3f);
    c = c * z + f32_all(-0x1.6c133ap-10f);
    c = c * z + f32_all(0x1.555554p-5f);
    s = x + x * (z * s);
    c = f32_all(1) - (z * f32_all(0.5f) - (z * z) * c);
    vu32 odd = -(quarter & u32_all(1));
    *cosine = (vf32)((vu32)f32_choose(odd, s, c) ^ ((quarter + u32_all(1)) >> 1 << 31));
    *sine = (vf32)((vu32)f32_choose(odd, c, s) ^ (quarter >> 1 << 31));
}

static void gaussian(float *unit, const uint32_t *words, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++, unit += FAST_BLOCK, words += 3 * HALF)
        for (size_t i = 0; i < HALF; i += LANES) {
            vf32 radius = minus_log(load(words + i), load(words + HALF + i), 64), cosine, sine;
            turn(&cosine, &sine, load(words + 2 * HALF + i));
            radius = f32_sqrt(radius + radius);
            *(stored_f32 *)(unit + i) = radius * cosine;
            *(stored_f32 *)(unit + HALF + i) = radius * sine;
        }
}

static void logistic(float *unit, const uint32_t *words, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++, unit += FAST_BLOCK, words += 2 * FAST_BLOCK)
        for (size_t i = 0; i < FAST_BLOCK; i += LANES) {
            vu32 h = load(words + i), sign = h & u32_all(0x80000000);
            *(stored_f32 *)(unit + i) = (vf32)((vu32)log_odds(h ^ sign, load(words + FAST_BLOCK + i)) | sign);
        }
}

static void laplace(float *unit, const uint32_t *words, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++, unit += FAST_BLOCK, words += 2 * FAST_BLOCK)
        for (size_t i = 0; i < FAST_BLOCK; i += LANES) {
            vu32 h = load(words + i), sign = h & u32_all(0x80000000);
            *(stored_f32 *)(unit + i) =
                (vf32)((vu32)minus_log(h ^ sign, load(words + FAST_BLOCK + i), 63) | sign);
        }
}

static bool within(const double *x, size_t n, double most)
{
    uint64_t out = 0;
    for (size_t i = 0; i < n; i++)
        out |= fabs(x[i]) < most ? 0 : 1;
    return !out;
}

static bool within_floats(const float *x, size_t n, double most)
{
    uint64_t out = 0;
    for (size_t i = 0; i < n; i++)
        out |= fabs((double)x[i]) < most ? 0 : 1;
    return !out;
}

/* To whole units of 2^k and back, by adding what has that unit: 1.5 * 2^(k + 52). */
static void add(double *sum, const float *unit, size_t n, double scale, double unit_of_sum)
{
    double large = unit_of_sum * 0x1.8p52;
    for (size_t i = 0; i < n; i++)
        sum[i] = sum[i] + scale * (double)unit[i] + large - large;
}

/* The scale stays a double: a rounded one could be smaller. */
static void add_floats(float *sum, const float *unit, size_t n, double scale)
{
    for (size_t i = 0; i < n; i++)
        sum[i] = (float)((double)sum[i] + scale * (double)unit[i]);
}

extern const struct fast_kernels ISA_NAME(fast_kernels);
const struct fast_kernels ISA_NAME(fast_kernels) = {
    {NULL, gaussian, logistic, laplace}, within, within_floats, add, add_floats};
