/* The seldom branches of accounts and calibrations: refusals one by one, numbers at the ends of doubles,
 * memory that is out in the middle of a search. */
#include "support/test.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/accountant_crosscheck.h"
#include "dp/ball/ball.h"
#include "dp/account/calibrate_step_up.h"
#include "dp/account/calibrate_refine.h"
#include "dp/certificate/certificate.h"
#include "dp/account/composition.h"
#include "dp/mechanism/mechanism.h"
#include "rng/rng.h"
#include "sotto/lab/account.h"
#include "sotto/lab/compose.h"
#include "support/composition_oracle.h"

#include <math.h>
#include <string.h>

/* --- parameters */

static struct interval together(const char *mechanism, enum sotto_norm norm, double rate)
{
    const struct composed_release items[] = {
        {mechanism, {0.5, 0.5}, norm, rate, false, 2, SOTTO_SAMPLING_POISSON, 0},
        {mechanism, {0.5, 0.5}, norm, rate, false, 3, SOTTO_SAMPLING_POISSON, 0}};
    struct interval e;
    assert_int_equal(account_pld(&e, items, 2, 1e-3, NULL), SOTTO_OK);
    return e;
}

/* No curve of one coordinate: nothing is known from above, and 0 from below where there is no curve at
 * all. */
TEST(releases_without_a_curve)
{
    struct interval none = together("knorm", SOTTO_NORM_L2, 1),
                    sampled = together("knorm", SOTTO_NORM_L2, 0.5),
                    one = together("logistic", SOTTO_NORM_L2, 1),
                    all = together("logistic", SOTTO_NORM_L1, 1);
    assert_true(none.lo == 0 && isinf(none.hi));
    assert_true(sampled.lo == 0 && isinf(sampled.hi));
    assert_true(one.lo > 0 && isinf(one.hi));
    assert_true(all.lo == one.lo && all.hi < 2.5);
}

static void refused(sotto_status status, sotto_status expected, const char *text)
{
    assert_int_equal(status, expected);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' lacks '%s'", sotto_error_text(), text);
}

