/* {0} in a struct of the privacy interface: what 0 stands for, that it never grants more than was asked for, and what
 * parameters that were read from the private data do to a guarantee. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/certificate_text.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"
#include "dp/ledger/ledger.h"
#include "sotto/private/all.h"

#include <math.h>
#include <unistd.h>

static struct sotto_spend toy(void)
{
    return (struct sotto_spend){.dataset_id = "toy", .source = &exercise, .ledger = path_of("l.jsonl")};
}

static struct sotto_release release_of(const char *mechanism)
{
    return (struct sotto_release){.mechanism = mechanism,
                                  .scale = 2,
                                  .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                  .spend = toy()};
}

static struct sotto_certificate *made;

static sotto_status release(const struct sotto_release *r)
{
    float v[2] = {1, 2};
    sotto_certificate_free(made);
    made = NULL;
    return sotto_dp_release(&made, v, 2, r, NULL);
}

static int tidy(void **state)
{
    sotto_certificate_free(made);
    made = NULL;
    return remove_folder(state);
}

#define REFUSED(call, words)                                                                                 \
    do {                                                                                                     \
        assert_int_equal(call, SOTTO_EINVAL);                                                                \
        if (!strstr(sotto_error_text(), words))                                                              \
            fail_msg("%s", sotto_error_text());                                                              \
    } while (0)

TEST(a_release_without_delta_is_pure)
{
    struct sotto_release r = release_of("laplace");
    assert_int_equal(release(&r), SOTTO_OK);
    assert_true(sotto_certificate_account(made)->delta == 0);
    double epsilon = sotto_certificate_account(made)->epsilon.upper;
    r.target.delta = SOTTO_DELTA_PURE;
    assert_int_equal(release(&r), SOTTO_OK);
    assert_true(sotto_certificate_account(made)->delta == 0);
    assert_true(sotto_certificate_account(made)->epsilon.upper == epsilon);
    r.target.delta = 1e-3; /* the control */
    assert_int_equal(release(&r), SOTTO_OK);
    assert_true(sotto_certificate_account(made)->delta == 1e-3);
    assert_true(sotto_certificate_account(made)->epsilon.upper < epsilon);
}

TEST(a_release_without_scale_is_calibrated)
{
    struct sotto_release r = release_of("laplace");
    r.scale = 0;
    REFUSED(release(&r), "neither a scale nor a target epsilon is given");
    r.target.epsilon = 0.5;
    assert_int_equal(release(&r), SOTTO_OK);
    const struct sotto_account *a = sotto_certificate_account(made);
    assert_true(a->epsilon.upper <= 0.5 && a->scale >= 2);
    r.scale = 4; /* a scale that is given is the one */
    assert_int_equal(release(&r), SOTTO_OK);
    assert_true(sotto_certificate_account(made)->scale == 4);
}

TEST(a_norm_of_0_is_unknown)
{
    struct sotto_account zero, nan;
    struct sotto_sensitivity s = {.l2 = 1, .source = SOTTO_SENSITIVITY_GIVEN};
    static const char *const names[] = {"gaussian", "laplace", "discrete-gaussian"};
    for (size_t i = 0; i < 3; i++) {
        s.dimension = i == 1 ? 4 : 0;
        s.l1 = 0;
        assert_int_equal(sotto_account_release(&zero, names[i], 2, &s, 1e-5, 1, NULL), SOTTO_OK);
        s.l1 = NAN;
        assert_int_equal(sotto_account_release(&nan, names[i], 2, &s, 1e-5, 1, NULL), SOTTO_OK);
        assert_true(zero.epsilon.upper == nan.epsilon.upper && zero.epsilon.upper > 0);
    }
    s = (struct sotto_sensitivity){.source = SOTTO_SENSITIVITY_GIVEN};
    REFUSED(sotto_account_release(&zero, "gaussian", 2, &s, 1e-5, 1, NULL), "expected at least one norm");
    struct sotto_release r = release_of("laplace");
    r.sensitivity.l2 = 0;
    assert_int_equal(release(&r), SOTTO_OK);
    assert_true(certificate_holds(made, "\"l2\": null"));
}

TEST(a_budget_without_delta_takes_that_of_the_release)
{
    struct ledger l;
    struct sotto_release r = release_of("gaussian");
    r.target.delta = 1e-5;
    r.spend.budget.epsilon = 100;
    assert_int_equal(release(&r), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_OK);
    assert_true(l.budget.epsilon == 100 && l.budget.delta == 1e-5);
    ledger_close(&l);
    unlink(path_of("l.jsonl"));
    r.spend.budget.delta = SOTTO_DELTA_PURE;
    assert_int_equal(release(&r), SOTTO_EBUDGET); /* Gaussian noise has no pure epsilon */
    r = release_of("laplace");
    r.spend.budget = (struct sotto_dp){.epsilon = 100, .delta = SOTTO_DELTA_PURE};
    assert_int_equal(release(&r), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_OK);
    assert_true(l.budget.epsilon == 100 && l.budget.delta == 0);
    ledger_close(&l);
}

