/* log_sinhc: ln prod(1 + x^2/(pi k)^2) is an alternating series in x^2 below pi, so two partial sums enclose
 * it; further out x - ln 2x + log1p(-e^-2x). mills_ratio: Laplace's continued fraction, whose convergents lie
 * on alternating sides of the limit; near 0 from erfc. */
#include "num/special.h"

/* zeta(2n) / (n pi^2n) = numerator / denominator; both exact in a double. */
static const double series[][2] = {{1, 6},      {1, 180},          {1, 2835},      {1, 37800},
                                   {1, 467775}, {691, 3831077250}, {2, 127702575}, {3617, 2605132530000}};
enum { TERMS = sizeof series / sizeof *series };

static struct interval log_sinhc_point(double x)
{
    struct interval ix = iv(x);
    if (x >= 0.4) {
        struct interval tail = iv_log1p(iv_neg(iv_exp(iv(-2 * x))));
        return iv_add(iv_sub(ix, iv_log(iv(2 * x))), tail);
    }
    struct interval square = iv_square(ix), power = square, sum = iv(0);
    for (int n = 0; n < TERMS; n++) {
        struct interval term = iv_mul(power, iv_div(iv(series[n][0]), iv(series[n][1])));
        if (n == TERMS - 1) { /* an even number of terms is below the limit, one fewer is above */
            struct interval last = iv_sub(sum, term);
            return (struct interval){fmax(0, last.lo), sum.hi};
        }
        sum = n % 2 ? iv_sub(sum, term) : iv_add(sum, term);
        power = iv_mul(power, square);
    }
    return sum; /* not reached */
}

struct interval log_sinhc(struct interval x)
{
    return (struct interval){log_sinhc_point(fmax(0, x.lo)).lo, log_sinhc_point(fmax(0, x.hi)).hi};
}

static double half_erfc(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* The rounding of x / sqrt 2 moves the argument by one ulp; erfc answers with a relative change of up to x^2
 * + 1 ulp. */
static double cdf_slack(double x)
{
    return (x < 0 ? x * x + 16 : 16) * 0x1p-52;
}

struct interval normal_cdf(struct interval x)
{
    double lo = half_erfc(x.lo), hi = half_erfc(x.hi);
    lo = fmax(0, lo * (1 - cdf_slack(x.lo)) - 0x1p-1060);
    hi = fmin(1, hi * (1 + cdf_slack(x.hi)) + 0x1p-1060);
    return (struct interval){x.lo < -37 ? 0 : lo, x.hi < -37 ? 0x1p-980 : hi};
}

struct interval normal_density(struct interval x)
{
    struct interval half_square = iv_scale(iv_square(x), 0.5);
    return iv_mul(iv_exp(iv_neg(half_square)), (struct interval){0.39894228040143264, 0.39894228040143276});
}

enum { DEPTH = 50 }; /* of the fraction: at x >= 4 its two brackets then agree to the last bits */

static struct interval mills_point(double x)
{
    if (x < 4)
        return iv_div(normal_cdf(iv(-x)), normal_density(iv(x)));
    /* Odd and even depths of the fraction 1/(x + 1/(x + 2/(x + ...))) bracket the value: evaluate both
     * backwards. */
    struct interval bracket[2];
    for (int parity = 0; parity < 2; parity++) {
        struct interval tail = iv(x);
        for (int k = DEPTH + parity; k >= 1; k--)
            tail = iv_add(iv(x), iv_div(iv(k), tail));
        bracket[parity] = iv_div(iv(1), tail);
    }
    return (struct interval){fmin(bracket[0].lo, bracket[1].lo), fmax(bracket[0].hi, bracket[1].hi)};
}

double mills_near(double x)
{
    if (x < 4)
        return 0.5 * erfc(x * 0.70710678118654752440) / (0.3989422804014327 * exp(-x * x / 2));
    double tail = x;
    for (int k = DEPTH; k >= 1; k--)
        tail = x + k / tail;
    return 1 / tail;
}

struct interval mills_ratio(struct interval x)
{
    return (struct interval){mills_point(fmax(0, x.hi)).lo, mills_point(fmax(0, x.lo)).hi};
}

double bisect_up(double low, double high, bool (*holds)(double x, const void *arg), const void *arg)
{
    while (high > low * (1 + 0x1p-50)) {
        double middle = high > 2 * low ? sqrt(low) * sqrt(high) : low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (holds(middle, arg))
            high = middle;
        else
            low = middle;
    }
    return high;
}

double minimise_log(double low, double high, double offset, double (*f)(double x, const void *arg),
                    const void *arg)
{
    const double golden = 0.6180339887498949;
    double a = log(low - offset), b = log(high - offset);
    double c = b - golden * (b - a), d = a + golden * (b - a);
    double fc = f(offset + exp(c), arg), fd = f(offset + exp(d), arg);
    for (int i = 0; i < 60; i++) {
        if (fc < fd) {
            b = d, d = c, fd = fc;
            c = b - golden * (b - a);
            fc = f(offset + exp(c), arg);
        } else {
            a = c, c = d, fc = fd;
            d = a + golden * (b - a);
            fd = f(offset + exp(d), arg);
        }
    }
    return offset + exp((a + b) / 2);
}
