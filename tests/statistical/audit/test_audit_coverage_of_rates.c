/* Every interval that an audit prints or gates covers: simulated audits with known truth, counted. An exact binomial test
 * at 1e-4 must not refute a coverage of 94 %, and must refute it for the interval that once stood beside "TPR at FPR x"
 * (Clopper-Pearson at a threshold from the other half, whose own chance it leaves out).
 *
 * Efforts 1, 5 and 50: 120, 600 and three times 2,000 audits a cell, and 40, 200 and three times 666 of 23 attacks. If every
 * coverage is 95 %, some of the 61 tests (183 at effort 50) refutes one with probability 2e-4, 4e-5 and 3e-6. Found with
 * probability 95 %: a coverage of 77 %, 87 % and 90 % or less, and of gates 63 %, 82 % and 88 %. Intervals half as wide cover
 * about 67 %, and are refuted at each effort. */
#include "support/test.h"
#include "support/effort.h"

#include "num/beta.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000, ATTACKS = 23 };

static const struct sotto_context alone = {.threads = 1};

static size_t audits(void)
{
    return (size_t)by_effort(120, 600, 2000);
}

static uint64_t seeds(void)
{
    return (uint64_t)by_effort(1, 1, 3);
}

/* P(Bin(n, .94) <= hits) < 1e-4. */
static bool refuted(size_t hits, size_t n)
{
    return hits < n && beta_cdf(0.94, (double)hits + 1, (double)(n - hits)).upper < 1e-4;
}

static double above(double x)
{
    return 0.5 * erfc(x * M_SQRT1_2);
}

/* The x with P(N(0, 1) > x) = p. */
static double threshold_of(double p)
{
    double low = 0, high = 10;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(above(middle) > p ? &low : &high) = middle;
    }
    return low;
}

static bool holds(const struct sotto_estimate *e, double truth)
{
    return e->lower <= truth && truth <= e->upper;
}

static void draw(double *x, size_t n, double shift, struct rng *r)
{
    for (size_t i = 0; i < n; i++)
        x[i] = rng_normal(r) + shift;
}

/* One audit of N(mu, 1) against N(0, 1); free it. */
static void audit_normal(struct sotto_audit_result *out, size_t n, double mu, size_t draws, uint64_t seed)
{
    static double member[MOST], nonmember[MOST];
    struct rng r = rng_stream(seed, RNG_TEST, n, (uint64_t)(10 * mu));
    draw(member, n, mu, &r);
    draw(nonmember, n, 0, &r);
    const struct sotto_audit_input in = {
        .member_scores = member, .nonmember_scores = nonmember, .n_member = n, .n_nonmember = n};
    const struct sotto_audit_options options = {.seed = seed, .draws = draws};
    assert_int_equal(sotto_audit(out, &in, &options, &alone), SOTTO_OK);
}

/* How many intervals held the truth. */
struct covered {
    size_t area, balanced, tpr[2], fixed[2], of_fixed[2];
};

static struct covered count(size_t n, double mu, uint64_t seed)
{
    struct covered c = {0};
    for (uint64_t i = 0; i < audits(); i++) {
        struct sotto_audit_result r = {0};
        audit_normal(&r, n, mu, 1000, seed << 32 | i);
        const struct sotto_audit_attack *a = &r.attacks[0];
        c.area += holds(&a->auc.area, above(-mu * M_SQRT1_2));
        c.balanced += holds(&a->balanced.accuracy,
                            (above(a->balanced.threshold - mu) + 1 - above(a->balanced.threshold)) / 2);
        for (size_t k = 0; k < 2; k++) {
            const double truth = above(threshold_of(a->rates[k].fpr) - mu);
            c.tpr[k] += a->rates[k].refused || holds(&a->rates[k].tpr.rate, truth);
            c.fixed[k] += a->rates[k].refused || holds(&a->rates[k].fixed.tpr, truth);
            c.of_fixed[k] +=
                a->rates[k].refused || holds(&a->rates[k].fixed.tpr, above(a->rates[k].fixed.threshold - mu));
        }
        sotto_audit_result_free(&r);
    }
    return c;
}

