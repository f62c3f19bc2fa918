/* src/core/dp/release/verify_values.c: released values that are too small for their noise. Refused falsely with at most 1e-9, by the exact
 * law of the statistic; and noise of a third of what is stated is refused.
 *
 * Exact: at the statistic where the bound is 1e-9 (or 1e-2), the probability that noise alone (no data, the worst case) has a smaller one
 * is at most that, for 1 to 1,000 values. Sum of Laplace: a gamma law; of squares of Gaussians, an even number: a gamma law too; one
 * logistic value: tanh. Simulated, for what has no closed law (several logistic values, with data): at level 1e-2, of R releases at most
 * R/100 + 6 sqrt(R/100) are below. Fixed seeds; were they drawn, right code would fail in fewer than 1 of 10^7 runs, as the level is that
 * of an upper bound. Control: noise of a third of the scale, refused at 1e-9 in every one of the releases. */
#include "support/test.h"
#include "support/effort.h"

#include "dp/release/noise_simulate.h"
#include "dp/release/verify_values.h"
#include "sotto/private/all.h"

#include <math.h>

enum { MOST = 1000 };
static double x[MOST];

/* The share of t where (share e^(1 - share))^n is `level`. */
static double share_at(double n, double level)
{
    double low = 0, high = 1;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        *(n * (log(middle) + 1 - middle) < log(level) ? &low : &high) = middle;
    }
    return low;
}

/* P(G <= t) of a gamma variable of n parts: e^-t (t^n/n! + t^(n+1)/(n+1)! + ...). */
static double gamma_below(double n, double t)
{
    double term = exp(n * log(t) - t - lgamma(n + 1)), sum = 0;
    for (double k = n + 1; term > sum * 1e-17; k++) {
        sum += term;
        term *= t / k;
    }
    return sum;
}

TEST(the_exact_probability_is_below_the_level)
{
    static const int counts[] = {1, 2, 3, 10, 30, 100, MOST};
    static const double levels[] = {1e-2, 1e-9};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t j = 0; j < 2; j++) {
            const double n = counts[i], share = share_at(n, levels[j]);
            const double exact = gamma_below(n, n * share);
            if (!(exact <= levels[j] && exact > levels[j] / 1000))
                fail_msg("%g values, level %g: %g", n, levels[j], exact);
        }
    for (double t = 1e-12; t < 2; t *= 1.1) /* logistic: no smaller than an exponential */
        assert_true(tanh(t / 2) <= -expm1(-t));
}

/* The function is that formula, of t or q, with what rounding took. */
TEST(the_bound_is_the_formula)
{
    for (int i = 0; i < 10; i++)
        x[i] = i % 2 ? 0.3 : -0.2;
    const double t = 2.5, q = 0.65, step = 0x1p-38;
    const double laplace = small_values_ln_p("laplace", 2, step, x, 10),
                 gaussian = small_values_ln_p("gaussian", 2, step, x, 10),
                 knorm = small_values_ln_p("knorm", 2, step, x, 10);
    assert_true(fabs(laplace - 10 * (log(t / 20) + 1 - t / 20)) < 1e-4);
    assert_true(small_values_ln_p("logistic", 2, step, x, 10) == laplace);
    assert_true(fabs(gaussian - 5 * (log(q / 40) + 1 - q / 40)) < 1e-4);
    assert_true(fabs(knorm - 10 * (log(sqrt(q) / 20) + 1 - sqrt(q) / 20)) < 1e-4);
    /* whole numbers: a step more each */
    assert_true(fabs(small_values_ln_p("discrete-laplace", 2, 1, x, 10) -
                     10 * (log(12.5 / 20) + 1 - 12.5 / 20)) < 1e-4);
    for (int i = 0; i < 10; i++)
        x[i] = 10;
    assert_true(small_values_ln_p("laplace", 2, step, x, 10) == 0 &&
                small_values_ln_p("gaussian", 2, step, x, 10) == 0);
}

/* So many of `releases` are below the level; noise of `factor` times the stated scale, and data. */
static size_t below(const char *mechanism, double factor, double data, size_t n, size_t releases,
                    double level)
{
    static float noise[MOST];
    size_t count = 0;
    for (size_t r = 0; r < releases; r++) {
        memset(noise, 0, sizeof noise);
        assert_int_equal(noise_simulate(noise, n, mechanism, factor, 11, r), SOTTO_OK);
        for (size_t i = 0; i < n; i++)
            x[i] = noise[i] + data * (double)(i % 3);
        count += small_values_ln_p(mechanism, 1, 0x1p-39, x, n) < log(level);
    }
    return count;
}

TEST(few_right_releases_are_below_the_level)
{
    static const char *const mechanisms[] = {"laplace", "logistic", "gaussian"};
    const size_t releases = (size_t)by_effort(2000, 20000, 200000);
    const double most = (double)releases / 100 + 6 * sqrt((double)releases / 100);
    for (size_t m = 0; m < 3; m++)
        for (size_t n = 1; n <= 25; n *= 5) {
            assert_true((double)below(mechanisms[m], 1, 0, n, releases, 1e-2) <= most);
            assert_true((double)below(mechanisms[m], 1, 0.5, n, releases / 4, 1e-2) <= most / 4 + 6);
        }
}

TEST(noise_of_a_third_is_refused)
{
    assert_int_equal(below("laplace", 1.0 / 3, 0, 200, 100, 1e-9), 100);
    assert_int_equal(below("logistic", 0.2, 0, 200, 100, 1e-9), 100);
    assert_int_equal(below("gaussian", 1.0 / 3, 0, 200, 100, 1e-9), 100);
}
