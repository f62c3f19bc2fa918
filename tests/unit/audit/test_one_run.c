/* The test of a trade-off curve in one run: its shape, its refusals, and its place in a result. */
#include "support/test.h"

#include "audit/measure/bayes_interval.h"
#include "audit/measure/curve_test.h"
#include "base/memory.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 200 };

/* Members score as high as their row, non-members are mixed in: an attack that is right `lead` times at each end. */
static void fill(double member[SIDE], double nonmember[SIDE], size_t lead)
{
    for (size_t i = 0; i < SIDE; i++) {
        member[i] = i < lead ? 1000 + (double)i : 2 * (double)i;
        nonmember[i] = i < lead ? -1000 - (double)i : 2 * (double)i + 1;
    }
}

static struct sotto_audit_result audited(const struct sotto_audit_scores *named, size_t count, double delta)
{
    struct sotto_audit_result r = {0};
    const struct sotto_audit_input in = {
        .n_member = SIDE, .n_nonmember = SIDE, .named = named, .named_count = count};
    const struct sotto_audit_options options = {.one_run_guesses = 20, .delta = delta, .draws = 100};
    assert_int_equal(sotto_audit(&r, &in, &options, NULL), SOTTO_OK);
    return r;
}

static struct sotto_privacy_profile gaussian(double mu, enum sotto_adjacency adjacency)
{
    struct sotto_privacy_profile p = {0};
    const struct sotto_sensitivity one = {.l2 = mu};
    assert_int_equal(sotto_privacy_profile_release(&p, "gaussian", 1, &one), SOTTO_OK);
    p.adjacency = adjacency;
    return p;
}

/* A point alone is the (epsilon, delta) curve; more right guesses, fewer records without one, or a higher curve reject more. */
TEST(the_test_is_monotone)
{
    double epsilon = 1.2, delta = 1e-5;
    const struct sotto_privacy_profile one = {&epsilon, &delta, 1, "a point", SOTTO_ZERO_OUT};
    struct profile_curve curve;
    assert_int_equal(profile_curve_make(&curve, &one), SOTTO_OK);
    const struct trade_off f = profile_trade_off(&curve);
    double last = 1;
    for (size_t right = 100; right <= 200; right += 5) {
        const struct guessed g = {2000, 200, right};
        double p = curve_p_value(&f, &g), bound = curve_epsilon(&g, delta, .05);
        assert_true(p <= last);
        assert_true((p <= .05) == (bound >= epsilon) || fabs(bound - epsilon) < 1e-6);
        assert_true(curve_mu(&g, .05) >= curve_mu(&(struct guessed){2000, 200, right - 5}, .05));
        last = p;
    }
    assert_true(last < 1e-3);
    profile_curve_clear(&curve);
    assert_true(curve_mu(&(struct guessed){2000, 200, 100}, .05) == 0);
    assert_true(curve_epsilon(&(struct guessed){2000, 200, 0}, 0, .05) == 0);
    assert_true(gaussian_epsilon(0, 1e-5) == 0);
}

TEST(a_profile_needs_points)
{
    double epsilon = -1, delta = .5;
    struct profile_curve curve = {0};
    const struct sotto_privacy_profile none = {.of = "nothing"},
                                       wrong = {&epsilon, &delta, 1, "", SOTTO_SAME_ADJACENCY};
    assert_int_equal(profile_curve_make(&curve, &none), SOTTO_EINVAL);
    assert_int_equal(profile_curve_make(&curve, &wrong), SOTTO_EINVAL);
}

TEST(a_leak_contradicts_the_curve)
{
    double member[SIDE], nonmember[SIDE];
    fill(member, nonmember, 20);
    const struct sotto_audit_scores named = {.name = "leak", .member = member, .nonmember = nonmember};
    struct sotto_audit_result r = audited(&named, 1, 1e-5), again = {0};
    struct sotto_privacy_profile low = gaussian(.3, SOTTO_ZERO_OUT), high = gaussian(4, SOTTO_ADD_REMOVE);
    assert_int_equal(r.attacks[0].one_run->right, 40);
    assert_true(r.attacks[0].one_run_bounds->mu > .3 && r.attacks[0].one_run_bounds->mu < 4);
    assert_int_equal(sotto_audit_test_curve(&r, &low, SOTTO_COINS_INCLUSION), SOTTO_OK);
    assert_true(r.curve->contradicted && !r.curve->refused && r.curve->p_value < .05);
    assert_string_equal(r.curve->attack, "leak");
    char *json = NULL, *text = NULL;
    assert_int_equal(sotto_audit_encode(&json, &r), SOTTO_OK);
    assert_int_equal(sotto_audit_decode(&again, json), SOTTO_OK);
    assert_true(again.curve && again.curve->contradicted && again.curve->p_value == r.curve->p_value);
    assert_true(again.attacks[0].one_run_bounds->mu == r.attacks[0].one_run_bounds->mu);
    assert_int_equal(sotto_audit_summary(&text, &again), SOTTO_OK);
    assert_non_null(strstr(text, "zero-out: CONTRADICTED at 95 %"));
    assert_non_null(strstr(text, "only if the curve is Gaussian: mu >="));
    sotto_text_free(text);
    sotto_text_free(json);
    sotto_audit_result_free(&again);
    assert_int_equal(sotto_audit_test_curve(&r, &high, SOTTO_COINS_INCLUSION), SOTTO_OK);
    assert_false(r.curve->contradicted);
    sotto_audit_result_free(&r);
    sotto_privacy_profile_clear(&low);
    sotto_privacy_profile_clear(&high);
}