TEST(parameters)
{
    struct sotto_account a;
    struct sotto_interval d;
    struct sotto_composed c;
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 1}, two = {.l1 = NAN, .l2 = 0.5},
                             wide = {.l1 = 1e7, .l2 = 1};
    struct sotto_dp target = {1, 1e-5};
    double x = 7;
    s.value_step = 3;
    refused(sotto_account_release(&a, "discrete-laplace", 2, &s, 0, 1, NULL), SOTTO_EINVAL, "power of two");
    s.value_step = -1;
    refused(sotto_account_release(&a, "discrete-laplace", 2, &s, 0, 1, NULL), SOTTO_EINVAL, "value_step");
    s.value_step = 0;
    refused(sotto_account_release(&a, "discrete-gaussian", 2, &two, 1e-5, 1, NULL), SOTTO_EINVAL,
            "is less than value_step");
    refused(sotto_account_release(&a, "discrete-laplace", 2,
                                  &(struct sotto_sensitivity){.l1 = 0.5, .l2 = NAN}, 0, 1, NULL),
            SOTTO_EINVAL, "is less than value_step");
    refused(sotto_calibrate(&x, "nothing", &s, target, NULL), SOTTO_EINVAL, "'nothing'");
    refused(sotto_calibrate(&x, "one-sided-exponential", &s, target, NULL), SOTTO_EINVAL, "one-sided");
    refused(sotto_delta(&d, "gaussian", 1, &s, 1e101), SOTTO_EINVAL, "[0, 1e100]");
    refused(sotto_delta(&d, "gaussian", 1, &s, -1), SOTTO_EINVAL, "[0, 1e100]");
    refused(sotto_account_release_certified(&a, "laplace", 1,
                                            &(struct sotto_sensitivity){.l1 = 1e-6, .l2 = NAN}, 1e-5,
                                            (size_t)1 << 33, NULL),
            SOTTO_EDOMAIN, "2^32");
    refused(sotto_account_release_certified(&a, "laplace", 1, &wide, 1e-5, 2, NULL), SOTTO_EDOMAIN, "1e6");
    refused(sotto_account_sampled_certified(&a,
                                            &(struct sotto_sampled){.mechanism = "gaussian",
                                                                    .noise_multiplier = 1e6,
                                                                    .sample_rate = 0.001,
                                                                    .steps = (size_t)1 << 33,
                                                                    .delta = 1e-5,
                                                                    .adjacency = SOTTO_ADD_REMOVE},
                                            NULL),
            SOTTO_EDOMAIN, "2^32");
    refused(sotto_calibrate_sampled(&x,
                                    &(struct sotto_sampled){.mechanism = "gaussian",
                                                            .noise_multiplier = 0,
                                                            .sample_rate = 0.5,
                                                            .steps = 1,
                                                            .delta = 1e-5,
                                                            .clipping = SOTTO_NORM_L2,
                                                            .adjacency = SOTTO_ADD_REMOVE,
                                                            .sampling = SOTTO_SAMPLING_POISSON,
                                                            0},
                                    1e30, NULL),
            SOTTO_EDOMAIN, "is too large; its noise multiplier would be below 1e-9");
    refused(
        sotto_gaussian_classical(&(struct sotto_classical_gaussian){0}, 1e90, (struct sotto_dp){1e-90, 1e-5}),
        SOTTO_EDOMAIN, "no scale");
    assert_true(x == 7);
    /* sizes beyond what grids are made for are bounded without one */
    assert_int_equal(sotto_account_release(&a, "laplace", 1e13, &s, 1e-5, (size_t)1 << 41, NULL), SOTTO_OK);
    assert_true(isfinite(a.epsilon.upper));
    assert_int_equal(sotto_account_release(&a, "gaussian-classical", 20, &s, 1e-5, 2, NULL), SOTTO_OK);
    assert_int_equal(sotto_calibrate_sampled(&x,
                                             &(struct sotto_sampled){.mechanism = "logistic",
                                                                     .noise_multiplier = 0,
                                                                     .sample_rate = 0.01,
                                                                     .steps = 10,
                                                                     .delta = 1e-5,
                                                                     .clipping = SOTTO_NORM_L2,
                                                                     .adjacency = SOTTO_ADD_REMOVE,
                                                                     .sampling = SOTTO_SAMPLING_POISSON,
                                                                     0},
                                             1, NULL),
                     SOTTO_OK);
    assert_true(x > 0 && x < 7);
    /* nothing of the target delta is left for the rule */
    assert_int_equal(compose_simple(&c, (struct sotto_dp){0.1, 0.25}, 2, 0.5, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_true(c.epsilon.upper >= 0.2);
    assert_null(mechanism_at(1000));
    assert_string_equal(sensitivity_source_name((enum sotto_sensitivity_source)99), "unknown");
}

/* A guarantee so weak that the classical formula's noise never falls short of it. */
TEST(the_classical_formula_at_large_delta)
{
    struct sotto_classical_gaussian c;
    assert_int_equal(sotto_gaussian_classical(&c, 1, (struct sotto_dp){1, 0.999}), SOTTO_OK);
    assert_true(c.first_violation > 1);
}

/* Calibrated until the certified account holds. */
TEST(certified_calibrations)
{
    const struct sotto_sensitivity s = {.l1 = 1, .l2 = 1};
    const struct sotto_dp target = {1, 1e-3};
    struct sotto_sampled run = {.mechanism = "gaussian",
                                .noise_multiplier = 0,
                                .sample_rate = 0.01,
                                .steps = 10,
                                .delta = 1e-3,
                                .clipping = SOTTO_NORM_L2,
                                .adjacency = SOTTO_ADD_REMOVE,
                                .sampling = SOTTO_SAMPLING_POISSON,
                                0};
    struct sotto_account a;
    const char *const names[] = {"gaussian", "logistic", "laplace"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sotto_calibrate_certified(&a, names[i], &s, target, 1, NULL), SOTTO_OK);
        assert_true(a.epsilon.upper <= 1 && a.epsilon.upper > 1 - 1e-4 && a.scale > 0);
    }
    refused(sotto_calibrate_certified(&a, "nothing", &s, target, 1, NULL), SOTTO_EINVAL, "'nothing'");
    refused(sotto_calibrate_certified(&a, "exponential", &s, target, 1, NULL), SOTTO_ENOTSUP, "certified");
    refused(sotto_calibrate_sampled_certified(&a, &run, -1, NULL), SOTTO_EINVAL, "epsilon");
    run.adjacency = SOTTO_REPLACE_ONE;
    run.noise_multiplier = 8;
    run.mechanism = "logistic";
    refused(sotto_account_sampled_certified(&a, &run, NULL), SOTTO_ENOTSUP, "replace-one");
}

