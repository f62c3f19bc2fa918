/* The test of a trade-off curve in one run, its bounds, the Bayesian interval and privacy profiles against
 * tests/golden/one_run.json (tools/golden_one_run.py: NumPy, SciPy, plain convolution). */
#include "support/test.h"

#include "audit/measure/bayes_interval.h"
#include "audit/measure/curve_test.h"
#include "io/json/json.h"
#include "sotto/private/all.h"

#include <math.h>

static struct json *golden;

static int read_golden(void **state)
{
    (void)state;
    return json_read_file(&golden, SOTTO_TEST_DIR "/golden/one_run.json") != SOTTO_OK;
}

static int free_golden(void **state)
{
    (void)state;
    json_free(golden);
    return 0;
}

static void near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%s: %.17g; expected %.17g", what, found, expected);
}

static double number(const struct json *row, size_t i)
{
    return json_number(json_at(row, i));
}

static struct guessed guessed_of(const struct json *row)
{
    return (struct guessed){(size_t)number(row, 0), (size_t)number(row, 1), (size_t)number(row, 2)};
}

TEST(bounds_agree)
{
    const struct json *list = json_find(golden, "bounds");
    assert_int_equal(json_count(list), 9);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *row = json_at(list, i);
        const struct guessed g = guessed_of(row);
        double delta = number(row, 3), mu = curve_mu(&g, .05);
        near(mu, number(row, 4), 1e-8, "mu");
        near(gaussian_epsilon(mu, delta), number(row, 5), 1e-7, "epsilon if the curve is Gaussian");
        near(curve_epsilon(&g, delta, .05), number(row, 6), 1e-8, "epsilon at 1e-5");
        near(curve_epsilon(&g, 0, .05), number(row, 7), 1e-8, "epsilon at 0");
    }
}

/* Curves as the accountant tells them, against closed forms: p-values may only be larger, and hardly are. */
TEST(p_values_agree)
{
    static const char *const mechanisms[] = {"gaussian", "logistic", "laplace"};
    const struct json *list = json_find(golden, "p_values");
    assert_int_equal(json_count(list), 21);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *row = json_at(list, i);
        const struct guessed g = guessed_of(row);
        const struct sotto_sensitivity moved = {.l1 = number(row, 3), .l2 = number(row, 3)};
        for (size_t k = 0; k < 3; k++) {
            struct sotto_privacy_profile profile = {0};
            struct profile_curve curve = {0};
            assert_int_equal(sotto_privacy_profile_release(&profile, mechanisms[k], 1, &moved), SOTTO_OK);
            assert_int_equal(profile_curve_make(&curve, &profile), SOTTO_OK);
            const struct trade_off f = profile_trade_off(&curve);
            double p = curve_p_value(&f, &g), exact = number(row, 4 + k);
            if (!(p >= exact * (1 - 1e-6) && p <= fmax(exact * 1.1, exact + 1e-4)))
                fail_msg("%s moved by %g, %zu of %zu right: p = %.10g; expected at least %.10g",
                         mechanisms[k], moved.l1, g.right, g.guesses, p, exact);
            profile_curve_clear(&curve);
            sotto_privacy_profile_clear(&profile);
        }
    }
}

TEST(bayesian_intervals_agree)
{
    const struct json *list = json_find(golden, "bayes");
    assert_int_equal(json_count(list), 6);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *row = json_at(list, i);
        const struct sotto_estimate e =
            bayes_epsilon((size_t)number(row, 0), (size_t)number(row, 1), (size_t)number(row, 2),
                          (size_t)number(row, 3), number(row, 4), number(row, 5));
        near(e.estimate, number(row, 6), 1e-4, "median");
        near(e.lower, number(row, 7), 1e-4, "lower end");
        near(e.upper, number(row, 8), 1e-3, "upper end");
    }
}

/* delta(epsilon) of a profile between two of its points lies on a straight line in e^epsilon at most. */
static double delta_at(const struct sotto_privacy_profile *p, double epsilon)
{
    size_t i = 1;
    while (i + 1 < p->count && p->epsilon[i] < epsilon)
        i++;
    double share = (exp(epsilon) - exp(p->epsilon[i - 1])) / (exp(p->epsilon[i]) - exp(p->epsilon[i - 1]));
    return p->delta[i - 1] + share * (p->delta[i] - p->delta[i - 1]);
}

TEST(compositions_agree)
{
    const struct json *list = json_find(golden, "compositions");
    assert_int_equal(json_count(list), 4);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *c = json_at(list, i), *epsilon = json_find(c, "epsilon"),
                          *delta = json_find(c, "delta");
        const struct sotto_sampled steps = {.mechanism = json_text(json_find(c, "mechanism")),
                                            .noise_multiplier = json_number(json_find(c, "noise")),
                                            .sample_rate = json_number(json_find(c, "rate")),
                                            .steps = (size_t)json_number(json_find(c, "steps")),
                                            .clipping = SOTTO_NORM_L1,
                                            .adjacency = SOTTO_ADD_REMOVE};
        struct sotto_privacy_profile p = {0};
        assert_int_equal(sotto_privacy_profile_sampled(&p, &steps, NULL), SOTTO_OK);
        for (size_t k = 0; k < json_count(epsilon); k++) {
            double expected = number(delta, k), found = delta_at(&p, number(epsilon, k));
            if (!(found >= expected * (1 - 1e-3) - 1e-7 && found <= expected * 1.01 + 1e-6))
                fail_msg("%s: delta(%g) = %.10g; expected about %.10g and hardly below", steps.mechanism,
                         number(epsilon, k), found, expected);
        }
        sotto_privacy_profile_clear(&p);
    }
}

TEST_GROUP(.set_up = read_golden, .tear_down = free_golden)
