/* src/run/selftest: correct releases survive the attack, every planted bug is caught, and the rate of false
 * alarms is what is stated. All noise is seeded, so a pass today is a pass tomorrow.
 *
 * Each of the 12 tests of a release errs with probability 1e-8 at every effort, so that one of 24 correct releases is accused
 * with probability 3e-6. Noise that is too small was caught in 20 of 20 trials from a scale too small by 22 % on for Laplace
 * noise and 18 % for Gaussian noise with 20,000 draws (effort 1, where no bug of a few percent is planted); 14 % and 10 %, and
 * 18 % for logistic noise, with 60,000 (5, and these bugs at 1); 4 %, and 6 % for logistic noise, with 600,000 (50).
 * The test of the rate of alarms runs 100, 300 and 3,000 attacks: at a rate of 5 %, which is above the true one, it fails with
 * probability 1e-5 or less; a rate of 24 %, 26 % and 29 % is found with probability 95 %. */
#include "support/test.h"
#include "support/effort.h"

#include "num/beta.h"
#include "selftest/toys.h"
#include "sotto/lab/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char ledger[96];

static int make_ledger(void **state)
{
    (void)state;
    strcpy(ledger, "/tmp/sotto-test-XXXXXX");
    if (!mkdtemp(ledger))
        return -1;
    strcat(ledger, "/l.jsonl");
    return 0;
}

static int remove_ledger(void **state)
{
    (void)state;
    unlink(ledger);
    *strrchr(ledger, '/') = '\0';
    return rmdir(ledger);
}

static const char *label(const struct toy *toy)
{
    static char text[128];
    snprintf(text, sizeof text, "%s: %s", toy->noise->name, toy->name);
    return text;
}

/* `many`: the release is one of those that move delta by a few percent. */
static size_t draws(bool many)
{
    return (size_t)by_effort(many ? 60000 : 20000, 60000, 600000);
}

TEST(correct_releases_survive)
{
    struct toy_source source = {.ledger = ledger, .seeded = true, .seed = 1};
    struct toy toy;
    struct falsify_verdict v;
    const bool few = effort() == 1; /* the intervals of fewer draws leave less to be proved */
    size_t i;
    for (i = 0; toy_at(&toy, i); i++) {
        assert_int_equal(toy_attack(&v, &toy, draws(false), 1e-8, &source), SOTTO_OK);
        if (v.caught)
            fail_msg("%s accused: proved %g > %g at %g by %s", label(&toy), v.proved, v.claimed, v.epsilon,
                     v.event);
        assert_true(v.proved > (few ? 0.2 : 0.25) * v.claimed); /* and the attack is not blind */
        bool additive = toy.noise->kind == RELEASE_LATTICE || toy.noise->kind == RELEASE_INTEGER;
        if (toy.width == 1 && toy.rate == 1 && additive)
            assert_true(v.proved >
                        (few ? 0.75 : 0.8) * v.claimed); /* where the claim is tight it comes close */
    }
    assert_true(i >= 19);
}

TEST(planted_bugs_are_caught)
{
    struct toy_source source = {.ledger = ledger, .seeded = true, .seed = 1000};
    struct toy toy;
    struct falsify_verdict v;
    size_t i;
    for (i = 0; toy_planted(&toy, i); i++) {
        assert_int_equal(toy_attack(&v, &toy, draws(toy.draws > 0), 1e-8, &source), SOTTO_OK);
        if (!v.caught)
            fail_msg("%s got away: proved %g of %g at %g by %s", label(&toy), v.proved, v.claimed, v.epsilon,
                     v.event);
    }
    assert_true(i >= 27);
}

/* Every mechanism that can release is attacked, and some bug of it is planted. */
TEST(every_mechanism_is_attacked)
{
    for (size_t m = 0; mechanism_row(m); m++) {
        const struct mechanism *row = mechanism_row(m);
        struct toy toy;
        int correct = 0, broken = 0;
        if (row->kind == RELEASE_NONE)
            continue;
        for (size_t i = 0; toy_at(&toy, i); i++)
            correct += toy.noise == row;
        for (size_t i = 0; toy_planted(&toy, i); i++)
            broken += toy.noise == row;
        if (correct == 0 || broken == 0)
            fail_msg("%s: %d correct releases attacked, %d broken ones", row->name, correct, broken);
    }
}

