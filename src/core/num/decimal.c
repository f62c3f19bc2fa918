#include "num/decimal.h"

#include "num/interval.h"

enum { PLACES = 22 /* powers of ten up to 10^22 are doubles */ };

static const double powers[PLACES + 1] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* |a| >= |b|, or a = 0. */
static struct decimal quick_sum(double a, double b)
{
    const double sum = a + b;
    return (struct decimal){sum, b - (sum - a)};
}

static struct decimal two_sum(double a, double b)
{
    const double sum = a + b, rest = sum - a;
    return (struct decimal){sum, (a - (sum - rest)) + (b - rest)};
}

struct decimal decimal_of(double x)
{
    if (!(x < 1e15))
        return (struct decimal){isnan(x) ? INFINITY : x, 0};
    for (int places = 0; places <= PLACES && x > 0; places++) {
        const double product = x * powers[places];
        if (product < 0.5) /* no digit yet */
            continue;
        const double digits = nearbyint(product);
        if (!(digits < 1e15))
            break;
        if (fabs(product - digits) <= digits * 0x1p-50 && digits / powers[places] == x)
            return (struct decimal){x, fma(-x, powers[places], digits) / powers[places]}; /* fma(): exact */
    }
    return (struct decimal){x, 0};
}

struct decimal decimal_add(struct decimal a, struct decimal b)
{
    const struct decimal high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
    if (!isfinite(high.high))
        return (struct decimal){INFINITY, 0};
    const struct decimal middle = two_sum(high.low, low.high);
    const struct decimal sum = quick_sum(high.high, middle.high);
    const double rest = sum.low + (middle.low + low.low);
    return quick_sum(sum.high, rest + fabs(sum.high) * 0x1p-104); /* more than was rounded away */
}

double decimal_up(struct decimal d)
{
    for (double x = d.high; isfinite(x); x = next_up(x)) {
        const struct decimal shown = decimal_of(x);
        if ((shown.high - d.high) + (shown.low - d.low) >= -0x1p-80 * d.high)
            return x;
    }
    return INFINITY;
}
