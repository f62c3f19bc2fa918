/* The incomplete beta function by its continued fraction (DLMF 8.17.22, modified Lentz), taken on the side of
 * the mean where it converges. The factor in front, x^a (1-x)^b / (a B(a, b)), is where digits are usually
 * lost: for large a and b it is a difference of numbers near a log a. Written around the mean m = a/(a+b) the
 * large parts cancel on paper (Loader 2000, "Fast and accurate computation of binomial probabilities"), and
 * only small terms are left to add. */
#include "num/beta.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* log(w) - u with w = 1 + u, without cancellation: with r = u / (2 + u), log(1 + u) = 2 atanh(r) and 2r - u =
 * -u r. */
static double log_minus(double w, double u)
{
    if (fabs(u) > 0.4)
        return log(w) - u;
    double r = u / (2 + u), r2 = r * r, power = r2, sum = 0;
    for (int k = 3; k < 60; k += 2) {
        double term = power / k;
        sum += term;
        if (term < sum * DBL_EPSILON / 4)
            break;
        power *= r2;
    }
    return r * (2 * sum - u);
}

/* log Gamma(z) minus Stirling's (z - 1/2) log z - z + log(2 pi)/2. */
static double stirling_rest(double z)
{
    if (z < 16) /* shift up by Gamma(z + 1) = z Gamma(z): the difference telescopes into small terms */
        return stirling_rest(z + 1) - 1 + (z + 0.5) * log1p(1 / z);
    double w = 1 / (z * z);
    return (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260 - w * (1.0 / 1680 - w * (1.0 / 1188))))) / z;
}

struct beta_law beta_law_make(double a, double b)
{
    assert(a > 0 && b > 0);
    const double n = a + b;
    return (struct beta_law){a, b, sqrt(a * b / (2 * M_PI * n)),
                             stirling_rest(n) - stirling_rest(a) - stirling_rest(b)};
}

/* x^a (1-x)^b / B(a, b), given both x and 1 - x. */
static double density_factor(double x, double y, const struct beta_law *law)
{
    const double a = law->a, b = law->b, n = a + b;
    /* With u = x / m - 1 and v = (1-x) / (1-m) - 1, a u + b v = 0, so only log(1+u) - u and log(1+v) - v
     * remain. */
    double d = (x * b - y * a) / n;
    double exponent = a * log_minus(x * n / a, d * n / a) + b * log_minus(y * n / b, -d * n / b);
    return law->root * exp(exponent + law->rest);
}

/* The continued fraction for I_x(a, b); converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 100000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        double step = c * d;
        f *= step;
        if (fabs(step - 1) < 2 * DBL_EPSILON)
            break;
    }
    return f;
}

struct beta_tails beta_law_cdf(const struct beta_law *law, double x)
{
    const double a = law->a, b = law->b;
    assert(x >= 0 && x <= 1);
    if (x == 0)
        return (struct beta_tails){0, 1};
    if (x == 1)
        return (struct beta_tails){1, 0};
    double y = 1 - x, front = density_factor(x, y, law);
    if (x < (a + 1) / (a + b + 2)) {
        double lower = front / a * beta_fraction(x, a, b);
        return (struct beta_tails){lower, 1 - lower};
    }
    double upper = front / b * beta_fraction(y, b, a);
    return (struct beta_tails){1 - upper, upper};
}

struct beta_tails beta_cdf(double x, double a, double b)
{
    const struct beta_law law = beta_law_make(a, b);
    return beta_law_cdf(&law, x);
}

double beta_quantile(double p, double a, double b)
{
    assert(p >= 0 && p <= 1);
    if (p == 0 || p == 1)
        return p;
    const struct beta_law law = beta_law_make(a, b);
    double low = 0, high = 1, x = a / (a + b);
    /* Newton, kept inside a bracket that shrinks with every sign; bisection where Newton would leave it. */
    for (int i = 0; i < 400 && low < high; i++) {
        struct beta_tails t = beta_law_cdf(&law, x);
        double excess = p <= 0.5 ? t.lower - p : (1 - p) - t.upper;
        if (excess == 0)
            break;
        if (excess > 0)
            high = x;
        else
            low = x;
        double density = density_factor(x, 1 - x, &law) / (x * (1 - x));
        double next = x - excess / density;
        if (!(next > low && next < high))
            next = low > 0 ? low + (high - low) / 2 : high / 16;
        if (fabs(next - x) <= DBL_EPSILON * x)
            return next;
        x = next;
    }
    return x;
}

double clopper_pearson_lower(double k, double n, double confidence)
{
    assert(n > 0 && k >= 0 && k <= n);
    const double tail = (1 - confidence) / 2;
    return k > 0 ? beta_quantile(tail, k, n - k + 1) : 0;
}

double clopper_pearson_upper(double k, double n, double confidence)
{
    assert(n > 0 && k >= 0 && k <= n);
    const double tail = (1 - confidence) / 2;
    return k < n ? beta_quantile(1 - tail, k + 1, n - k) : 1;
}

void clopper_pearson(double *lower, double *upper, double k, double n, double confidence)
{
    *lower = clopper_pearson_lower(k, n, confidence);
    *upper = clopper_pearson_upper(k, n, confidence);
}

/* Newton from the left of a concave function never overshoots. p > 1/2. */
static double normal_quantile(double p)
{
    double z = 0;
    for (int i = 0; i < 200; i++) {
        double step = (0.5 * erfc(z * M_SQRT1_2) - (1 - p)) * sqrt(2 * M_PI) * exp(z * z / 2);
        z += step;
        if (fabs(step) <= 2 * DBL_EPSILON * z)
            break;
    }
    return z;
}

double student_quantile(double p, double degrees)
{
    assert(p > 0 && p < 1 && degrees > 0);
    if (p == 0.5)
        return 0;
    double q = p < 0.5 ? 1 - p : p, t;
    if (degrees >
        1e4) { /* expansion around the normal (Abramowitz and Stegun 26.7.5); the next term is below 1e-15 */
        double z = normal_quantile(q), z2 = z * z, v = degrees;
        t = z + z * ((z2 + 1) / (4 * v) + ((5 * z2 + 16) * z2 + 3) / (96 * v * v) +
                     (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * v * v * v));
    } else {
        double y = beta_quantile(2 * q - 1, 0.5, degrees / 2);
        t = sqrt(degrees * y / (1 - y));
    }
    return p < 0.5 ? -t : t;
}
