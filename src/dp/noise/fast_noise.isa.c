/* From random bits to noise of scale 1, by vectors of floats: 32 draws at a time.
 *
 * Words of 32 bits. An upper word h and a lower word l stand for the uniform number u = (2^32 h + l + 1/2) /
 * 2^64, known to 2^-24 of itself or of 1 - u, whichever is smaller: so draws keep their relative accuracy
 * both far out and near 0. Gaussian: pairs by Box and Muller (1958), radius sqrt(-2 ln u), angle 2 pi v; 16
 * upper and 16 lower words give radii, 16 more the angles, of 32 draws. Logistic: ln((1 - u) / u) for u below
 * 1/2, with a sign; Laplace: -ln 2 u, with a sign; 32 upper and 32 lower words, whose first bit is the sign.
 *
 * Additions, products, quotients and roots only, each rounded once, never fused: the same bits at every
 * level. Polynomials are those of least largest error (relative; the cosine's absolute), below 2^-28. */
#include "dp/noise/fast_noise.h"

#include "base/cpu.h"

#include <math.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
enum { LANES = VECTOR_BYTES / 4, HALF = FAST_BLOCK / 2 };

typedef float vec __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint32_t bits __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t whole __attribute__((vector_size(VECTOR_BYTES), may_alias));
/* In memory, at any word; as values, gcc 14 for ARM cannot compile these. */
typedef vec stored_vec __attribute__((aligned(4)));
typedef bits stored_bits __attribute__((aligned(4)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec all(float x)
{
    return x - (vec){0};
}
INLINE bits each(uint32_t x)
{
    return x - (bits){0};
}
INLINE vec choose(bits mask, vec a, vec b)
{
    return (vec)((mask & (bits)a) | (~mask & (bits)b));
}
INLINE vec root(vec a)
{
#if defined(__AVX512F__)
    return (vec)_mm512_sqrt_ps((__m512)a);
#elif defined(__AVX2__)
    return (vec)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
    return (vec)_mm_sqrt_ps((__m128)a);
#else
    for (int i = 0; i < LANES; i++)
        a[i] = sqrtf(a[i]);
    return a;
#endif
}
INLINE bits load(const uint32_t *words)
{
    return *(const stored_bits *)words;
}

/* A number of at most 31 bits, rounded once. */
INLINE vec signed_value(bits w)
{
    return __builtin_convertvector((whole)w, vec);
}
/* A word, rounded once. */
INLINE vec value(bits w)
{
#if defined(__AVX512F__)
    return (vec)_mm512_cvtepu32_ps((__m512i)w);
#else
    return signed_value(w >> 16) * all(0x1p16f) + signed_value(w & each(0xffff));
#endif
}
/* h + (l + 1/2) / 2^32. */
INLINE vec number(bits h, bits l)
{
    return value(h) + (value(l) + all(0.5f)) * all(0x1p-32f);
}

/* 2 atanh(s) for |s| <= 3 - 2 sqrt 2. */
INLINE vec twice_atanh(vec s)
{
    vec z = s * s, p = all(0x1.32d782p-2f);
    p = p * z + all(0x1.9953a6p-2f);
    p = p * z + all(0x1.55558ap-1f);
    return (s + s) + s * (z * p);
}

/* e ln 2 + rest for a whole number e of at most 7 bits: e times the first part is exact. */
INLINE vec with_exponent(whole e, vec rest)
{
    vec count = __builtin_convertvector(e, vec);
    return count * all(0x1.63p-1f) + (count * all(-0x1.bd0106p-13f) + rest);
}

/* -ln u for u = (2^32 h + l + 1/2) / 2^power, power 64 or 63 with h below 2^31. Above sqrt(1/2) it is the
 * distance from 1 that counts. */
INLINE vec minus_log(bits h, bits l, int power)
{
    bits top = each(power == 64 ? 0xffffffff : 0x7fffffff),
         near = (bits)(h > each(power == 64 ? 0xb504f333 : 0x5a827999));
    vec a = number(h ^ (near & top), l ^ near);
    bits shifted = (bits)a - each(0x3f3504f3);
    whole e = (whole)shifted >> 23;
    vec m = (vec)((bits)a - ((bits)e << 23));
    vec f = choose(near, a * all(power == 64 ? -0x1p-32f : -0x1p-31f), m - all(1));
    e = (whole)(~near & (bits)(power - 32 - e));
    return with_exponent(e, -twice_atanh(f / (all(2) + f)));
}

/* ln((1 - u) / u) for u = (2^32 h + l + 1/2) / 2^64, h below 2^31. Near u = 1/2 it is the distance from there
 * that counts: 2 atanh(1 - 2 u). */
INLINE vec log_odds(bits h, bits l)
{
    const bits mantissa = each(0x7fffff), one = each(0x3f800000);
    vec away = number(h ^ each(0x7fffffff), ~l) * all(0x1p-31f); /* 1 - 2 u */
    vec a = number(h, l) * all(0x1p-31f), b = all(1) + away;     /* 2 u, 2 (1 - u) */
    bits near = (bits)(away < all(0.125f));
    vec above = (vec)(((bits)b & mantissa) | one), below = (vec)(((bits)a & mantissa) | one);
    bits large = (bits)(above > below * all(1.4142135f)), small = (bits)(below > above * all(1.4142135f));
    whole e = (whole)(((bits)b >> 23) - ((bits)a >> 23) - large + small); /* masks are -1 */
    above = (vec)((bits)above + (small & each(1 << 23)));
    below = (vec)((bits)below + (large & each(1 << 23)));
    vec s = choose(near, away, (above - below) / (above + below));
    return with_exponent((whole)(~near & (bits)e), twice_atanh(s));
}

/* cos and sin of 2 pi (w + 1/2) / 2^32: w as a whole number of right angles and at most half of one, either
 * way. */
INLINE void turn(vec *cosine, vec *sine, bits w)
{
    bits moved = w + each(1u << 29), quarter = moved >> 30,
         rest = (moved & each((1u << 30) - 1)) - each(1u << 29);
    vec x = (signed_value(rest) + all(0.5f)) * all(0x1.921fb6p-30f), z = x * x; /* 2 pi / 2^32 */
    vec s = all(-0x1.9856d4p-13f), c = all(0x1.9be5fap-16f);
    s = s * z + all(0x1.1103dap-7f);
    s = s * z + all(-0x1.55553ap-3f);
    c = c * z + all(-0x1.6c133ap-10f);
    c = c * z + all(0x1.555554p-5f);
    s = x + x * (z * s);
    c = all(1) - (z * all(0.5f) - (z * z) * c);
    bits odd = -(quarter & each(1));
    *cosine = (vec)((bits)choose(odd, s, c) ^ ((quarter + each(1)) >> 1 << 31));
    *sine = (vec)((bits)choose(odd, c, s) ^ (quarter >> 1 << 31));
}

static void gaussian(float *unit, const uint32_t *words, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++, unit += FAST_BLOCK, words += 3 * HALF)
        for (size_t i = 0; i < HALF; i += LANES) {
            vec radius = minus_log(load(words + i), load(words + HALF + i), 64), cosine, sine;
            turn(&cosine, &sine, load(words + 2 * HALF + i));
            radius = root(radius + radius);
            *(stored_vec *)(unit + i) = radius * cosine;
            *(stored_vec *)(unit + HALF + i) = radius * sine;
        }
}

static void logistic(float *unit, const uint32_t *words, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++, unit += FAST_BLOCK, words += 2 * FAST_BLOCK)
        for (size_t i = 0; i < FAST_BLOCK; i += LANES) {
            bits h = load(words + i), sign = h & each(0x80000000);
            *(stored_vec *)(unit + i) = (vec)((bits)log_odds(h ^ sign, load(words + FAST_BLOCK + i)) | sign);
        }
}

static void laplace(float *unit, const uint32_t *words, size_t blocks)
{
    for (size_t b = 0; b < blocks; b++, unit += FAST_BLOCK, words += 2 * FAST_BLOCK)
        for (size_t i = 0; i < FAST_BLOCK; i += LANES) {
            bits h = load(words + i), sign = h & each(0x80000000);
            *(stored_vec *)(unit + i) =
                (vec)((bits)minus_log(h ^ sign, load(words + FAST_BLOCK + i), 63) | sign);
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
