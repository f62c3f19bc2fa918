/* Interval arithmetic without touching the rounding mode: the sign of each rounding error is found exactly
 * (two-sum, fused multiply-add), so an end moves by one ulp only when it must, and exact results stay exact.
 * Near overflow and underflow, where that sign may be lost, the end always moves. */
#include "num/interval.h"

#include <stdbool.h>

static struct interval whole(void)
{
    return (struct interval){-INFINITY, INFINITY};
}

static bool ordinary(double x)
{
    return fabs(x) > 1e-250 && fabs(x) < 1e250;
}

/* `error`: sign of (true value - f); `known`: that sign can be relied on. */
static double down(double f, double error, bool known)
{
    return known && error >= 0 ? f : next_down(f);
}
static double up(double f, double error, bool known)
{
    return known && error <= 0 ? f : next_up(f);
}

static double sum_error(double a, double b, double sum)
{
    double rest = sum - a;
    return (a - (sum - rest)) + (b - rest);
}

struct interval iv_add(struct interval a, struct interval b)
{
    double lo = a.lo + b.lo, hi = a.hi + b.hi;
    if (isnan(lo) || isnan(hi))
        return whole();
    return (struct interval){down(lo, sum_error(a.lo, b.lo, lo), fabs(lo) < 1e300),
                             up(hi, sum_error(a.hi, b.hi, hi), fabs(hi) < 1e300)};
}

struct interval iv_neg(struct interval a)
{
    return (struct interval){-a.hi, -a.lo};
}

struct interval iv_sub(struct interval a, struct interval b)
{
    return iv_add(a, iv_neg(b));
}

/* One product or quotient with the directions it may move in. */
struct ends {
    double lo, hi;
};

static struct ends product(double a, double b)
{
    double f = a * b;
    if (f == 0 && (a == 0 || b == 0))
        return (struct ends){0, 0};
    double error = fma(a, b, -f);
    return (struct ends){down(f, error, ordinary(f)), up(f, error, ordinary(f))};
}

static struct ends quotient(double a, double b)
{
    double f = a / b;
    if (a == 0)
        return (struct ends){0, 0};
    double error = fma(-f, b, a) * (b < 0 ? -1 : 1);
    bool known = ordinary(f) && ordinary(a) && ordinary(b);
    return (struct ends){down(f, error, known), up(f, error, known)};
}

static struct interval hull4(struct ends p, struct ends q, struct ends r, struct ends s)
{
    double sum = p.lo + p.hi + q.lo + q.hi + r.lo + r.hi + s.lo + s.hi;
    if (isnan(sum)) /* 0 * inf or inf / inf somewhere, or infinities of both signs */
        return whole();
    return (struct interval){fmin(fmin(p.lo, q.lo), fmin(r.lo, s.lo)),
                             fmax(fmax(p.hi, q.hi), fmax(r.hi, s.hi))};
}

struct interval iv_mul(struct interval a, struct interval b)
{
    return hull4(product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo), product(a.hi, b.hi));
}

struct interval iv_div(struct interval a, struct interval b)
{
    if (b.lo <= 0 && b.hi >= 0)
        return whole();
    return hull4(quotient(a.lo, b.lo), quotient(a.lo, b.hi), quotient(a.hi, b.lo), quotient(a.hi, b.hi));
}

struct interval iv_square(struct interval a)
{
    struct interval square = iv_mul(a, a);
    return (struct interval){a.lo <= 0 && a.hi >= 0 ? 0 : fmax(0, square.lo), square.hi};
}

struct interval iv_sqrt(struct interval a)
{
    double low = fmax(0, a.lo), high = fmax(0, a.hi), lo = sqrt(low), hi = sqrt(high);
    return (struct interval){lo == 0 ? 0 : down(lo, fma(-lo, lo, low), ordinary(low)),
                             hi == 0 ? 0 : up(hi, fma(-hi, hi, high), ordinary(high))};
}

/* Library functions: eight ulp each side. An overflow is only an upper bound; the lower end is the largest
 * number. */
static double below(double x, double f)
{
    return isinf(f) && f > 0 && isfinite(x) ? 0x1.fffffffffffffp1023 : f - (fabs(f) * 0x1p-49 + 0x1p-1070);
}
static double above(double x, double f)
{
    return isinf(f) && f < 0 && isfinite(x) ? -0x1.fffffffffffffp1023 : f + (fabs(f) * 0x1p-49 + 0x1p-1070);
}

struct interval iv_increasing(struct interval a, double (*f)(double))
{
    double lo = below(a.lo, f(a.lo)), hi = above(a.hi, f(a.hi));
    return isnan(lo) || isnan(hi) ? whole() : (struct interval){lo, hi};
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
    return (struct interval){a.lo > 0 ? below(a.lo, log(a.lo)) : -INFINITY,
                             a.hi > 0 ? above(a.hi, log(a.hi)) : -INFINITY};
}

struct interval iv_log1p(struct interval a)
{
    return (struct interval){a.lo > -1 ? below(a.lo, log1p(a.lo)) : -INFINITY,
                             a.hi > -1 ? above(a.hi, log1p(a.hi)) : -INFINITY};
}

struct interval iv_min(struct interval a, struct interval b)
{
    return (struct interval){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
}

struct interval iv_max(struct interval a, struct interval b)
{
    return (struct interval){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
}