/* Coins of inclusion say nothing of a replaced record, and the other way round. */
TEST(other_coins_are_refused)
{
    static const struct {
        enum sotto_adjacency adjacency;
        enum sotto_coins coins;
        bool tested;
    } cases[] = {{SOTTO_ZERO_OUT, SOTTO_COINS_INCLUSION, true},
                 {SOTTO_ADD_REMOVE, SOTTO_COINS_INCLUSION, true},
                 {SOTTO_REPLACE_ONE, SOTTO_COINS_INCLUSION, false},
                 {SOTTO_REPLACE_ONE, SOTTO_COINS_REPLACEMENT, true},
                 {SOTTO_REPLACE_INPUT, SOTTO_COINS_REPLACEMENT, true},
                 {SOTTO_ZERO_OUT, SOTTO_COINS_REPLACEMENT, false}};
    double member[SIDE], nonmember[SIDE];
    fill(member, nonmember, 20);
    const struct sotto_audit_scores named = {.name = "leak", .member = member, .nonmember = nonmember};
    struct sotto_audit_result r = audited(&named, 1, 0);
    assert_true(isnan(r.attacks[0].one_run_bounds->gaussian_epsilon));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_privacy_profile p = gaussian(.1, cases[i].adjacency);
        assert_int_equal(sotto_audit_test_curve(&r, &p, cases[i].coins), SOTTO_OK);
        assert_true((r.curve->refused == NULL) == cases[i].tested &&
                    r.curve->contradicted == cases[i].tested);
        sotto_privacy_profile_clear(&p);
    }
    struct sotto_privacy_profile p = gaussian(.1, SOTTO_ZERO_OUT);
    assert_int_equal(sotto_audit_test_curve(&r, &p, (enum sotto_coins)7), SOTTO_EINVAL);
    sotto_audit_result_free(&r);
    const struct sotto_audit_input in = {
        .n_member = SIDE, .n_nonmember = SIDE, .named = &named, .named_count = 1};
    assert_int_equal(sotto_audit(&r, &in, &(struct sotto_audit_options){.draws = 100}, NULL), SOTTO_OK);
    assert_int_equal(sotto_audit_test_curve(&r, &p, SOTTO_COINS_INCLUSION), SOTTO_OK);
    assert_non_null(strstr(r.curve->refused, "no attack has guesses"));
    sotto_audit_result_free(&r);
    sotto_privacy_profile_clear(&p);
}

/* The level is shared: what one attack refutes, it refutes less surely as one of three. */
TEST(attacks_share_the_level)
{
    double member[SIDE], nonmember[SIDE], nothing[2][SIDE];
    fill(member, nonmember, 18);
    fill(nothing[0], nothing[1], 0);
    const struct sotto_audit_scores named[] = {
        {.name = "one", .member = nothing[0], .nonmember = nothing[1]},
        {.name = "leak", .member = member, .nonmember = nonmember},
        {.name = "two", .member = nothing[0], .nonmember = nothing[1]}};
    struct sotto_audit_result three = audited(named, 3, 0), alone = audited(named + 1, 1, 0);
    struct sotto_privacy_profile p = gaussian(.3, SOTTO_ZERO_OUT);
    assert_int_equal(sotto_audit_test_curve(&three, &p, SOTTO_COINS_INCLUSION), SOTTO_OK);
    assert_int_equal(sotto_audit_test_curve(&alone, &p, SOTTO_COINS_INCLUSION), SOTTO_OK);
    assert_string_equal(three.curve->attack, "leak");
    assert_true(fabs(three.curve->p_value - 3 * alone.curve->p_value) < 1e-12);
    sotto_audit_result_free(&three);
    sotto_audit_result_free(&alone);
    sotto_privacy_profile_clear(&p);
}

TEST(no_memory_is_an_error)
{
    double member[SIDE], nonmember[SIDE];
    fill(member, nonmember, 20);
    const struct sotto_audit_scores named = {.name = "leak", .member = member, .nonmember = nonmember};
    struct sotto_audit_result r = audited(&named, 1, 0);
    struct sotto_privacy_profile p = gaussian(.3, SOTTO_ZERO_OUT), again = {0};
    const struct sotto_sensitivity one = {.l2 = 1};
    const struct sotto_sampled steps = {.mechanism = "gaussian",
                                        .noise_multiplier = 1,
                                        .sample_rate = .1,
                                        .steps = 4,
                                        .adjacency = SOTTO_ADD_REMOVE};
    for (long i = 0; i < 6; i++) {
        base_alloc_fail_after(i);
        sotto_status status = sotto_audit_test_curve(&r, &p, SOTTO_COINS_INCLUSION);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM || (i > 2 && status == SOTTO_OK));
        base_alloc_fail_after(i);
        status = i < 2 ? sotto_privacy_profile_release(&again, "gaussian", 1, &one)
                       : sotto_privacy_profile_sampled(&again, &steps, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM && again.count == 0);
    }
    sotto_audit_result_free(&r);
    sotto_privacy_profile_clear(&p);
}

/* More errors, smaller epsilon; nothing but errors is as telling as none. */
TEST(bayesian_intervals_are_ordered)
{
    struct sotto_estimate last = {INFINITY, INFINITY, INFINITY};
    for (size_t errors = 0; errors < 50; errors += 7) {
        struct sotto_estimate e = bayes_epsilon(100 - errors, 100, errors, 100, 1e-5, .95);
        assert_true(e.lower < e.estimate && e.estimate < e.upper);
        assert_true(e.lower < last.lower && e.estimate < last.estimate && e.upper < last.upper);
        struct sotto_estimate turned = bayes_epsilon(errors, 100, 100 - errors, 100, 1e-5, .95);
        assert_true(fabs(turned.estimate - e.estimate) < 1e-6);
        last = e;
    }
}
