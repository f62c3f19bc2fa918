/* Noise for a risk: closed forms of the trade-off curve, its own account, and targets that are none. */
#include "support/test.h"

#include "dp/account/risk.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct sotto_sensitivity one = {.l1 = 1, .l2 = 1};

static double phi(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double scale_of(const char *mechanism, struct sotto_risk risk)
{
    double scale = 0;
    if (calibrate_risk_on(&scale, NULL, mechanism, &one, &risk, 0, NULL) != SOTTO_OK)
        fail_msg("%s: %s", mechanism, sotto_error_text());
    return scale;
}

/* At least the exact scale, and no more than a part in 2,000 above it. */
static void tight(double found, double exact)
{
    if (!(found >= exact * (1 - 1e-12) && found <= exact * (1 + 5e-4)))
        fail_msg("%.12g; expected %.12g", found, exact);
}

/* mu = Phi^-1(t) - Phi^-1(a); twice Phi^-1((1 + A) / 2). */
TEST(gaussian)
{
    static const double z01 = -2.3263478740408408, z02 = -2.0537489106318225, z90 = 1.2815515655446004;
    tight(scale_of("gaussian", (struct sotto_risk){.max_tpr = "0.02@0.01"}), 1 / (z02 - z01));
    tight(scale_of("gaussian", (struct sotto_risk){.max_tpr = "0.9@0.1"}), 1 / (2 * z90));
    tight(scale_of("gaussian", (struct sotto_risk){.max_tpr = "0.99@0.98"}),
          1 / (z02 - z01)); /* the mirror image */
    for (double mu = .1; mu < 3; mu *= 2) {
        const double advantage = 2 * phi(mu / 2) - 1;
        tight(scale_of("gaussian", (struct sotto_risk){.max_advantage = advantage}), 1 / mu);
    }
}

static double quantile(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(phi(middle) < p ? &low : &high) = middle;
    }
    return low;
}

/* Pairs from everywhere in 0 < a < t < 1, near each other and near the ends: never less noise than the closed form, and no more
 * than a part in 1,000 above it. */
TEST(gaussian_everywhere)
{
    uint64_t state = 1;
    for (int i = 0; i < 100; i++) {
        double u[2];
        for (int k = 0; k < 2; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            u[k] = ((double)(state >> 11) + .5) * 0x1p-53;
        }
        const double fpr = i % 2 ? pow(10, -8 * u[0]) : u[0],
                     tpr = fpr + (1 - fpr) * (i % 2 ? pow(10, -4 * u[1]) : u[1]);
        char text[64];
        if (!(tpr < 1))
            continue;
        snprintf(text, sizeof text, "%.17g@%.17g", tpr, fpr);
        const double least = 1 / (quantile(tpr) - quantile(fpr)),
                     scale = scale_of("gaussian", (struct sotto_risk){.max_tpr = text});
        if (!(scale >= least * (1 - 1e-9) && scale <= least * 1.001))
            fail_msg("%s: %.12g; expected %.12g", text, scale, least);
    }
}

/* Laplace noise of epsilon: e^epsilon a up to e^-epsilon / 2, and at most 1 - e^(-epsilon/2) more than a. */
TEST(laplace)
{
    tight(scale_of("laplace", (struct sotto_risk){.max_tpr = "0.02@0.01"}), 1 / log(2));
    for (double epsilon = .1; epsilon < 4; epsilon *= 2) {
        const double advantage = -expm1(-epsilon / 2);
        tight(scale_of("laplace", (struct sotto_risk){.max_advantage = advantage}), 1 / epsilon);
    }
}

/* Whatever is pure tells no more than a coin of epsilon: (e^epsilon - 1) / (e^epsilon + 1). */
TEST(randomised_response)
{
    for (double epsilon = .1; epsilon < 4; epsilon *= 2) {
        const double advantage = tanh(epsilon / 2);
        tight(scale_of("randomised-response", (struct sotto_risk){.max_advantage = advantage}), 1 / epsilon);
    }
    tight(scale_of("randomised-response", (struct sotto_risk){.max_tpr = "0.02@0.01"}), 1 / log(2));
}

/* What the curve of the release itself says, by another path: the profile holds the target, and that of 1 % less noise does
 * not (the control; for Gaussian noise, whose profile is exact). */
TEST(profile_agrees)
{
    static const char *const mechanisms[] = {"gaussian", "logistic", "laplace"};
    for (size_t i = 0; i < 3; i++)
        for (int less = 0; less < 2; less++) {
            struct sotto_privacy_profile p = {0};
            double bound, scale = scale_of(mechanisms[i], (struct sotto_risk){.max_tpr = "0.02@0.01"});
            assert_int_equal(
                sotto_privacy_profile_release(&p, mechanisms[i], less ? .99 * scale : scale, &one), SOTTO_OK);
            assert_int_equal(sotto_reconstruction_bound(&bound, &p, .01), SOTTO_OK);
            if (less)
                assert_true(bound > .0200001);
            else
                assert_true(bound <= .02 * (1 + 2e-5));
            sotto_privacy_profile_clear(&p);
        }
}