/* Few records of two classes, by any trainer of heads that draws noise. */
static sotto_status train(const char *trainer, const char *noise, struct sotto_head_privacy p)
{
    static float x[64 * 2];
    static int64_t y[64];
    struct sotto_head_recipe recipe;
    struct sotto_head *h = NULL;
    for (size_t i = 0; i < 64; i++) {
        y[i] = (int64_t)(i % 2);
        x[2 * i] = (float)(i % 2);
        x[2 * i + 1] = 1;
    }
    sotto_head_defaults(&recipe);
    recipe.trainer = trainer;
    recipe.noise = noise;
    /* the moments of few records have no positive eigenvalue under much noise: 5 of 300 runs with 4, 0 of 1,500 with .25 */
    recipe.noise_multiplier = strcmp(trainer, "functional") == 0 ? .25 : 4;
    recipe.epochs = 1;
    recipe.batch = 8;
    p.spend.dataset_id = "toy";
    p.spend.source = &exercise;
    p.spend.ledger = path_of("l.jsonl");
    sotto_certificate_free(made);
    made = NULL;
    sotto_status status = sotto_head_train_private(&h, &made, x, y, 64, 2, 2, &recipe, &p, NULL);
    sotto_head_free(h);
    return status;
}

TEST(a_trainer_without_delta_takes_the_default_or_none)
{
    struct sotto_head_privacy p = {.spend = {0}};
    assert_int_equal(train("dp-sgd", "gaussian", p), SOTTO_OK);
    assert_true(sotto_certificate_account(made)->delta == sotto_default_delta(64));
    assert_int_equal(train("functional", "gaussian", p), SOTTO_OK);
    assert_true(sotto_certificate_account(made)->delta == sotto_default_delta(64));
    assert_int_equal(train("functional", "laplace", p), SOTTO_OK); /* which has a pure epsilon */
    assert_true(sotto_certificate_account(made)->delta == 0);
    p.target.delta = SOTTO_DELTA_PURE;
    assert_int_equal(train("functional", "laplace", p), SOTTO_OK);
    assert_true(sotto_certificate_account(made)->delta == 0);
    REFUSED(train("dp-sgd", "gaussian", p), "delta must be above 0");
}

TEST(a_trainer_protects_whole_records)
{
    struct sotto_head_privacy p = {.adjacency = SOTTO_REPLACE_INPUT};
    REFUSED(train("dp-sgd", "gaussian", p), "expected replace-one or zero-out");
    p.adjacency = SOTTO_ADD_REMOVE;
    REFUSED(train("dp-sgd", "gaussian", p), "expected replace-one or zero-out");
    p.adjacency = SOTTO_ZERO_OUT;
    REFUSED(train("functional", "laplace", p), "expected replace-one");
    assert_int_equal(train("dp-sgd", "gaussian", p), SOTTO_OK);
    assert_int_equal(sotto_certificate_account(made)->adjacency, SOTTO_ZERO_OUT);
    p.adjacency = 0;
    assert_int_equal(train("dp-sgd", "gaussian", p), SOTTO_OK);
    assert_int_equal(sotto_certificate_account(made)->adjacency, SOTTO_REPLACE_ONE);
}

TEST(what_was_read_from_the_data_is_a_condition)
{
    static const char *const names[] = {"max_grad_norm", "classes", NULL};
    struct ledger l;
    struct sotto_release r = release_of("laplace");
    assert_int_equal(release(&r), SOTTO_OK);
    assert_true(sotto_certificate_is_proved(made));
    r.spend.read_from_data = names;
    assert_int_equal(release(&r), SOTTO_OK);
    assert_false(sotto_certificate_is_proved(made));
    assert_string_equal(
        sotto_certificate_condition(made),
        "max_grad_norm, which was read from the private data, and on classes, which was read from "
        "the private data");
    assert_non_null(
        strstr(sotto_certificate_statement(made),
               "; only if this is true: The choice of max_grad_norm tells nothing about the records"));
    assert_true(certificate_holds(made, "\"proved\": \"none\""));
    assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_OK);
    assert_true(sums_of(&l)->proved.releases == 1 && sums_of(&l)->conditional.releases == 1);
    ledger_close(&l);
    struct sotto_head_privacy p = {.spend = {.read_from_data = names}};
    assert_int_equal(train("dp-sgd", "gaussian", p), SOTTO_OK);
    assert_false(sotto_certificate_is_proved(made));
    assert_int_equal(ledger_read(&l, path_of("l.jsonl")), SOTTO_OK);
    assert_true(sums_of(&l)->proved.releases == 1 && sums_of(&l)->conditional.releases == 2);
    ledger_close(&l);
}

TEST(a_condition_that_is_too_long_is_refused)
{
    char name[400];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const char *const names[] = {name, name, NULL};
    struct sotto_release r = release_of("laplace");
    r.spend.read_from_data = names;
    REFUSED(release(&r), "expected at most 511");
}

TEST_GROUP(.before = make_folder, .after = tidy)
