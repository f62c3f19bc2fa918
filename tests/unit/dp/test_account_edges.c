/* Seldom branches of the accountants: laws so far apart that hardly anything is left to bound, deltas at a
 * rule's very edge, norms that are missing, names that are no file's. */
#include "support/test.h"

#include "base/memory.h"
#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_registry.h"
#include "dp/pld/pld.h"
#include "sotto/lab/account.h"
#include "sotto/lab/compose.h"
#include "sotto/private/print.h"
#include "support/composition_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(a_rate_of_one_is_sampled_training_still)
{
    struct sotto_account a;
    char *json = NULL;
    const struct sotto_sampled s = {.mechanism = "gaussian",
                                    .noise_multiplier = 2,
                                    .sample_rate = 1,
                                    .steps = 3,
                                    .delta = 1e-5,
                                    .adjacency = SOTTO_ADD_REMOVE};
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_json(&json, &a), SOTTO_OK);
    assert_non_null(strstr(json, "\"noise_multiplier\": 2.0"));
    assert_non_null(strstr(json, "\"clipping\": \"l2\""));
    sotto_text_free(json);
}

/* Everything is lost: epsilon is what one release after the other gives away, and no bound goes astray. */
TEST(laws_far_apart)
{
    struct sotto_account a;
    const struct sotto_sensitivity s = {.l1 = 800, .l2 = NAN, .source = SOTTO_SENSITIVITY_GIVEN};
    assert_int_equal(sotto_account_release(&a, "laplace", 1, &s, 1e-5, 2, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper <= 1600 && a.epsilon.upper > 1590 && a.epsilon.lower <= a.epsilon.upper);
    const struct sotto_event pair[] = {{.mechanism = "laplace", .count = 1, .scale = 1, .l1 = 800, .l2 = NAN},
                                       {.mechanism = "gaussian", .count = 1, .scale = 1, .l1 = NAN, .l2 = 1}};
    assert_int_equal(sotto_account_events(&a, pair, 2, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper > 795 && a.epsilon.upper < 806 && a.epsilon.lower <= a.epsilon.upper);
    const struct sotto_sampled far = {.mechanism = "logistic",
                                      .noise_multiplier = 1.0 / 700,
                                      .sample_rate = 0.5,
                                      .steps = 1,
                                      .delta = 1e-5,
                                      .clipping = SOTTO_NORM_L1,
                                      .adjacency = SOTTO_REPLACE_ONE};
    assert_int_equal(sotto_account_sampled(&a, &far, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper <= 1400.001 && a.epsilon.upper > 690 && a.epsilon.lower <= a.epsilon.upper);
}

/* P - Q at epsilon 0 where both mixtures share the records that are not sampled: q times that of the shift by
 * 2 t. */
TEST(a_replaced_record_at_epsilon_0)
{
    const struct pair_sampled p = {mechanism_find("laplace"), 0.5, 0.25, PLD_REPLACE};
    struct pair_point at = pair_replaced_point(&p, 0);
    double wanted = 0.25 * -expm1(-0.5); /* total variation of Laplace laws 1 apart */
    assert_true(at.value.lo <= wanted && at.value.hi >= wanted && at.value.hi - at.value.lo < 1e-9);
}

/* delta is what the parts use up, to the last bit: whether anything is left cannot be known. */
TEST(nothing_is_left_of_delta)
{
    struct sotto_composed c;
    int infinite = 0;
    for (int k = 2; k < 40; k++) {
        double used = -expm1(k * log1p(-1e-6));
        for (int i = -2; i <= 2; i++) {
            double delta = used * (1 + i * 0x1p-52);
            assert_int_equal(
                compose_simple(&c, (struct sotto_dp){1, 1e-6}, (size_t)k, delta, SOTTO_REPLACE_ONE),
                SOTTO_OK);
            infinite += isinf(c.epsilon.upper);
            assert_true(isinf(c.epsilon.upper) || fabs(c.epsilon.upper - k) < 1e-9);
        }
        assert_int_equal(
            compose_simple(&c, (struct sotto_dp){1, 1e-6}, (size_t)k, used * 1.001, SOTTO_REPLACE_ONE),
            SOTTO_OK);
        assert_true(c.epsilon.upper <= k + 1e-9);
    }
    assert_true(infinite > 0);
}

TEST(events_of_one_law)
{
    struct sotto_account a;
    static const char *const names[] = {"knorm", "discrete-gaussian", "discrete-laplace"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct sotto_event same[] = {{.mechanism = names[i],
                                            .count = 2,
                                            .scale = 20,
                                            .l1 = 5,
                                            .l2 = 3,
                                            .dimension = 4,
                                            .value_step = 1},
                                           {.mechanism = names[i],
                                            .count = 1,
                                            .scale = 20,
                                            .l1 = 5,
                                            .l2 = 3,
                                            .dimension = 4,
                                            .value_step = 1}};
        assert_int_equal(sotto_account_events(&a, same, 2, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
        assert_true(a.epsilon.upper > 0 && isfinite(a.epsilon.upper) && a.epsilon.lower <= a.epsilon.upper);
    }
    /* More releases than an exact composition takes: the other bounds stay. */
    const struct sotto_event many = {
        .mechanism = "logistic", .count = 2000000, .scale = 1e5, .l1 = 1, .l2 = 1};
    assert_int_equal(sotto_account_events(&a, &many, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper > 0 && a.epsilon.upper < 0.1);
    /* A norm that a law needs is not given: no curve, no guarantee, no crash. */
    const struct sotto_event bare[] = {
        {.mechanism = "knorm", .count = 1, .scale = 1, .l1 = 1, .l2 = NAN, .dimension = 3},
        {.mechanism = "laplace", .count = 1, .scale = 1, .l1 = 1, .l2 = NAN}};
    sotto_status status = sotto_account_events(&a, bare, 2, 1e-5, SOTTO_SAME_ADJACENCY, NULL);
    assert_true(status != SOTTO_OK || isinf(a.epsilon.upper) || a.epsilon.upper >= 1);
    /* Sampled steps for groups: two records are the pair of a replaced one under replace-one, four are
     * not. */
    for (size_t group = 1; group <= 2; group++) {
        const struct sotto_event sampled = {.mechanism = "gaussian",
                                            .count = 10,
                                            .noise_multiplier = 2,
                                            .sample_rate = 0.1,
                                            .group = group,
                                            .adjacency = SOTTO_ADD_REMOVE};
        assert_int_equal(sotto_account_events(&a, &sampled, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
        assert_true(isfinite(a.epsilon.upper));
    }
    /* delta above any distance: epsilon is 0 */
    const struct sotto_event near[] = {{.mechanism = "gaussian", .count = 1, .scale = 10, .l1 = NAN, .l2 = 1},
                                       {.mechanism = "laplace", .count = 1, .scale = 10, .l1 = 1, .l2 = NAN}};
    const struct sotto_event nearer[] = {
        {.mechanism = "gaussian", .count = 1, .scale = 5, .l1 = NAN, .l2 = 1},
        {.mechanism = "laplace", .count = 1, .scale = 5, .l1 = 1, .l2 = NAN}};
    /* .080 and .095 alone: more than delta together, had they been added up */
    assert_int_equal(sotto_account_events(&a, nearer, 2, 0.16, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper < 1e-6);
    assert_int_equal(sotto_account_events(&a, near, 2, 0.9, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper >= 0 && a.epsilon.upper < 1e-6);
}

TEST(names_of_ledgers)
{
    char *path = NULL, name[102];
    memset(name, 'a', 101);
    name[101] = 0;
    const char *const odd[] = {"", ".hidden", name, "a/b"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        if (ledger_default_path(&path, odd[i]) == SOTTO_OK) { /* by its hash, not by its name */
            const char *last = strrchr(path, '/') + 1;
            assert_true(last[0] != '.' && strlen(last) < 110);
            base_free(path);
        }
        path = NULL;
    }
}

TEST(a_grid_without_memory)
{
    struct pld_grid grid;
    base_alloc_fail_after(0);
    sotto_status status = pld_grid_make(&grid, (struct pld_range){-1, 1}, 0.01);
    base_alloc_fail_after(-1);
    assert_int_equal(status, SOTTO_ENOMEM);
}

TEST(both_relations_are_those_of_their_own_accounts)
{
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 4,
                              .sample_rate = 0.05,
                              .steps = 200,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON};
    for (int replaced = 0; replaced < 2; replaced++) {
        struct sotto_account both, one, other;
        s.adjacency = replaced ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE;
        assert_int_equal(sotto_account_sampled_both(&both, &s, NULL), SOTTO_OK);
        assert_int_equal(sotto_account_sampled(&one, &s, NULL), SOTTO_OK);
        s.adjacency = replaced ? SOTTO_ADD_REMOVE : SOTTO_REPLACE_ONE;
        assert_int_equal(sotto_account_sampled(&other, &s, NULL), SOTTO_OK);
        assert_true(both.epsilon.upper == one.epsilon.upper);
        assert_true(both.other_epsilon.upper == other.epsilon.upper);
        assert_true(both.has_other);
        assert_int_equal(both.other_adjacency, other.adjacency);
        assert_false(one.has_other);
    }
    s.adjacency = SOTTO_REPLACE_ONE;
    s.sampling = SOTTO_SAMPLING_FIXED;
    struct sotto_account fixed;
    assert_int_equal(sotto_account_sampled_both(&fixed, &s, NULL), SOTTO_OK);
    assert_false(fixed.has_other); /* one more or less changes how many are drawn */
}

TEST(steps_without_an_adjacency_are_of_a_replaced_record)
{
    struct sotto_sampled s = {
        .mechanism = "gaussian", .noise_multiplier = 4, .sample_rate = 0.05, .steps = 200, .delta = 1e-5};
    struct sotto_account given, replaced, zeroed, added;
    assert_int_equal(sotto_account_sampled(&given, &s, NULL), SOTTO_OK);
    s.adjacency = SOTTO_REPLACE_ONE;
    assert_int_equal(sotto_account_sampled(&replaced, &s, NULL), SOTTO_OK);
    s.adjacency = SOTTO_ADD_REMOVE;
    assert_int_equal(sotto_account_sampled(&added, &s, NULL), SOTTO_OK);
    s.adjacency = SOTTO_ZERO_OUT;
    assert_int_equal(sotto_account_sampled(&zeroed, &s, NULL), SOTTO_OK);
    assert_int_equal(given.adjacency, SOTTO_REPLACE_ONE);
    assert_true(given.epsilon.upper == replaced.epsilon.upper && given.epsilon.lower > added.epsilon.upper);
    assert_int_equal(zeroed.adjacency, SOTTO_ZERO_OUT);
    assert_true(zeroed.epsilon.upper == added.epsilon.upper);
    s.adjacency = SOTTO_REPLACE_INPUT;
    assert_int_equal(sotto_account_sampled(&given, &s, NULL), SOTTO_EINVAL);
}

TEST(adjacencies_have_names)
{
    static const char *const names[] = {"replace-one", "add-remove", "zero-out", "replace-input"};
    for (int i = 0; i < 4; i++) {
        enum sotto_adjacency found = SOTTO_SAME_ADJACENCY;
        assert_string_equal(sotto_adjacency_name((enum sotto_adjacency)i), names[i]);
        assert_int_equal(sotto_adjacency_find(&found, names[i]), SOTTO_OK);
        assert_int_equal(found, i);
    }
    enum sotto_adjacency found;
    assert_int_equal(sotto_adjacency_find(&found, "neighbours"), SOTTO_EINVAL);
    assert_string_equal(sotto_adjacency_name(SOTTO_SAME_ADJACENCY), "unknown");
}

TEST(the_default_delta_is_a_power_of_ten_below_a_tenth_of_1_over_n)
{
    static const struct {
        size_t records;
        double delta;
    } known[] = {{0, 0},      {1, 0.1},     {2, 0.01},     {10, 0.01},
                 {11, 0.001}, {100, 0.001}, {60000, 1e-6}, {1000000, 1e-7}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fabs(sotto_default_delta(known[i].records) - known[i].delta) <= 1e-12 * known[i].delta);
    for (size_t n = 1; n < 100000; n += 37)
        assert_true(sotto_default_delta(n) <= 1 / (10 * (double)n) * (1 + 1e-12));
    assert_true(sotto_default_delta(SIZE_MAX) > 0);
}

/* Neither law has a Renyi bound or a pure epsilon for both: the privacy-loss distribution alone bounds them, and at most by
 * what basic composition at half of delta each gives. */
TEST(laws_that_only_the_loss_distribution_bounds)
{
    struct sotto_account a;
    const struct sotto_event both[] = {{.mechanism = "gaussian",
                                        .count = 1,
                                        .noise_multiplier = 7.461263269632928,
                                        .sample_rate = 1,
                                        .adjacency = SOTTO_ADD_REMOVE},
                                       {.mechanism = "laplace",
                                        .count = 1,
                                        .noise_multiplier = 2,
                                        .sample_rate = 1,
                                        .clipping = SOTTO_NORM_L1,
                                        .adjacency = SOTTO_ADD_REMOVE}};
    assert_int_equal(sotto_account_events(&a, both, 2, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    assert_string_equal(a.accountant, "privacy-loss distribution");
    assert_true(a.epsilon.lower > 1.9 && a.epsilon.upper < 2 && a.epsilon.upper - a.epsilon.lower < 1e-5);
}

TEST_GROUP(.tags = "long")
