/* Interval arithmetic against the plain rule: the hull of what the ends give, each moved by one double where it is not exact. The
 * library looks at the signs first and takes only the two products (quotients) that count; both must say the same. */
#include "support/test.h"

#include "num/interval.h"
#include "support/oracle_sweep.h"

#include <stdbool.h>

static bool ordinary(double x)
{
    return fabs(x) > 1e-250 && fabs(x) < 1e250;
}

static double moved(double f, double error, bool known, double towards)
{
    return known && (towards > 0 ? error <= 0 : error >= 0) ? f : nextafter(f, towards);
}

static double product(double a, double b, double towards)
{
    const double f = a * b;
    return a == 0 || b == 0 ? f : moved(f, fma(a, b, -f), ordinary(f), towards);
}

static double quotient(double a, double b, double towards)
{
    const double f = a / b, rest = fma(-f, b, a) * (b < 0 ? -1 : 1);
    return a == 0 ? 0 : moved(f, rest, ordinary(f) && ordinary(a) && ordinary(b), towards);
}

static struct interval hull(struct interval a, struct interval b, double (*f)(double, double, double))
{
    const double x[] = {a.lo, a.hi}, y[] = {b.lo, b.hi};
    struct interval out = {INFINITY, -INFINITY};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        const double low = f(x[i / 2], y[i % 2], -INFINITY), high = f(x[i / 2], y[i % 2], INFINITY);
        sum += low;
        sum += high;
        out = (struct interval){fmin(out.lo, low), fmax(out.hi, high)};
    }
    return isnan(sum) ? (struct interval){-INFINITY, INFINITY}
                      : out; /* infinities of both signs, or an overflow */
}

static double draw(uint64_t *state)
{
    static const double special[] = {0,      -0.0,   1,     -1,    5e-324, -5e-324, 1e-310, -1e-250,
                                     1e-250, 1e-160, 1e160, 1e250, 1e300,  -1e300,  2,      3};
    if (sweep_bits(state) % 4 == 0)
        return special[sweep_bits(state) % (sizeof special / sizeof *special)];
    const bool far = sweep_bits(state) % 3 == 0;
    return (sweep_bits(state) % 2 ? -1 : 1) *
           (far ? sweep_log(state, 1e-300, 1e300) : sweep_log(state, 1e-6, 1e6));
}

/* A number, two neighbours, or any two. */
static struct interval draw_interval(uint64_t *state)
{
    const double a = draw(state), b = draw(state);
    const uint64_t kind = sweep_bits(state) % 3;
    return kind == 0   ? iv(a)
           : kind == 1 ? (struct interval){a, nextafter(a, INFINITY)}
                       : (struct interval){fmin(a, b), fmax(a, b)};
}

static void same(struct interval a, struct interval b, char sign, struct interval got, struct interval plain)
{
    if (!(got.lo == plain.lo && got.hi == plain.hi))
        fail_msg("[%a, %a] %c [%a, %a] = [%a, %a]; the plain rule says [%a, %a]", a.lo, a.hi, sign, b.lo,
                 b.hi, got.lo, got.hi, plain.lo, plain.hi);
}

TEST(products_and_quotients_by_the_plain_rule)
{
    uint64_t state = 1;
    for (int i = 0; i < 200000; i++) {
        const struct interval a = draw_interval(&state), b = draw_interval(&state);
        same(a, b, '*', iv_mul(a, b), hull(a, b, product));
        if (b.lo > 0 || b.hi < 0)
            same(a, b, '/', iv_div(a, b), hull(a, b, quotient));
    }
}

TEST(neighbours_are_those_of_nextafter)
{
    const double ends[] = {0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1, -1, INFINITY, -INFINITY};
    uint64_t state = 2;
    for (int i = 0; i < 10000; i++) {
        const double x = i < 9 ? ends[i] : draw(&state);
        assert_true(next_up(x) == nextafter(x, INFINITY) && next_down(x) == nextafter(x, -INFINITY));
    }
    assert_true(isnan(next_up(NAN)) && isnan(next_down(NAN)));
    assert_true(next_up(0x1.fffffffffffffp1023) == INFINITY && next_down(INFINITY) == 0x1.fffffffffffffp1023);
}