/* Each name of the historical list is there. */
TEST(the_list_is_complete)
{
    const char *const names[] = {"scale off by 20 %",
                                 "L2 sensitivity used for L1",
                                 "noise seed reused",
                                 "noise added in floating point",
                                 "bias left out of the norm",
                                 "zero noise on a coordinate",
                                 "fixed-size batches accounted as Poisson",
                                 "random batch size as divisor"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct toy toy;
        bool found = false;
        for (size_t i = 0; toy_planted(&toy, i); i++)
            found = found || strcmp(toy.name, names[n]) == 0;
        if (!found)
            fail_msg("no planted bug '%s'", names[n]);
    }
}

/* How many of `runs` attacks on a true and tight claim accuse it. `peek`: the test half is the half on which
 * the events were chosen, a mistake that must show. */
static int alarms(int runs, size_t draws, double error, bool peek)
{
    const struct mechanism *m = mechanism_find("laplace");
    struct toy toy = {.noise = m, .width = 1, .shift = 0.02, .rate = 1};
    struct falsify_claim claim;
    double *worlds[2] = {calloc(draws, sizeof(double)), calloc(draws, sizeof(double))};
    struct noise *s;
    int count = 0;
    toy_claim(&claim, &toy);
    assert_int_equal(noise_open_insecure(&s, 77), SOTTO_OK);
    for (int r = 0; r < runs; r++) {
        for (int w = 0; w < 2; w++)
            for (size_t i = 0; i < draws; i++)
                worlds[w][i] = peek && i >= draws / 2 ? worlds[w][i - draws / 2]
                                                      : m->measure(noise_unit(s), 0) + toy.shift * w;
        struct falsify_outputs o = {{worlds[0], worlds[1]}, draws, 1};
        struct falsify_verdict v;
        assert_int_equal(falsify(&v, &o, &claim, error), SOTTO_OK);
        count += v.caught;
    }
    noise_close(s);
    free(worlds[0]);
    free(worlds[1]);
    return count;
}

TEST(false_alarms_are_as_rare_as_stated)
{
    const int runs = (int)by_effort(100, 300, 3000);
    const double per_run = 0.3, error = per_run / FALSIFY_TESTS;
    double lower, upper, peeking_lower, ignored;
    clopper_pearson(&lower, &upper, alarms(runs, 2000, error, false), runs, 0.998);
    clopper_pearson(&peeking_lower, &ignored, alarms(runs, 2000, error, true), runs, 0.998);
    assert_true(upper <= per_run);
    assert_true(peeking_lower > upper); /* the control: it would be noticed */
}

TEST(odd_outputs_do_no_harm)
{
    static double zero[2000], nan_too[2000];
    struct falsify_claim claim = {{0, 1, 2, 3, 4}, {0}, 1};
    struct falsify_outputs same = {{zero, zero}, 1000, 2}, odd = {{zero, nan_too}, 1000, 2};
    struct falsify_verdict v;
    nan_too[1] = -INFINITY;
    for (int i = 2; i < 2000; i++)
        nan_too[i] = i % 3 ? NAN : INFINITY;
    assert_int_equal(falsify(&v, &same, &claim, 1e-6), SOTTO_OK);
    assert_true(!v.caught && v.event[0] == '\0');
    assert_int_equal(falsify(&v, &odd, &claim, 1e-6), SOTTO_OK);
    assert_true(v.caught);
}

TEST(the_whole_self_test_passes)
{
    struct sotto_selftest t = {0};
    struct sotto_selftest_options quick = {0}, bad = {.falsify = 1, .draws = 10}, stopped = {.falsify = 1};
    assert_int_equal(sotto_selftest(&t, &quick, NULL), SOTTO_OK);
    assert_true(t.count > 40 && t.failed == 0 && t.falsifier_tests == 0);
    size_t before = t.count;
    assert_int_equal(sotto_selftest(&t, &bad, NULL), SOTTO_EINVAL);
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop};
    assert_int_equal(sotto_selftest(&t, &stopped, &ctx), SOTTO_ESTOPPED);
    assert_int_equal(t.count, before);
    sotto_selftest_clear(&t);
}

TEST_GROUP(.before = make_ledger, .after = remove_ledger)
