/* interval.h - numbers that know how wrong they may be: [lo, hi] with every operation rounded outwards.
 *
 * Basic operations (IEEE 754, round to nearest) are widened by one ulp where they are inexact.
 * The library functions used here are documented by glibc to be within 1-2 ulp (erfc: 5); they are widened
 * by 8. That figure is the only assumption behind the bounds; docs/PRIVACY.md repeats it. An undefined
 * operation gives [-inf, inf], never a NaN. Pure functions; no allocation. */
#ifndef NUM_INTERVAL_H
#define NUM_INTERVAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

struct interval {
    double lo, hi;
};

static inline struct interval iv(double x)
{
    return (struct interval){x, x};
}
/** The neighbouring doubles: nextafter(), without a call. */
static inline double next_up(double x)
{
    int64_t bits;
    if (!(x < INFINITY))
        return x;
    if (x == 0)
        return 0x1p-1074;
    memcpy(&bits, &x, sizeof bits);
    bits += x > 0 ? 1 : -1;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline double next_down(double x)
{
    return -next_up(-x);
}

struct interval iv_add(struct interval a, struct interval b);
struct interval iv_sub(struct interval a, struct interval b);
struct interval iv_mul(struct interval a, struct interval b);
/** Whole line if b holds 0. */
struct interval iv_div(struct interval a, struct interval b);
static inline struct interval iv_neg(struct interval a)
{
    return (struct interval){-a.hi, -a.lo};
}
/** a * a, never below 0. */
struct interval iv_square(struct interval a);
/** Parts below 0 are cut off. */
struct interval iv_sqrt(struct interval a);
struct interval iv_exp(struct interval a);
struct interval iv_expm1(struct interval a);
/** ln; parts at or below 0 give -inf. */
struct interval iv_log(struct interval a);
/** ln(1 + a); parts at or below -1 give -inf. */
struct interval iv_log1p(struct interval a);
/** The smaller (larger) of two, endpoint by endpoint. */
struct interval iv_min(struct interval a, struct interval b);
struct interval iv_max(struct interval a, struct interval b);
/** a * factor. */
static inline struct interval iv_scale(struct interval a, double factor)
{
    return iv_mul(a, iv(factor));
}
/** f increasing, each value within 8 ulp of the truth. */
struct interval iv_increasing(struct interval a, double (*f)(double));

#endif
