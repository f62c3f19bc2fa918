/* From 64 random bits to noise of scale 1, by vectors of doubles.
 *
 * A word w stands for the uniform number (w + 1/2) / 2^64, rounded to a double. Gaussian: pairs by Box and
 * Muller (1958), radius sqrt(-2 ln u), angle 2 pi v. Logistic: ln((1 - h) / h) for h uniform below 1/2, with
 * a sign; Laplace: -ln h, with a sign. Additions, products, quotients and roots only, each rounded once,
 * never fused: the same bits at every level. Logarithms and sines are within about 2 units in the last place.
 */
#include "dp/fast_noise.h"

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
enum { LANES = VECTOR_BYTES / 8, HALF = FAST_GROUP / 2 };

typedef double vec __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef uint64_t bits __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

#define INLINE static inline __attribute__((always_inline))

INLINE vec all(double x)
{
    return x - (vec){0};
}
INLINE bits each(uint64_t x)
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
    return (vec)_mm512_sqrt_pd((__m512d)a);
#elif defined(__AVX2__)
    return (vec)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
    return (vec)_mm_sqrt_pd((__m128d)a);
#else
    for (int i = 0; i < LANES; i++)
        a[i] = sqrt(a[i]);
    return a;
#endif
}

/* Whole numbers below 2^52 in the low bits of 2^52 and 2^84, whose units are 1 and 2^32. */
INLINE vec low_part(bits w)
{
    return (vec)((w & each(0xffffffff)) | each(0x4330000000000000)) - all(0x1p52);
}
INLINE vec high_part(bits w)
{
    return (vec)(w >> 32 | each(0x4530000000000000)) - all(0x1p84);
}
/* w + 1/2, rounded once. */
INLINE vec plus_half(bits w)
{
    return high_part(w) + (low_part(w) + all(0.5));
}

/* 2 atanh(s) for |s| <= 3 - 2 sqrt 2: by its series, to 2^-54 of the result. */
INLINE vec twice_atanh(vec s)
{
    static const double odd[] = {2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11,
                                 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
    vec z = s * s, p = all(odd[0]);
#pragma GCC unroll 8
    for (int i = 1; i < 9; i++)
        p = p * z + all(odd[i]);
    return (s + s) + s * (z * p);
}

/* e ln 2 + rest for a whole number e below 2^11, given as e + 2^10: e times the first part is exact. */
INLINE vec with_exponent(bits biased, vec rest)
{
    vec e = (vec)(biased | each(0x4330000000000000)) - all(0x1p52 + 0x1p10);
    return e * all(0x1.62e42fee00000p-1) + (e * all(0x1.a39ef35793c76p-33) + rest);
}

/* ln(2^power / a), a > 0 and at most 2^power: the mantissa of a is taken to lie between sqrt(1/2) and sqrt 2.
 */
INLINE vec log_below(vec a, uint64_t power)
{
    bits shifted = (bits)a - each(0x3fe6a09e00000000) + each((uint64_t)64 << 52),
         e = shifted >> 52; /* 64 + */
    vec m = (vec)((bits)a - ((e - 64) << 52)), f = m - all(1);
    return with_exponent(each(1024 + power + 64) - e, -twice_atanh(f / (all(2) + f)));
}

/* ln(b / a) for normal numbers b >= a > 0. */
INLINE vec log_ratio(vec b, vec a)
{
    const bits mantissa = each(((uint64_t)1 << 52) - 1), one = each((uint64_t)1023 << 52);
    vec above = (vec)(((bits)b & mantissa) | one), below = (vec)(((bits)a & mantissa) | one);
    bits large = (bits)(above > below * all(1.4142135623730951)),
         small = (bits)(below > above * all(1.4142135623730951));
    bits e = ((bits)b >> 52) - ((bits)a >> 52) + each(1024) - large + small; /* masks are -1 */
    above = (vec)((bits)above + (small & each((uint64_t)1 << 52)));
    below = (vec)((bits)below + (large & each((uint64_t)1 << 52)));
    return with_exponent(e, twice_atanh((above - below) / (above + below)));
}

/* cos and sin of 2 pi w / 2^64: w as a whole number of right angles and at most half of one, either way. */
INLINE void turn(vec *cosine, vec *sine, bits w)
{
    static const double sines[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                                   -1.0 / 5040,          1.0 / 120,        -1.0 / 6},
                        cosines[] = {
                            1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
                            1.0 / 40320,          -1.0 / 720,         1.0 / 24,        -1.0 / 2};
    bits moved = w + each((uint64_t)1 << 61), quarter = moved >> 62,
         rest = moved & each(((uint64_t)1 << 62) - 1);
    vec x = ((high_part(rest) + low_part(rest)) - all(0x1p61)) * all(0x1.921fb54442d18p-62); /* 2 pi / 2^64 */
    vec z = x * x, s = all(sines[0]), c = all(cosines[0]);
#pragma GCC unroll 8
    for (int i = 1; i < 7; i++)
        s = s * z + all(sines[i]);
#pragma GCC unroll 8
    for (int i = 1; i < 8; i++)
        c = c * z + all(cosines[i]);
    s = x + x * (z * s);
    c = all(1) + z * c;
    bits odd = -(quarter & each(1));
    *cosine = (vec)((bits)choose(odd, s, c) ^ ((quarter + each(1)) >> 1 << 63));
    *sine = (vec)((bits)choose(odd, c, s) ^ (quarter >> 1 << 63));
}

/* Of 16 words the first 8 give radii, the others angles. */
static void gaussian(double *unit, const uint64_t *words, size_t groups)
{
    for (size_t g = 0; g < groups; g++, unit += FAST_GROUP, words += FAST_GROUP)
        for (size_t i = 0; i < HALF; i += LANES) {
            vec radius = log_below(plus_half(*(const bits *)(words + i)), 64), cosine, sine;
            turn(&cosine, &sine, *(const bits *)(words + HALF + i));
            radius = root(radius + radius);
            *(vec *)(unit + i) = radius * cosine;
            *(vec *)(unit + HALF + i) = radius * sine;
        }
}

/* The last bit is the sign. */
static void logistic(double *unit, const uint64_t *words, size_t groups)
{
    for (size_t i = 0; i < groups * FAST_GROUP; i += LANES) {
        bits w = *(const bits *)(words + i);
        vec a = plus_half(w >> 1);
        *(vec *)(unit + i) = (vec)((bits)log_ratio(all(0x1p64) - a, a) ^ w << 63);
    }
}

static void laplace(double *unit, const uint64_t *words, size_t groups)
{
    for (size_t i = 0; i < groups * FAST_GROUP; i += LANES) {
        bits w = *(const bits *)(words + i);
        *(vec *)(unit + i) = (vec)((bits)log_below(plus_half(w >> 1), 63) ^ w << 63);
    }
}

static bool within(const double *x, size_t n, double most)
{
    uint64_t out = 0;
    for (size_t i = 0; i < n; i++)
        out |= fabs(x[i]) < most ? 0 : 1;
    return !out;
}

static void add(double *sum, const double *unit, size_t n, double scale)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += scale * unit[i];
}

extern const struct fast_kernels ISA_NAME(fast_kernels);
const struct fast_kernels ISA_NAME(fast_kernels) = {{NULL, gaussian, logistic, laplace}, within, add};
