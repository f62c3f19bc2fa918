/* From words to floors, by vectors of doubles: y by a logarithm (Gaussian: and a root, cosine and sine), t = m y,
 * its distance d to the nearest integer, and whether that settles the floor. Any rounding will do that the
 * bounds allow for: levels may fuse or not, and every settled floor is the same. docs/derivations/exact-noise.md,
 * section 3, has the proof, line by line. */
#include "dp/noise/discretised_kernel.h"

#include "base/cpu.h"
#include "base/simd.h"
#include "dp/noise/discretised_polynomials.h"

#include <float.h>

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)
#error "the proof needs doubles that are rounded after every operation, in the order written"
#endif

enum { LANES = VECTOR_BYTES / 8 };

#define FIRST_BIT ((uint64_t)1 << 63)
#define LARGE 0x1.8p52 /* added to a number below 2^51, leaves its nearest integer in the last place */
#define INVERSE (((uint64_t)2046) << 52)
static const double LN2_HIGH = 0x1.62e42fefa38p-1, LN2_LOW = 0x1.ef35793c7673p-45;

INLINE vu64 u64_all(uint64_t x)
{
    return x - (vu64){0};
}

#if !defined(__AVX512DQ__)
/* Rounded once: two halves, each in the last places of a large number. */
INLINE vf64 halves(vu64 high, vu64 low, double large)
{
    vf64 upper = (vf64)(high | (vu64)f64_all(0x1p84)), lower = (vf64)(low | (vu64)f64_all(0x1p52));
    return (upper - f64_all(large)) + lower;
}
#endif
INLINE vf64 unsigned_value(vu64 w)
{
#if defined(__AVX512DQ__)
    return (vf64)_mm512_cvtepu64_pd((__m512i)w);
#else
    return halves(w >> 32, w & u64_all(0xffffffff), 0x1p84 + 0x1p52);
#endif
}
INLINE vf64 signed_value(vu64 w)
{
#if defined(__AVX512DQ__)
    return (vf64)_mm512_cvtepi64_pd((__m512i)w);
#else
    w ^= u64_all(FIRST_BIT);
    return halves(w >> 32, w & u64_all(0xffffffff), 0x1p84 + 0x1p63 + 0x1p52);
#endif
}

/* Bit i: x[i] <= limit[i], or one of them is no number. */
INLINE uint64_t not_above(vf64 x, vf64 limit)
{
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)x, (__m512d)limit, _CMP_NGT_UQ);
#elif defined(__AVX__)
    return (uint64_t)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, (__m256d)limit, _CMP_NGT_UQ));
#elif defined(__SSE2__)
    return (uint64_t)_mm_movemask_pd(_mm_cmpngt_pd((__m128d)x, (__m128d)limit));
#else
    uint64_t bits = 0;
    for (int i = 0; i < LANES; i++)
        bits |= (uint64_t) !(x[i] > limit[i]) << i;
    return bits;
#endif
}

INLINE vf64 line(vf64 z, const double *c)
{
    return f64_fma(f64_all(c[1]), z, f64_all(c[0]));
}
/* Polynomial with 6 or 7 coefficients, in pairs (Estrin's scheme), which shortens the chain. */
INLINE vf64 polynomial(vf64 z, const double *c, int count)
{
    vf64 z2 = z * z, top = line(z, c + 4);
    if (count == 7)
        top = f64_fma(f64_all(c[6]), z2, top);
    return f64_fma(f64_fma(top, z2, line(z, c + 2)), z2, line(z, c));
}

/* ln(a / b), a >= b >= 1/4: b is brought to within 2/3 and 3/2 of a by a power of two, then 2 atanh. */
INLINE vf64 log_ratio(vf64 a, vf64 b)
{
    vu64 power = ((vu64)a - (vu64)b + u64_all((uint64_t)1 << 51)) & u64_all(~(uint64_t)0 << 52);
    vf64 near = (vf64)((vu64)b + power);
    vf64 e = (vf64)(power >> 52 | (vu64)f64_all(0x1p52)) - f64_all(0x1p52);
    vf64 f = (a - near) / (a + near), z = f * f;
    vf64 low = f64_fma(e, f64_all(LN2_LOW), f * z * polynomial(z, log_polynomial, 7));
    return f64_fma(e, f64_all(LN2_HIGH), (f + f) + low);
}

/* At least 1 / x, and 1 / x for powers of two: the chord between these, for positive x. */
INLINE vf64 inverse_above(vf64 x)
{
    return (vf64)(u64_all(INVERSE) - (vu64)x);
}

/* cos and sin of 2 pi w / 2^64: a whole number of right angles and at most half of one, either way. */
INLINE void turn(vf64 *cosine, vf64 *sine, vu64 w)
{
    vu64 quarter = w + u64_all((uint64_t)1 << 61);
    vf64 x = signed_value(w << 2) * f64_all(0x1.921fb54442d18p-64), z = x * x; /* 2 pi / 2^66 */
    vf64 s = f64_fma(x * z, polynomial(z, sine_polynomial, 6), x);
    vf64 c = f64_fma(z * z, polynomial(z, cosine_polynomial, 6), f64_all(-0.5) * z) + f64_all(1);
    vi64 odd = (vi64)(quarter << 1) < (vi64){0};
    *cosine =
        (vf64)((vu64)f64_choose(odd, s, c) ^ ((quarter + u64_all((uint64_t)1 << 62)) & u64_all(FIRST_BIT)));
    *sine = (vf64)((vu64)f64_choose(odd, c, s) ^ (quarter & u64_all(FIRST_BIT)));
}