TEST(each_interval_covers)
{
    const size_t sizes[] = {500, 1000, 5000};
    const double shifts[] = {0, 0.5, 1.5};
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        for (size_t i = 0; i < 3; i++)
            for (size_t k = 0; k < 3; k++) {
                const struct covered c = count(sizes[i], shifts[k], seed);
                print_message(
                    "n %zu, mu %g: area %zu, balanced %zu, TPR %zu %zu, fixed beforehand %zu %zu (its own: "
                    "%zu %zu) of %zu\n",
                    sizes[i], shifts[k], c.area, c.balanced, c.tpr[0], c.tpr[1], c.fixed[0], c.fixed[1],
                    c.of_fixed[0], c.of_fixed[1], audits());
                assert_false(refuted(c.area, audits()));
                assert_false(refuted(c.balanced, audits()));
                for (size_t rate = 0; rate < 2; rate++) {
                    assert_false(refuted(c.tpr[rate], audits()));
                    assert_false(refuted(c.of_fixed[rate], audits()));
                }
                if (sizes[i] == 5000 && shifts[k] == 1.5) { /* the old interval of the same numbers */
                    assert_true(refuted(c.fixed[0], audits()));
                    assert_true(refuted(c.fixed[1], audits()));
                }
            }
}

TEST(too_few_nonmembers_are_said)
{
    struct sotto_audit_result r = {0};
    int failed = 0;
    char *line = NULL;
    audit_normal(&r, 1000, 1.5, 1000, 1);
    const struct sotto_audit_rate *rate = &r.attacks[0].rates[1];
    assert_true(rate->fpr == 0.001 && rate->tpr.rate.lower == 0);
    assert_string_equal(rate->tpr.no_lower,
                        "too few non-members for a lower bound at this FPR: 1000 given, 4380 needed");
    assert_int_equal(sotto_audit_gate(&failed, &line, &r, "tpr.lower@0.001>0.01"), SOTTO_EDOMAIN);
    assert_non_null(strstr(sotto_error_text(), "too few non-members for a lower bound"));
    assert_int_equal(sotto_audit_gate(&failed, &line, &r, "tpr.upper@0.001<0.01"), SOTTO_OK);
    sotto_text_free(line);
    sotto_audit_result_free(&r);
    audit_normal(&r, 4400, 1.5, 1000, 1);
    assert_null(r.attacks[0].rates[1].tpr.no_lower);
    assert_int_equal(sotto_audit_gate(&failed, &line, &r, "tpr.lower@0.001>0.01"), SOTTO_OK);
    sotto_text_free(line);
    sotto_audit_result_free(&r);
}

/* 23 attacks that see nothing: a gate at the edge of guessing fires in at most 5 % (here: 6 %) of the audits, and the
 * single intervals would fire far more often. */
static void gates_share_the_error_over_attacks_of(uint64_t seed)
{
    enum { N = 1000 };
    static double member[ATTACKS][N], nonmember[ATTACKS][N];
    static const char *const rules[] = {"auc.lower>0.5", "tpr.lower@0.01>0.01", "balanced_accuracy.lower>0.5",
                                        "epsilon>0"};
    const size_t rounds = audits() / 3;
    char names[ATTACKS][8];
    struct sotto_audit_scores named[ATTACKS] = {0};
    size_t quiet[4] = {0}, old_quiet[2] = {0};
    for (uint64_t i = 0; i < rounds; i++) {
        struct rng stream = rng_stream(5 + 10 * (seed - 1), RNG_TEST, i, 0);
        for (size_t k = 0; k < ATTACKS; k++) {
            draw(member[k], N, 0, &stream);
            draw(nonmember[k], N, 0, &stream);
            snprintf(names[k], sizeof names[k], "a%zu", k);
            named[k].name = names[k];
            named[k].member = member[k];
            named[k].nonmember = nonmember[k];
        }
        const struct sotto_audit_input in = {
            .named = named, .named_count = ATTACKS, .n_member = N, .n_nonmember = N};
        const struct sotto_audit_options options = {.seed = i, .draws = 100};
        struct sotto_audit_result r = {0};
        assert_int_equal(sotto_audit(&r, &in, &options, &alone), SOTTO_OK);
        for (size_t k = 0; k < 4; k++) {
            int failed = 0;
            char *line = NULL;
            assert_int_equal(sotto_audit_gate(&failed, &line, &r, rules[k]), SOTTO_OK);
            sotto_text_free(line);
            quiet[k] += !failed;
        }
        bool area = false, tpr = false;
        for (size_t k = 0; k < ATTACKS; k++) {
            area = area || r.attacks[k].auc.area.lower > 0.5;
            tpr = tpr || r.attacks[k].rates[0].fixed.tpr.lower > 0.01;
        }
        old_quiet[0] += !area, old_quiet[1] += !tpr;
        sotto_audit_result_free(&r);
    }
    print_message("quiet: %zu %zu %zu %zu, by single intervals %zu %zu, of %zu\n", quiet[0], quiet[1],
                  quiet[2], quiet[3], old_quiet[0], old_quiet[1], rounds);
    for (size_t k = 0; k < 4; k++)
        assert_false(refuted(quiet[k], rounds));
    assert_true(refuted(old_quiet[0], rounds));
    assert_true(refuted(old_quiet[1], rounds));
}

