/* log_sinhc: ln prod(1 + x^2/(pi k)^2) is an alternating series in x^2 below pi, so two partial sums enclose
 * it; further out x - ln 2x + log1p(-e^-2x). mills_ratio: Laplace's continued fraction: its convergents lie
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
    struct interval at_hi = log_sinhc_point(fmax(0, x.hi));
    return x.lo == x.hi ? at_hi : (struct interval){log_sinhc_point(fmax(0, x.lo)).lo, at_hi.hi};
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
    double lo = half_erfc(x.lo), hi = x.hi == x.lo ? lo : half_erfc(x.hi);
    lo = fmax(0, lo * (1 - cdf_slack(x.lo)) - 0x1p-1060);
    hi = fmin(1, hi * (1 + cdf_slack(x.hi)) + 0x1p-1060);
    return (struct interval){x.lo < -37 ? 0 : lo, x.hi < -37 ? 0x1p-980 : hi};
}

struct interval normal_density(struct interval x)
{
    struct interval half_square = iv_scale(iv_square(x), 0.5);
    return iv_mul(iv_exp(iv_neg(half_square)), (struct interval){0.39894228040143264, 0.39894228040143276});
}

/* Depth of the fraction 1/(x + 1/(x + 2/(x + ...))) at which two in a row agree to 1e-16, for x >= 4. */
static int fraction_depth(double x)
{
    return 8 + (int)(480 / (x * x));
}

/* Backwards from the end. Every step adds an error of at most 2 units (2^-53 each, relative): the quotient
 * and the sum are rounded, and what came before counts less than once, as x > 0. */
static double special_fraction(double x, int depth)
{
    double tail = x;
    for (int k = depth; k >= 1; k--)
        tail = x + k / tail;
    return 1 / tail;
}

static struct interval mills_point(double x)
{
    if (x < 4)
        return iv_div(normal_cdf(iv(-x)), normal_density(iv(x)));
    /* Odd and even depths bracket the value. */
    int depth = fraction_depth(x);
    double one = special_fraction(x, depth), other = special_fraction(x, depth + 1),
           slack = (2 * depth + 8) * 0x1p-53;
    return (struct interval){fmin(one, other) * (1 - slack), fmax(one, other) * (1 + slack)};
}

double mills_near(double x)
{
    return x < 4 ? 0.5 * erfc(x * 0.70710678118654752440) / (0.3989422804014327 * exp(-x * x / 2))
                 : special_fraction(x, fraction_depth(x));
}

struct interval mills_ratio(struct interval x)
{
    struct interval at_hi = mills_point(fmax(0, x.hi));
    return x.lo == x.hi ? at_hi : (struct interval){at_hi.lo, mills_point(fmax(0, x.lo)).hi};
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

/* Three points and their values, best first. */
struct best_three {
    double x[3], f[3];
};

/* Minimum of the parabola through them; NAN: they lie on a line. */
static double special_parabola(const struct best_three *t)
{
    double p = t->x[0] - t->x[1], q = t->x[0] - t->x[2];
    double r = p * (t->f[0] - t->f[2]), s = q * (t->f[0] - t->f[1]);
    return t->x[0] - (p * r - q * s) / (2 * (r - s));
}

static void special_remember(struct best_three *t, double x, double f)
{
    int at = f <= t->f[0] ? 0 : f <= t->f[1] || t->x[1] == t->x[0] ? 1 : 2;
    for (int i = 2; i > at; i--) {
        t->x[i] = t->x[i - 1];
        t->f[i] = t->f[i - 1];
    }
    t->x[at] = x;
    t->f[at] = f;
}

/* Golden section, and parabolas where they fall well inside and shrink (Brent 1973, chapter 5). Near its
 * minimum a function is flat: 1e-8 in ln(x - offset) is all that doubles can tell. */
double minimise_log(double low, double high, double offset, double (*f)(double x, const void *arg),
                    const void *arg)
{
    const double golden = 0.3819660112501051, tolerance = 1e-8;
    double a = log(low - offset), b = log(high - offset), step = 0, before = 0;
    double x = a + golden * (b - a);
    struct best_three t = {{x, x, x}, {f(offset + exp(x), arg)}};
    t.f[1] = t.f[2] = t.f[0];
    for (int i = 0; i < 80; i++) {
        double best = t.x[0], middle = (a + b) / 2, next = special_parabola(&t);
        if (fabs(best - middle) + (b - a) / 2 <= 2 * tolerance)
            break;
        bool good = next > a && next < b && fabs(next - best) < fabs(before) / 2;
        before = step;
        if (good) {
            step = next - best;
        } else {
            before = best >= middle ? a - best : b - best;
            step = golden * before;
        }
        if (fabs(step) < tolerance)
            step = best >= middle ? -tolerance : tolerance;
        double at = best + step, value = f(offset + exp(at), arg);
        if (value <= t.f[0] && isfinite(value)) { /* an infinite plateau lies on the far side */
            a = at >= best ? best : a;
            b = at >= best ? b : best;
        } else {
            a = at < best ? at : a;
            b = at < best ? b : at;
        }
        special_remember(&t, at, value);
    }
    return offset + exp(t.x[0]);
}
