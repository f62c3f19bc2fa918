/* Interval arithmetic by outward widening. Widening by nextafter instead of switching the rounding mode keeps the
 * code valid under any compiler flag that respects IEEE 754 and costs nothing that matters here. */
#include "num/interval.h"

#include <stddef.h>

static struct interval whole(void)
{
    return (struct interval){-INFINITY, INFINITY};
}

/* Overflow to infinity is an upper bound only; the lower end is the largest finite number. */
static double down(double x)
{
    return next_down(x);
}
static double up(double x)
{
    return next_up(x);
}

static double below(double x, double f)
{
    return isinf(f) && f > 0 && isfinite(x) ? 0x1.fffffffffffffp1023 : f - (fabs(f) * 0x1p-49 + 0x1p-1070);
}
static double above(double x, double f)
{
    return isinf(f) && f < 0 && isfinite(x) ? -0x1.fffffffffffffp1023 : f + (fabs(f) * 0x1p-49 + 0x1p-1070);
}

static struct interval checked(double lo, double hi)
{
    if (isnan(lo) || isnan(hi))
        return whole();
    return (struct interval){lo, hi};
}

struct interval iv_add(struct interval a, struct interval b)
{
    return checked(down(a.lo + b.lo), up(a.hi + b.hi));
}

struct interval iv_neg(struct interval a)
{
    return (struct interval){-a.hi, -a.lo};
}

struct interval iv_sub(struct interval a, struct interval b)
{
    return iv_add(a, iv_neg(b));
}

static struct interval hull4(double p, double q, double r, double s)
{
    if (isnan(p) || isnan(q) || isnan(r) || isnan(s))
        return whole();
    return (struct interval){down(fmin(fmin(p, q), fmin(r, s))), up(fmax(fmax(p, q), fmax(r, s)))};
}

struct interval iv_mul(struct interval a, struct interval b)
{
    return hull4(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi);
}

struct interval iv_div(struct interval a, struct interval b)
{
    if (b.lo <= 0 && b.hi >= 0)
        return whole();
    return hull4(a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi);
}

struct interval iv_square(struct interval a)
{
    struct interval product = iv_mul(a, a);
    return (struct interval){fmax(0, a.lo <= 0 && a.hi >= 0 ? 0 : product.lo), product.hi};
}

struct interval iv_sqrt(struct interval a)
{
    return (struct interval){fmax(0, down(sqrt(fmax(0, a.lo)))), up(sqrt(fmax(0, a.hi)))};
}

struct interval iv_increasing(struct interval a, double (*f)(double))
{
    return checked(below(a.lo, f(a.lo)), above(a.hi, f(a.hi)));
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
    double lo = a.lo > 0 ? below(a.lo, log(a.lo)) : -INFINITY;
    return (struct interval){lo, a.hi > 0 ? above(a.hi, log(a.hi)) : -INFINITY};
}

struct interval iv_log1p(struct interval a)
{
    double lo = a.lo > -1 ? below(a.lo, log1p(a.lo)) : -INFINITY;
    return (struct interval){lo, a.hi > -1 ? above(a.hi, log1p(a.hi)) : -INFINITY};
}

struct interval iv_tanh(struct interval a)
{
    return iv_increasing(a, tanh);
}

struct interval iv_min(struct interval a, struct interval b)
{
    return (struct interval){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
}

struct interval iv_max(struct interval a, struct interval b)
{
    return (struct interval){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
}
