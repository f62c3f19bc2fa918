/* Interval arithmetic without touching the rounding mode: the sign of each rounding error is found exactly
 * (two-sum, fused multiply-add), so an end moves by one ulp only when it must, and exact results stay exact.
 * Near overflow and underflow, where that sign may be lost, the end always moves. */
#include "num/interval.h"

#include <stdbool.h>

static struct interval interval_whole(void)
{
    return (struct interval){-INFINITY, INFINITY};
}

static inline bool interval_ordinary(double x)
{
    return fabs(x) > 1e-250 && fabs(x) < 1e250;
}

/* f, or the next double below it (above it) where `moves`: which of the two is a toss, so that there is no branch for it. */
static inline double interval_lowered(double f, bool moves)
{
    int64_t bits;
    if (!(fabs(f) > 0 && fabs(f) < INFINITY))
        return moves ? next_down(f) : f;
    memcpy(&bits, &f, sizeof bits);
    bits -= moves ? (bits >> 63) | 1 : 0;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline double interval_lifted(double f, bool moves)
{
    return -interval_lowered(-f, moves);
}

/* `error`: sign of (true value - f); `known`: that sign can be relied on. */
static inline double interval_down(double f, double error, bool known)
{
    return interval_lowered(f, !known | !(error >= 0));
}
static inline double interval_up(double f, double error, bool known)
{
    return interval_lifted(f, !known | !(error <= 0));
}

static inline double sum_error(double a, double b, double sum)
{
    double rest = sum - a;
    return (a - (sum - rest)) + (b - rest);
}

struct interval iv_add(struct interval a, struct interval b)
{
    double lo = a.lo + b.lo, hi = a.hi + b.hi;
    if (isnan(lo) || isnan(hi))
        return interval_whole();
    return (struct interval){interval_down(lo, sum_error(a.lo, b.lo, lo), fabs(lo) < 1e300),
                             interval_up(hi, sum_error(a.hi, b.hi, hi), fabs(hi) < 1e300)};
}

struct interval iv_sub(struct interval a, struct interval b)
{
    return iv_add(a, iv_neg(b));
}

/* One product or quotient with the directions it may move in. */
struct ends {
    double lo, hi;
};

static struct ends interval_product(double a, double b)
{
    double f = a * b;
    if (f == 0 && (a == 0 || b == 0))
        return (struct ends){0, 0};
    double error = fma(a, b, -f);
    return (struct ends){interval_down(f, error, interval_ordinary(f)),
                         interval_up(f, error, interval_ordinary(f))};
}

static struct ends interval_quotient(double a, double b)
{
    double f = a / b;
    if (a == 0)
        return (struct ends){0, 0};
    double error = fma(-f, b, a) * (b < 0 ? -1 : 1);
    bool known = interval_ordinary(f) && interval_ordinary(a) && interval_ordinary(b);
    return (struct ends){interval_down(f, error, known), interval_up(f, error, known)};
}

/* The smaller (larger) of two numbers. */
static double interval_least(double a, double b)
{
    return a <= b ? a : b;
}
static double interval_most(double a, double b)
{
    return a >= b ? a : b;
}

static struct interval interval_hull4(struct ends p, struct ends q, struct ends r, struct ends s)
{
    double sum = p.lo + p.hi + q.lo + q.hi + r.lo + r.hi + s.lo + s.hi;
    if (isnan(sum)) /* 0 * inf or inf / inf somewhere, or infinities of both signs */
        return interval_whole();
    return (struct interval){interval_least(interval_least(p.lo, q.lo), interval_least(r.lo, s.lo)),
                             interval_most(interval_most(p.hi, q.hi), interval_most(r.hi, s.hi))};
}

/* Numbers of one sign, and in order. */
static bool one_sign(struct interval a)
{
    return (a.lo > 0 || a.hi < 0) && a.lo <= a.hi;
}

/* Of numbers of one sign each, the signs say which of the four products is the least and which is the largest; where these two are
 * ordinary, so are the others, and rounding keeps their order. */
struct interval iv_mul(struct interval a, struct interval b)
{
    if (one_sign(a) && one_sign(b)) {
        const bool a_below = a.hi < 0, b_below = b.hi < 0;
        const double p = b_below ? a.hi : a.lo, q = a_below ? b.hi : b.lo, r = b_below ? a.lo : a.hi,
                     s = a_below ? b.lo : b.hi, low = p * q, high = r * s;
        if (interval_ordinary(low) && interval_ordinary(high))
            return (struct interval){interval_down(low, fma(p, q, -low), true),
                                     interval_up(high, fma(r, s, -high), true)};
    }
    return interval_hull4(interval_product(a.lo, b.lo), interval_product(a.lo, b.hi),
                          interval_product(a.hi, b.lo), interval_product(a.hi, b.hi));
}

struct interval iv_div(struct interval a, struct interval b)
{
    if (b.lo <= 0 && b.hi >= 0)
        return interval_whole();
    if (one_sign(a) && one_sign(b) && interval_ordinary(a.lo) && interval_ordinary(a.hi) &&
        interval_ordinary(b.lo) && interval_ordinary(b.hi)) {
        const bool a_below = a.hi < 0, b_below = b.hi < 0;
        const double p = b_below ? a.hi : a.lo, q = a_below ? b.lo : b.hi, r = b_below ? a.lo : a.hi,
                     s = a_below ? b.hi : b.lo, low = p / q, high = r / s, sign = b_below ? -1 : 1;
        if (interval_ordinary(low) && interval_ordinary(high))
            return (struct interval){interval_down(low, fma(-low, q, p) * sign, true),
                                     interval_up(high, fma(-high, s, r) * sign, true)};
    }
    return interval_hull4(interval_quotient(a.lo, b.lo), interval_quotient(a.lo, b.hi),
                          interval_quotient(a.hi, b.lo), interval_quotient(a.hi, b.hi));
}

struct interval iv_square(struct interval a)
{
    struct interval square = iv_mul(a, a);
    return (struct interval){a.lo <= 0 && a.hi >= 0 ? 0 : fmax(0, square.lo), square.hi};
}

struct interval iv_sqrt(struct interval a)
{
    double low = fmax(0, a.lo), high = fmax(0, a.hi), lo = sqrt(low), hi = sqrt(high);
    return (struct interval){lo == 0 ? 0 : interval_down(lo, fma(-lo, lo, low), interval_ordinary(low)),
                             hi == 0 ? 0 : interval_up(hi, fma(-hi, hi, high), interval_ordinary(high))};
}

/* Library functions: eight ulp each side. An overflow is only an upper bound; the lower end is the largest
 * number. */
static double interval_below(double x, double f)
{
    return isinf(f) && f > 0 && isfinite(x) ? 0x1.fffffffffffffp1023 : f - (fabs(f) * 0x1p-49 + 0x1p-1070);
}
static double interval_above(double x, double f)
{
    return isinf(f) && f < 0 && isfinite(x) ? -0x1.fffffffffffffp1023 : f + (fabs(f) * 0x1p-49 + 0x1p-1070);
}

/* f at both ends: once for a number. */
static struct interval at_ends(struct interval a, double (*f)(double))
{
    const double low = f(a.lo);
    return (struct interval){low, a.hi == a.lo ? low : f(a.hi)};
}

struct interval iv_increasing(struct interval a, double (*f)(double))
{
    const struct interval at = at_ends(a, f);
    double lo = interval_below(a.lo, at.lo), hi = interval_above(a.hi, at.hi);
    return isnan(lo) || isnan(hi) ? interval_whole() : (struct interval){lo, hi};
}

struct interval iv_exp(struct interval a)
{
    struct interval e = iv_increasing(a, exp);
    return (struct interval){fmax(0, e.lo), e.hi};
}

struct interval iv_expm1(struct interval a)
{
    struct interval e = iv_increasing(a, expm1);
    return (struct interval){fmax(-1, e.lo), e.hi};
}

struct interval iv_log(struct interval a)
{
    const double low = a.lo > 0 ? log(a.lo) : -INFINITY,
                 high = a.hi == a.lo ? low : (a.hi > 0 ? log(a.hi) : -INFINITY);
    return (struct interval){a.lo > 0 ? interval_below(a.lo, low) : -INFINITY,
                             a.hi > 0 ? interval_above(a.hi, high) : -INFINITY};
}

struct interval iv_log1p(struct interval a)
{
    const double low = a.lo > -1 ? log1p(a.lo) : -INFINITY,
                 high = a.hi == a.lo ? low : (a.hi > -1 ? log1p(a.hi) : -INFINITY);
    return (struct interval){a.lo > -1 ? interval_below(a.lo, low) : -INFINITY,
                             a.hi > -1 ? interval_above(a.hi, high) : -INFINITY};
}

struct interval iv_min(struct interval a, struct interval b)
{
    return (struct interval){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
}

struct interval iv_max(struct interval a, struct interval b)
{
    return (struct interval){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
}