/* floor(t) for |t| < 2^51 that is no integer; *distance is that to the nearest one, exactly. */
INLINE vf64 floor_of(vf64 *distance, vf64 t)
{
    vf64 nearest = (t + f64_all(LARGE)) - f64_all(LARGE), d = t - nearest;
    *distance = (vf64)((vu64)d & u64_all(~FIRST_BIT));
    return nearest - (vf64)((vi64)(d < (vf64){0}) & (vi64)f64_all(1));
}

/* The larger and the smaller of two; y if one of them is no number. */
INLINE vf64 larger(vf64 x, vf64 y)
{
#if defined(__AVX512F__)
    return (vf64)_mm512_max_pd((__m512d)x, (__m512d)y);
#elif defined(__AVX__)
    return (vf64)_mm256_max_pd((__m256d)x, (__m256d)y);
#else
    return f64_choose((vi64)(x > y), x, y);
#endif
}
INLINE vf64 smaller(vf64 x, vf64 y)
{
#if defined(__AVX512F__)
    return (vf64)_mm512_min_pd((__m512d)x, (__m512d)y);
#elif defined(__AVX__)
    return (vf64)_mm256_min_pd((__m256d)x, (__m256d)y);
#else
    return f64_choose((vi64)(x < y), x, y);
#endif
}

/* One vector of draws with a sign. */
INLINE uint64_t draw_signed(double *k, const uint64_t *words, enum discretised_law law,
                            const struct floor_bounds *c)
{
    vu64 w = *(const stored_u64 *)words, sign = w & u64_all(FIRST_BIT);
    vf64 b = unsigned_value(w ^ sign) + f64_all(c->half), distance;
    vf64 a = f64_all(0x1p63);
    if (law == DISCRETISED_LOGISTIC)
        a = f64_all(0x1p64) - b;
    vf64 y = log_ratio(a, b);
    vf64 error =
        f64_fma(f64_all(c->word), inverse_above(b), f64_fma(f64_all(c->slope), y, f64_all(c->constant)));
    vf64 t = f64_all(c->m) * y;
    if (law == DISCRETISED_DISCRETE_LAPLACE) {
        vf64 size = floor_of(&distance, t + f64_all(c->shift));
        *(stored_f64 *)k = (vf64)((vu64)size ^ sign) + f64_all(0); /* no -0 */
    } else
        *(stored_f64 *)k = floor_of(&distance, (vf64)((vu64)t ^ sign));
    return not_above(distance, larger(f64_all(c->flat), error));
}

INLINE void draw_groups(double *k, uint64_t *undecided, const uint64_t *words, size_t groups,
                        enum discretised_law law, const struct floor_bounds *bounds)
{
    const struct floor_bounds c = *bounds;
    for (size_t h = 0; h < 2 * groups; h++, k += 64, words += 64) {
        uint64_t bits = 0;
        for (unsigned i = 0; i < 64; i += LANES)
            bits |= draw_signed(k + i, words + i, law, &c) << i;
        undecided[h] = bits;
    }
}

static void draw_logistic(double *k, uint64_t *undecided, const uint64_t *words, size_t groups,
                          const struct floor_bounds *bounds)
{
    draw_groups(k, undecided, words, groups, DISCRETISED_LOGISTIC, bounds);
}
static void draw_laplace(double *k, uint64_t *undecided, const uint64_t *words, size_t groups,
                         const struct floor_bounds *bounds)
{
    draw_groups(k, undecided, words, groups, DISCRETISED_LAPLACE, bounds);
}
static void draw_discrete_laplace(double *k, uint64_t *undecided, const uint64_t *words, size_t groups,
                                  const struct floor_bounds *bounds)
{
    draw_groups(k, undecided, words, groups, DISCRETISED_DISCRETE_LAPLACE, bounds);
}

/* One vector of pairs. */
INLINE uint64_t draw_pairs(double *k, const uint64_t *words, const struct floor_bounds *c)
{
    vf64 b = unsigned_value(*(const stored_u64 *)words) + f64_all(c->half), y = log_ratio(f64_all(0x1p64), b);
    vf64 radius = f64_sqrt(y + y), cosine, sine, of_cosine, of_sine;
    turn(&cosine, &sine, *(const stored_u64 *)(words + DISCRETISED_PAIRS));
    vf64 error = f64_fma(f64_all(c->word), inverse_above(b), f64_all(c->slope) * radius);
    error = f64_fma(f64_all(c->inverse), inverse_above(radius), error);
    radius = f64_all(c->m) * radius;
    *(stored_f64 *)k = floor_of(&of_cosine, radius * cosine);
    *(stored_f64 *)(k + DISCRETISED_PAIRS) = floor_of(&of_sine, radius * sine);
    return not_above(smaller(of_cosine, of_sine), larger(f64_all(c->flat), error));
}

static void draw_gaussian(double *k, uint64_t *undecided, const uint64_t *words, size_t groups,
                          const struct floor_bounds *bounds)
{
    const struct floor_bounds c = *bounds;
    for (size_t g = 0; g < groups; g++, k += DISCRETISED_GROUP, words += DISCRETISED_GROUP) {
        uint64_t bits = 0;
        for (unsigned i = 0; i < DISCRETISED_PAIRS; i += LANES)
            bits |= draw_pairs(k + i, words + i, &c) << i;
        undecided[2 * g] = bits;
        undecided[2 * g + 1] = 0;
    }
}

static void to_integers(int64_t *to, const double *from, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        *(stored_i64 *)(to + i) =
            (vi64)(*(const stored_f64 *)(from + i) + f64_all(LARGE)) - (vi64)f64_all(LARGE);
    for (; i < n; i++)
        to[i] = (int64_t)from[i];
}

extern const struct floor_kernels ISA_NAME(floor_kernels);
const struct floor_kernels ISA_NAME(floor_kernels) = {
    {draw_logistic, draw_laplace, draw_gaussian, draw_discrete_laplace}, to_integers};