/* Slower accounts that behave as no true one should: each trial is counted. */
struct slow {
    double bound; /* upper epsilon = max(bound, factor / scale) */
    double factor;
    int trials, fails_at;
};
static sotto_status slow_account(struct sotto_account *out, double scale, const void *arg)
{
    struct slow *s = *(struct slow *const *)arg;
    if (++s->trials == s->fails_at)
        return SOTTO_ENOMEM;
    *out = (struct sotto_account){.scale = scale, .epsilon = {0, fmax(s->bound, s->factor / scale)}};
    return SOTTO_OK;
}

TEST(raising_until_it_holds)
{
    struct slow slow, *at = &slow;
    struct sotto_account a = {.scale = 7};
    const struct raise r = {slow_account, &at, {1, 1e-5}, "toy"};
    slow = (struct slow){.factor = 2}; /* held from the start: left alone */
    assert_int_equal(calibrate_step_up(&a, 2, &r), SOTTO_OK);
    assert_true(a.scale == 2 && slow.trials == 1);
    slow = (struct slow){.factor = 2 * (1 + 1e-9)}; /* a billionth short: raised by as little */
    assert_int_equal(calibrate_step_up(&a, 2, &r), SOTTO_OK);
    assert_true(a.epsilon.upper <= 1 && a.scale > 2 && a.scale < 2 * (1 + 1.1e-9) && slow.trials == 2);
    slow = (struct slow){.factor = 100}; /* far off: in few steps */
    assert_int_equal(calibrate_step_up(&a, 2, &r), SOTTO_OK);
    assert_true(a.epsilon.upper <= 1 && a.scale >= 100 && a.scale < 800 && slow.trials < 5);
    /* an account that no noise improves, one without a bound, and one that fails on the way */
    a.scale = 7;
    slow = (struct slow){.bound = 1.5};
    refused(calibrate_step_up(&a, 2, &r), SOTTO_EDOMAIN,
            "toy: no certified scale near 2 reaches epsilon 1 at");
    assert_int_equal(slow.trials, 31);
    slow = (struct slow){.bound = INFINITY};
    refused(calibrate_step_up(&a, 2, &r), SOTTO_EDOMAIN, "no certified scale");
    assert_int_equal(slow.trials, 1);
    for (int i = 1; i <= 2; i++) {
        slow = (struct slow){.factor = 100, .fails_at = i};
        assert_int_equal(calibrate_step_up(&a, 2, &r), SOTTO_ENOMEM);
    }
    assert_true(a.scale == 7);
}

/* --- balls */

TEST(balls)
{
    struct interval e = {1, 2};
    const struct ball_step quiet = {BALL_GAUSSIAN, 1, 1e14, 1, false}; /* losses of 1e-14 */
    assert_int_equal(ball_compose_epsilon(&e, &quiet, 1, 1e-5, NAN), SOTTO_OK);
    assert_true(e.lo == 0 && e.hi < 1e-9);
    struct interval all = ball_finite_sum(200, 7, 0); /* the terms grow at first */
    assert_true(all.lo <= 1 && all.hi >= 1 && all.hi - all.lo < 1e-10);
}

/* --- refinement of a scale: made-up curves */

static const double *steps_upper;
static int calls;

static sotto_status by_list(double *epsilon, double scale, const void *arg)
{
    (void)scale;
    (void)arg;
    *epsilon = steps_upper[calls++];
    return SOTTO_OK;
}

static double refined(const double *epsilons)
{
    double scale = 1;
    steps_upper = epsilons;
    calls = 0;
    assert_int_equal(calibrate_refine(&scale, &(struct refinement){by_list, NULL, 1}), SOTTO_OK);
    assert_true(scale <= 1 && calls <= 12);
    return scale;
}