TEST(gates_share_the_error_over_attacks)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        gates_share_the_error_over_attacks_of(seed);
}

/* Randomised response with epsilon ln 3, each record a member by its own coin: all bounds hold, their best is at most ln 3
 * and the odds ratio is 9. Each bound at full confidence, the best of them picked: the control. */
static void bounds_share_the_error_of(uint64_t seed)
{
    enum { N = 600 };
    size_t best = 0, odds = 0, half_odds = 0, useful = 0;
    for (uint64_t i = 0; i < audits(); i++) {
        double score[2][N];
        size_t n[2] = {0, 0};
        struct rng stream = rng_stream(6 + 10 * (seed - 1), RNG_TEST, i, 0);
        for (size_t k = 0; k < N; k++) {
            const size_t member = rng_unit(&stream) < 0.5;
            const double flagged = (rng_unit(&stream) < 0.75) == (member == 1);
            score[member][n[member]++] = flagged + 0.5 * rng_unit(&stream);
        }
        const struct sotto_audit_input in = {
            .member_scores = score[1], .nonmember_scores = score[0], .n_member = n[1], .n_nonmember = n[0]};
        const struct sotto_audit_options options = {.seed = i,
                                                    .draws = 100,
                                                    .odds_ratio = 1,
                                                    .one_run_guesses = N / 4,
                                                    .has_claim = 1,
                                                    .claim_epsilon = log(3)};
        struct sotto_audit_result r = {0};
        assert_int_equal(sotto_audit(&r, &in, &options, &alone), SOTTO_OK);
        const struct sotto_audit_attack *a = &r.attacks[0];
        assert_int_equal(a->epsilon_best.bounds, 3);
        assert_true(r.claim->lower_bound == a->claim->best.lower_bound);
        assert_true((r.claim->lower_bound > log(3)) == (r.claim->contradicted != 0));
        best += !r.claim->contradicted;
        useful += a->epsilon_best.lower_bound > 0.5;
        const struct sotto_estimate *e = &a->odds->ln_odds_ratio;
        const double middle = (e->lower + e->upper) / 2, reach = (e->upper - e->lower) / 2;
        odds += holds(e, log(9));
        half_odds += fabs(middle - log(9)) <= reach / 2;
        sotto_audit_result_free(&r);
    }
    print_message("bounds: %zu, useful %zu, odds %zu, by half the interval %zu, of %zu\n", best, useful, odds,
                  half_odds, audits());
    assert_false(refuted(best, audits()));
    assert_true((double)useful > 0.9 * (double)audits());
    assert_false(refuted(odds, audits()));
    assert_true(refuted(half_odds, audits()));
}

TEST(bounds_share_the_error)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        bounds_share_the_error_of(seed);
}

/* The attribute is what the feature shows in 97 of 100 records; a resampled share of 60 records covers 84 %. */
static void accuracy_of_attributes_covers_of(uint64_t seed)
{
    enum { N = 260, KNOWN = 200 };
    static float features[2 * N];
    static int64_t attribute[N];
    size_t covered = 0, half_covered = 0;
    for (uint64_t i = 0; i < audits(); i++) {
        struct rng stream = rng_stream(7 + 10 * (seed - 1), RNG_TEST, i, 0);
        for (size_t k = 0; k < N; k++) {
            const bool seen = rng_unit(&stream) < 0.5;
            attribute[k] = (rng_unit(&stream) < 0.97) == seen;
            features[2 * k] = seen ? 1 : -1;
            features[2 * k + 1] = seen ? -1 : 1;
        }
        const struct sotto_attribute_input in = {
            .features = features, .attribute = attribute, .n = N, .d = 2, .n_aux = KNOWN};
        const struct sotto_audit_input all = {.attribute = &in};
        const struct sotto_audit_options options = {.seed = i, .draws = 200};
        struct sotto_audit_result r = {0};
        assert_int_equal(sotto_audit(&r, &all, &options, &alone), SOTTO_OK);
        const struct sotto_estimate *e = &r.attribute->attack.accuracy;
        covered += holds(e, 0.97);
        half_covered += e->estimate - (e->estimate - e->lower) / 2 <= 0.97 &&
                        0.97 <= e->estimate + (e->upper - e->estimate) / 2;
        sotto_audit_result_free(&r);
    }
    print_message("attribute: %zu of %zu, by half the interval %zu\n", covered, audits(), half_covered);
    assert_false(refuted(covered, audits()));
    assert_true(refuted(half_covered, audits()));
}

TEST(accuracy_of_attributes_covers)
{
    for (uint64_t seed = 1; seed <= seeds(); seed++)
        accuracy_of_attributes_covers_of(seed);
}
