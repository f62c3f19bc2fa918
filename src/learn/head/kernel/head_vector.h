/* head_vector.h - the few vector operations of head_kernels.isa.c, at the width of the level being compiled.
 *
 * Multiply-add is spelled out because the build turns contraction off: the bits of a level must not depend on
 * what the compiler tends to fuse. Included by *.isa.c only. */
#ifndef HEAD_KERNEL_HEAD_VECTOR_H
#define HEAD_KERNEL_HEAD_VECTOR_H

#include "base/simd.h"
#include "head/kernel/head_kernels.h"

enum { LANES = VECTOR_BYTES / sizeof(real) };

#ifdef HEAD_REAL_IS_DOUBLE
typedef vf64 vec;
typedef vi64 bits;
#define v_all f64_all
#define v_fma f64_fma
#define v_sqrt f64_sqrt
#else
typedef vf32 vec;
typedef vi32 bits;
#define v_all f32_all
#define v_fma f32_fma
#define v_sqrt f32_sqrt
#endif

/* As many floats as there are doubles in a vector. Spelled out: the compiler's own conversion goes by
 * halves. */
INLINE vf64 widened(const float *x)
{
#if defined(__AVX512F__)
    return (vf64)_mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX2__)
    return (vf64)_mm256_cvtps_pd(_mm_loadu_ps(x));
#else
    return __builtin_convertvector(*(const stored_half_f32 *)x, vf64);
#endif
}

INLINE vec v_load(const real *p)
{
    return *(const vec *)p;
}
INLINE void v_store(real *p, vec v)
{
    *(vec *)p = v;
}

INLINE real v_largest(vec v)
{
#if defined(__AVX512F__) && !defined(HEAD_REAL_IS_DOUBLE)
    return _mm512_reduce_max_ps((__m512)v);
#else
    real top = v[0];
    for (size_t i = 1; i < LANES; i++)
        top = v[i] > top ? v[i] : top;
    return top;
#endif
}

#ifdef HEAD_REAL_IS_DOUBLE

INLINE vec v_max(vec a, vec b)
{
    return f64_choose(a > b, a, b);
}
INLINE vec v_flush(vec a)
{
    return a;
}
INLINE vec v_over_root(vec a, vec s, vec e)
{
    return a / (v_sqrt(s) + e);
}
/* e^x for x <= 0, relative error below 4 units of 2^-53 (what docs/derivations/head.md assumes is 8); x below
 * -700 counts as -700. x = n ln 2 + r with |r| <= ln 2 / 2; Taylor series of degree 13; the remainder is
 * below 2^-57. */
INLINE vec v_exp(vec x)
{
    static const double taylor[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                    1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                    1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
    x = v_max(x, v_all(-700.0));
    vec magic = v_all(6755399441055744.0); /* 1.5 * 2^52 */
    vec shifted = v_fma(x, v_all(1.4426950408889634), magic);
    vec n = shifted - magic;
    vec r = v_fma(n, v_all(-6.93145751953125e-1), x); /* n times this has few bits: exact */
    r = v_fma(n, v_all(-1.42860682030941723212e-6), r);
    vec p = v_all(taylor[0]);
    for (int i = 1; i < 12; i++)
        p = v_fma(p, r, v_all(taylor[i]));
    p = v_fma(p, r * r, r) + v_all(1.0);
    bits power = ((bits)shifted - (bits)magic + 1023) << 52;
    return p * (vec)power;
}

#else

/* Where the mask (all ones or all zeros in each lane) is set: a, elsewhere 0. */
INLINE vec v_keep(bits mask, vec a)
{
    return (vec)(mask & (bits)a);
}
INLINE vec v_max(vec a, vec b)
{
    return f32_larger(a, b);
}
/* Numbers too small to matter become 0: moments of units that stopped learning would otherwise decay into the
 * denormal range and stay there, where every operation costs a hundred cycles. */
INLINE vec v_flush(vec a)
{
    bits magnitude = (bits)a & 0x7fffffff;
    return v_keep(magnitude >= (127 - 100) << 23, a); /* 2^-100 */
}
/* a / (sqrt(s) + e), s >= 0, e > 0. At 64 bytes a square root and a quotient take longer than all other work
 * on a weight, so there both are estimates refined by one Newton step: relative error below 2^-21. */
INLINE vec v_over_root(vec a, vec s, vec e)
{
#if defined(__AVX512F__)
    s = v_max(s, v_all(0x1p-100f)); /* the estimate of 1 / sqrt(0) is infinite */
    vec r = (vec)_mm512_rsqrt14_ps((__m512)s);
    vec half = v_all(0.5f) * s;
    r = v_fma(r, v_fma(half * r, -r, v_all(0.5f)), r);
    vec d = v_fma(s, r, e);
    vec q = (vec)_mm512_rcp14_ps((__m512)d);
    q = v_fma(q, v_fma(-d, q, v_all(1.0f)), q);
    return a * q;
#else
    return a / (v_sqrt(s) + e);
#endif
}
/* e^x for x <= 0, relative error below 2e-7; below e^-69 it is flushed to 0. x = n ln 2 + r with |r| <= ln 2
 * / 2; 1 + r + r^2 q(r), q the quartic of least relative error (3e-9). */
INLINE vec v_exp(vec x)
{
    vec low = v_all(-80.0f);
    x = v_max(x, low);
    vec magic = v_all(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer in the low mantissa bits */
    vec shifted = v_fma(x, v_all(1.44269504088896341f), magic);
    vec n = shifted - magic;
    vec r = v_fma(n, v_all(-0.693359375f), x);
    r = v_fma(n, v_all(2.12194440e-4f), r);
    vec p = v_all(1.3814612e-3f);
    p = v_fma(p, r, v_all(8.36871e-3f));
    p = v_fma(p, r, v_all(4.166839e-2f));
    p = v_fma(p, r, v_all(0.16666521f));
    p = v_fma(p, r, v_all(0.49999994f));
    p = v_fma(p, r * r, r + v_all(1.0f));
#if defined(__AVX512F__)
    return (vec)_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(-69.0f), _CMP_GE_OQ),
                                       (__m512)p, (__m512)n);
#else
    vu32 power = ((vu32)shifted - (vu32)magic + 127) << 23;
    return v_keep(x >= v_all(-69.0f), p * (vec)power);
#endif
}

#endif
#endif
