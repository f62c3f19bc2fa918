/* Limits and p-values of counts, and certified radii of smoothing, against tables (missing-systems.md 3.2, 3.3). */
#include "support/test.h"

#include "num/beta.h"
#include "num/binomial.h"

#include <math.h>

static void near(double found, double expected, double digits)
{
    if (!(fabs(found - expected) <= 0.5001 * digits))
        fail_msg("%.12g, expected %.12g", found, expected);
}

TEST(lower_limits_and_radii)
{
    static const struct {
        uint64_t n, k;
        double p, radius; /* radius 0: no radius */
    } table[] = {{100, 99, .911373111, 1.349259},       {1000, 1000, .993116048, 2.463263},
                 {1000, 999, .990804502, 2.357651},     {1000, 600, .551075474, .128379},
                 {1000, 550, .500675960, .001694},      {1000, 540, .490655861, 0},
                 {10000, 9900, .986531159, 2.212420},   {100000, 90000, .897036496, 1.264845},
                 {100000, 100000, .999930925, 3.811457}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double p = binomial_lower_limit(table[i].k, table[i].n, .001);
        near(p, table[i].p, 1e-9);
        near(normal_quantile_below(p), table[i].radius, 1e-6);
    }
}

TEST(limits_are_rounded_down)
{
    for (uint64_t n = 1; n < 200000; n = n * 3 + 1)
        for (uint64_t k = 0; k <= n; k += n / 7 + 1)
            for (double alpha = .5; alpha > 1e-9; alpha /= 37) {
                double p = binomial_lower_limit(k, n, alpha);
                double exact = k == 0   ? 0
                               : k == n ? pow(alpha, 1 / (double)n)
                                        : beta_quantile(alpha, (double)k, (double)(n - k) + 1);
                assert_true(p <= exact * (1 + 1e-13) && p >= exact * (1 - 1e-11));
            }
}

TEST(fair_coins)
{
    near(fair_coin_p_value(60, 100), .056887934, 1e-9);
    near(fair_coin_p_value(65, 100), .003517642, 1e-9);
    near(fair_coin_p_value(66, 100), .001789930, 1e-9);
    near(fair_coin_p_value(70, 100), .000078501, 1e-9);
    assert_true(fair_coin_p_value(34, 100) == fair_coin_p_value(66, 100));
    assert_true(fair_coin_p_value(50, 100) == 1 && fair_coin_p_value(0, 0) == 1);
    near(fair_coin_p_value(1, 1), 1, 1e-9);
    near(fair_coin_p_value(10, 10), 2.0 / 1024, 1e-12);
}

TEST(quantiles)
{
    near(laplace_quantile_below(.911373111), 1.730173, 1e-6);
    near(logistic_quantile_below(.911373111), 2.330517, 1e-6);
    near(laplace_quantile_below(.990804502), 3.995894, 1e-6);
    near(logistic_quantile_below(.990804502), 4.679803, 1e-6);
    double s = sqrt(6) / M_PI; /* logistic of the same variance as Laplace of scale 1 */
    near(s, .779697, 1e-6);
    near(s * logistic_quantile_below(.551075474), .15985, 2e-5);
    near(laplace_quantile_below(.551075474), .1078, 1e-4);
    near(s * logistic_quantile_below(.993116048), 3.876, 1e-3);
    near(laplace_quantile_below(.993116048), 4.285, 1e-3);
    assert_true(s * logistic_quantile_below(.948052) > laplace_quantile_below(.948052));
    assert_true(s * logistic_quantile_below(.948054) < laplace_quantile_below(.948054));
}

TEST(quantiles_are_rounded_down)
{
    double (*const below[])(double) = {normal_quantile_below, laplace_quantile_below,
                                       logistic_quantile_below};
    for (int law = 0; law < 3; law++) {
        assert_true(below[law](.5) == 0 && below[law](.2) == 0 && below[law](0) == 0);
        assert_true(isfinite(below[law](1)) && below[law](1) > 8);
        for (double p = .5, last = 0; p < 1; p += 1.7e-4) {
            double z = below[law](p);
            double at = law == 0 ? erfc(-z * M_SQRT1_2) / 2 : law == 1 ? 1 - exp(-z) / 2 : 1 / (1 + exp(-z));
            assert_true(z >= last && at <= p * (1 + 4e-16) && at > p - 1e-12);
            last = z;
        }
    }
}