TEST(refinement_of_odd_curves)
{
    const double flat[12] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    const double jumps[12] = {0.5, 2, 0.5, 2, 0.5, 2, 0.5, 2, 0.5, 2, 0.5, 2};
    const double falls[12] = {2, 1e-9, 1e-9, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    const double steep[12] = {0.9, 1e9, 0.9, 1e9, 0.9, 1e9, 0.9, 1e9, 0.9, 1e9, 0.9, 1e9};
    const double zero[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    assert_true(refined(flat) < 1 && calls == 12);
    assert_true(refined(jumps) < 1);
    assert_true(refined(falls) == 1); /* what was given does not hold: left as it is */
    assert_true(refined(steep) <= 1);
    assert_true(refined(zero) < 1e-3);
}

/* Epsilon is 1 at scale 1, and falls like powers of the scale with these shares. */
static sotto_status by_powers(double *epsilon, double scale, const void *arg)
{
    const double *share = arg;
    *epsilon = (share[0] + (share[1] + share[2] / (scale * scale)) / scale) /
               (sqrt(scale) * (share[0] + share[1] + share[2]));
    return SOTTO_OK;
}

/* A scale that is returned holds by the account itself, to the last bit, and little smaller ones do not. */
TEST(refinement_never_overshoots)
{
    struct rng r = rng_stream(12, RNG_EVALUATE, 0, 0);
    for (int i = 0; i < 2000; i++) {
        const double share[3] = {rng_unit(&r), rng_unit(&r), rng_unit(&r)};
        double scale = 1.01 + 3 * rng_unit(&r), epsilon;
        assert_int_equal(calibrate_refine(&scale, &(struct refinement){by_powers, share, 1}), SOTTO_OK);
        assert_int_equal(by_powers(&epsilon, scale, share), SOTTO_OK);
        assert_true(epsilon <= 1 && epsilon > 1 - 1e-7);
    }
}

/* --- memory that is out in the middle */

static sotto_status calibrate_composed(void)
{
    double x;
    const struct sotto_sensitivity s = {.l1 = 1, .l2 = 1};
    return sotto_calibrate_composed(&x, "laplace", &s, (struct sotto_dp){0.2, 1e-2}, 2, NULL);
}

static sotto_status both_directions(void) /* nearly all records are sampled: both directions matter */
{
    struct sotto_account a;
    return sotto_account_sampled(&a,
                                 &(struct sotto_sampled){.mechanism = "gaussian",
                                                         .noise_multiplier = 8,
                                                         .sample_rate = 0.999,
                                                         .steps = 1,
                                                         .delta = 1e-2,
                                                         .clipping = SOTTO_NORM_L2,
                                                         .adjacency = SOTTO_ADD_REMOVE,
                                                         .sampling = SOTTO_SAMPLING_POISSON,
                                                         0},
                                 NULL);
}

static sotto_status sampled_event(void)
{
    struct sotto_account a;
    const struct sotto_event e[] = {{.mechanism = "gaussian",
                                     .count = 1,
                                     .noise_multiplier = 8,
                                     .sample_rate = 0.01,
                                     .scale = 0,
                                     .l1 = NAN,
                                     .l2 = NAN,
                                     .adjacency = SOTTO_ADD_REMOVE}};
    return sotto_account_events(&a, e, 1, 1e-3, SOTTO_ADD_REMOVE, NULL);
}

static void sweep(sotto_status (*use)(void))
{
    sotto_status status = SOTTO_ENOMEM;
    int n = 0;
    for (; status == SOTTO_ENOMEM && n < 5000; n += n < 16 ? 1 : 9) {
        base_alloc_fail_after(n);
        status = use();
        base_alloc_fail_after(-1);
    }
    if (status != SOTTO_OK)
        fail_msg("allocation %d: %s", n, sotto_error_text());
    assert_true(n > 1);
}

TEST(memory_is_out_in_the_middle)
{
    sweep(calibrate_composed);
    sweep(both_directions);
    sweep(sampled_event);
}

static sotto_status agree(void)
{
    struct crosscheck a;
    return accountant_crosscheck(&a, 0.5, 2, 1e-3, NULL);
}

TEST(an_agreement_without_memory)
{
    struct crosscheck a;
    for (int n = 0; n < 24; n++) { /* the grid in doubles, then balls */
        base_alloc_fail_after(n);
        sotto_status status = agree();
        base_alloc_fail_after(-1);
        assert_int_equal(status, SOTTO_ENOMEM);
    }
    assert_int_equal(accountant_crosscheck(&a, 0.5, 2, 1e-3, NULL), SOTTO_OK);
    char why[200];
    struct crosscheck few = a;
    few.epsilon_count = 1;
    assert_true(agreement_holds(&a, why, sizeof why));
    assert_false(agreement_holds(&few, why, sizeof why));
    assert_non_null(strstr(why, "1 for epsilon"));
}

TEST_GROUP(.tags = "long")
