/* src/run/run_ceiling: ceilings of attacks against their closed forms. */
#include "support/test.h"

#include "run/stages/run_ceiling.h"

#include <math.h>

/* Origin: total variation tanh(t/4) and the trade-off curve of logistic noise, where log-odds differ by t. */
TEST(logistic_noise_has_tanh_and_an_odds_ratio)
{
    const double ts[] = {0.01, 0.1, 1, 3, 10}, rates[] = {0.001, 0.01, 0.2, 0.7};
    for (size_t i = 0; i < 5; i++) {
        struct sotto_sensitivity s = {.l1 = 2 * ts[i], .l2 = NAN};
        double accuracy, tpr;
        assert_int_equal(run_ceiling_accuracy(&accuracy, "logistic", 2, &s), SOTTO_OK);
        assert_true(fabs(accuracy - (1 + tanh(ts[i] / 4)) / 2) < 1e-12);
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(run_ceiling_tpr(&tpr, "logistic", 2, &s, rates[k]), SOTTO_OK);
            double odds = log(tpr / (1 - tpr)) - log(rates[k] / (1 - rates[k]));
            assert_true(odds > ts[i] - 1e-9 && odds < ts[i] + 1e-6);
        }
    }
}

static double phi(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* Laplace: a line, a hyperbola, a line (Dong, Roth & Su 2019). Gaussian: Phi(Phi^-1(fpr) + mu), here checked in
 * the other direction. */
TEST(laplace_and_gaussian_have_their_curves)
{
    double t = 1, tpr;
    struct sotto_sensitivity by_l1 = {.l1 = t, .l2 = NAN}, by_l2 = {.l1 = NAN, .l2 = 1.5};
    assert_int_equal(run_ceiling_tpr(&tpr, "laplace", 1, &by_l1, 0.01), SOTTO_OK);
    assert_true(fabs(tpr - exp(t) * 0.01) < 1e-6); /* below e^-t / 2 */
    assert_int_equal(run_ceiling_tpr(&tpr, "laplace", 1, &by_l1, 0.3), SOTTO_OK);
    assert_true(fabs(tpr - (1 - exp(-t) / (4 * 0.3))) < 1e-6);
    assert_int_equal(run_ceiling_tpr(&tpr, "laplace", 1, &by_l1, 0.9), SOTTO_OK);
    assert_true(fabs(tpr - (1 - exp(-t) * 0.1)) < 1e-6);
    for (double z = -3; z < 2; z += 0.5) {
        assert_int_equal(run_ceiling_tpr(&tpr, "gaussian", 1, &by_l2, phi(z)), SOTTO_OK);
        assert_true(fabs(tpr - phi(z + 1.5)) < 1e-6);
    }
}

TEST(what_is_unknown_is_refused)
{
    double out;
    struct sotto_sensitivity none = {.l1 = NAN, .l2 = NAN}, one = {.l1 = 1, .l2 = NAN};
    assert_true(run_ceiling_accuracy(&out, "laplace", 1, &none) != SOTTO_OK);
    assert_true(run_ceiling_tpr(&out, "laplace", 1, &none, 0.1) != SOTTO_OK);
    assert_int_equal(run_ceiling_tpr(&out, "laplace", 1, &one, 0), SOTTO_EINVAL);
    assert_int_equal(run_ceiling_tpr(&out, "laplace", 1, &one, NAN), SOTTO_EINVAL);
}