/* Steps without sampling are one Gaussian release; sampled ones hold by their own profile, in both directions, and with 4 %
 * less noise they do not. */
TEST(sampled_steps)
{
    static const double z01 = -2.3263478740408408, z02 = -2.0537489106318225;
    const struct sotto_risk tpr = {.max_tpr = "0.02@0.01"}, advantage = {.max_advantage = .1};
    struct sotto_sampled s = {
        .mechanism = "gaussian", .sample_rate = 1, .steps = 4, .adjacency = SOTTO_ADD_REMOVE};
    double noise, bound;
    assert_int_equal(calibrate_sampled_risk(&noise, NULL, &s, &tpr, NULL), SOTTO_OK);
    tight(noise, 2 / (z02 - z01));
    for (int k = 0; k < 3; k++) {
        const int by_advantage = k == 2;
        s = (struct sotto_sampled){.mechanism = "gaussian",
                                   .sample_rate = .05,
                                   .steps = 100,
                                   .adjacency = k == 1 ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE,
                                   .delta = 1e-5};
        assert_int_equal(calibrate_sampled_risk(&noise, NULL, &s, by_advantage ? &advantage : &tpr, NULL),
                         SOTTO_OK);
        for (int less = 0; less < 2; less++) {
            struct sotto_privacy_profile p = {0};
            s.noise_multiplier = noise * (less ? .96 : 1);
            assert_int_equal(sotto_privacy_profile_sampled(&p, &s, NULL), SOTTO_OK);
            assert_true(p.epsilon[0] == 0);
            assert_int_equal(sotto_reconstruction_bound(&bound, &p, .01), SOTTO_OK);
            if (by_advantage)
                assert_true(less ? p.delta[0] > .1 : p.delta[0] <= .1);
            else
                assert_true(less ? bound > .02 : bound <= .02 * (1 + 1e-4));
            sotto_privacy_profile_clear(&p);
        }
    }
}

/* Logistic noise in many coordinates has no curve: its points are accounts, at deltas of a list, and each holds. */
TEST(a_profile_of_accounts)
{
    struct sotto_sampled s = {.mechanism = "logistic",
                              .noise_multiplier = 4,
                              .sample_rate = 1,
                              .steps = 1,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE};
    struct sotto_privacy_profile p = {0};
    struct sotto_account a;
    assert_int_equal(sotto_privacy_profile_sampled(&p, &s, NULL), SOTTO_OK);
    assert_true(p.count >= 12);
    s.delta = .01;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    size_t there = 0;
    for (size_t i = 0; i < p.count; i++)
        there += p.delta[i] == .01 && p.epsilon[i] == a.epsilon.upper;
    assert_int_equal(there, 1);
    sotto_privacy_profile_clear(&p);
}

TEST(targets_that_are_none)
{
    static const char *const wrong[] = {"0.02",      "0.02@",     "@0.01",  "0.02@0.01x",
                                        "0.01@0.02", "0.01@0.01", "0.02@0", "1@0.5",
                                        "nan@0.1",   "0.2@nan",   "2@1",    "0.02@-0.01"};
    double scale = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(calibrate_risk_on(&scale, NULL, "gaussian", &one,
                                           &(struct sotto_risk){.max_tpr = wrong[i]}, 0, NULL),
                         SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), wrong[i]));
    }
    static const double numbers[] = {-.1, 1, 2, INFINITY, 1e-12};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(calibrate_risk_on(&scale, NULL, "gaussian", &one,
                                           &(struct sotto_risk){.max_advantage = numbers[i]}, 0, NULL),
                         SOTTO_EINVAL);
    assert_int_equal(calibrate_risk_on(&scale, NULL, "gaussian", &one, &(struct sotto_risk){0}, 0, NULL),
                     SOTTO_EINVAL);
    assert_int_equal(
        calibrate_risk_on(&scale, NULL, "gaussian", &one, &(struct sotto_risk){"0.02@0.01", .1}, 0, NULL),
        SOTTO_EINVAL);
    assert_true(scale == 7);
    tight(scale_of("laplace", (struct sotto_risk){.max_tpr = "0.02@0.01", .max_advantage = NAN}), 1 / log(2));
    const struct sotto_sensitivity far = {.l1 = 1e100, .l2 = 1e100};
    assert_int_equal(calibrate_risk_on(&scale, NULL, "gaussian", &far,
                                       &(struct sotto_risk){.max_tpr = "0.02@0.01"}, 0, NULL),
                     SOTTO_EDOMAIN);
    assert_non_null(strstr(sotto_error_text(), "true-positive rate"));
}

TEST_GROUP(.shards = 4, .tags = "landing")
