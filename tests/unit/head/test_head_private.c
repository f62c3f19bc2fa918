/* Heads by DP-SGD: charged before they begin, noise of the right size, nothing of the records beside the head. */
#include "support/test.h"
#include "support/exercise.h"
#include "rng/rng.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/lab/sensitivity.h"
#include "sotto/ledger.h"
#include "support/temporary_folder.h"
#include "support/certificate_text.h"
#include "support/verify_json.h"
#include "support/worse.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

enum { N = 600, D = 12, K = 3 };

static float x[N * D];
static int64_t y[N];

static int make_blobs(void **state)
{
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++) {
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(0.3 * rng_normal(&r) + (j % K == i % K ? 1 : 0));
    }
    return make_folder(state);
}

static struct sotto_head_recipe recipe_of(const char *trainer)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.epochs = 10;
    r.batch = 60;
    r.lr = 0.5;
    r.noise_multiplier = 1;
    return r;
}

static struct sotto_head_privacy privacy_of(void)
{
    return (struct sotto_head_privacy){
        .target = {NAN, 1e-5},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("ledger.jsonl")}};
}

static sotto_status train(struct sotto_head **h, struct sotto_certificate **certificate,
                          const struct sotto_head_recipe *r, const struct sotto_head_privacy *p)
{
    return sotto_head_train_private(h, certificate, x, y, N, D, K, r, p, NULL);
}

static double ledger_total(void)
{
    char *json = NULL;
    double upper = NAN;
    assert_int_equal(sotto_ledger_account(&json, path_of("ledger.jsonl"), 1e-5, NULL), SOTTO_OK);
    const char *at = strstr(json, "\"epsilon\":");
    assert_non_null(at);
    upper = strtod(at + 10, NULL);
    sotto_text_free(json);
    return upper;
}

TEST(heads_learn_and_are_certified)
{
    static const struct {
        const char *trainer, *noise;
        double lr, momentum;
        size_t hidden;
    } cases[] = {{"dp-sgd", "gaussian", 0.5, 0, 0},   {"dp-sgd", "logistic", 0.2, 0.9, 0},
                 {"dp-adam", "gaussian", 0.05, 0, 0}, {"dp-adam", "gaussian", 0.05, 0, 16},
                 {"dp-sgd", "logistic", 0.2, 0.9, 0}, {"dp-gd", "gaussian", 0.5, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_head_recipe r = recipe_of(cases[i].trainer);
        struct sotto_head_privacy p = privacy_of();
        struct sotto_head *h = NULL, *again = NULL;
        struct sotto_certificate *certificate = NULL;
        char *report = NULL;
        double accuracy;
        unlink(p.spend.ledger);
        r.noise = cases[i].noise;
        r.lr = cases[i].lr;
        r.momentum = cases[i].momentum;
        r.hidden_count = cases[i].hidden > 0;
        r.hidden[0] = cases[i].hidden;
        p.target.epsilon = 3;
        assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_OK);
        assert_int_equal(sotto_head_accuracy(&accuracy, h, x, y, N, D, NULL), SOTTO_OK);
        assert_true(accuracy > 0.9);
        double promised = sotto_certificate_account(certificate)->epsilon.upper;
        assert_true(promised <= 3 && promised > 2.99);
        assert_true(ledger_total() <= 3); /* a budget counts what was requested */
        assert_int_equal(sotto_head_save_private(path_of("head.safetensors"), h, certificate), SOTTO_OK);
        assert_int_equal(verify_json(&report, path_of("head.safetensors.certificate.json"),
                                     path_of("head.safetensors"), p.spend.ledger, NULL),
                         SOTTO_OK);
        assert_string_equal(sotto_head_data_sha256(h), ""); /* the file holds no hash of the records */
        assert_int_equal(sotto_head_load(&again, path_of("head.safetensors")), SOTTO_OK);
        assert_string_equal(sotto_head_recipe_hash(again), sotto_head_recipe_hash(h));
        assert_true(sotto_head_get_recipe(again)->noise_multiplier > 0.5);
        assert_string_equal(sotto_head_get_recipe(again)->noise, cases[i].noise);
        sotto_certificate_free(certificate);
        sotto_text_free(report);
        sotto_head_free(h);
        sotto_head_free(again);
    }
}

/* The same draws for any number of steps, so heads of 1, 2, ... steps are the weights that a longer run passes through. */
static void weights_after(float weights[(D + 1) * K], const char *trainer, size_t steps, double average)
{
    struct sotto_head_recipe r = recipe_of(trainer);
    struct sotto_head_privacy p = privacy_of();
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    size_t count;
    unlink(p.spend.ledger);
    r.steps = steps;
    r.average = average;
    p.spend.insecure = 1, p.spend.insecure_seed = 8;
    assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_OK);
    const float *now = sotto_head_parameters(h, &count);
    assert_int_equal(count, (D + 1) * K);
    memcpy(weights, now, count * sizeof *now);
    assert_int_equal(sotto_head_get_recipe(h)->steps, steps);
    sotto_head_free(h);
    sotto_certificate_free(certificate);
}

TEST(the_average_of_the_weights_is_the_head)
{
    enum { STEPS = 12 };
    for (size_t way = 0; way < 2; way++) {
        const char *trainer = way ? "dp-adam" : "dp-sgd";
        double mean[(D + 1) * K];
        float now[(D + 1) * K], averaged[(D + 1) * K];
        struct sotto_head_recipe start = recipe_of(trainer);
        start.steps = 1, start.lr = 1e-30; /* the initial weights */
        struct sotto_head_privacy p = privacy_of();
        struct sotto_head *h = NULL;
        struct sotto_certificate *certificate = NULL;
        size_t count;
        unlink(p.spend.ledger);
        p.spend.insecure = 1;
        assert_int_equal(train(&h, &certificate, &start, &p), SOTTO_OK);
        for (size_t i = 0; i < (D + 1) * K; i++)
            mean[i] = sotto_head_parameters(h, &count)[i];
        sotto_head_free(h);
        sotto_certificate_free(certificate);
        for (size_t step = 1; step <= STEPS; step++) {
            const double decay = fmin(
                0.6, (1.0 + (double)step) / (10.0 + (double)step)); /* .6: from step 13 on it would be less */
            weights_after(now, trainer, step, 0);
            for (size_t i = 0; i < (D + 1) * K; i++)
                mean[i] = decay * mean[i] + (1 - decay) * now[i];
        }
        weights_after(averaged, trainer, STEPS, 0.6);
        double apart = 0, from_last = 0;
        for (size_t i = 0; i < (D + 1) * K; i++) {
            apart = worse(apart, fabs(averaged[i] - mean[i]));
            from_last = fmax(from_last, fabs(averaged[i] - now[i]));
        }
        assert_true(apart < 1e-5);
        assert_true(from_last > 1e-3); /* control: the last weights are others */
    }
}

/* Far more noise than records: the weights walk at random, by lr * multiplier * C / batch a step. */
/* The rate is of no unit but C: with the rate of Adam the head stays at its first weights. */
TEST(dp_sgd_has_a_rate_of_its_own)
{
    static const struct {
        double lr, max_grad_norm, momentum;
        double taken;
        bool learns;
    } cases[] = {{0, 1, 0, 0.5, true},
                 {0, 4, 0, 0.125, true},
                 {0, 0.25, 0.75, 0.5, true},
                 {0.001, 1, 0, 0.001, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_head_recipe r = recipe_of("dp-sgd");
        struct sotto_head_privacy p = privacy_of();
        struct sotto_head *h = NULL;
        struct sotto_certificate *certificate = NULL;
        double accuracy;
        unlink(p.spend.ledger);
        r.lr = cases[i].lr;
        r.max_grad_norm = cases[i].max_grad_norm;
        r.momentum = cases[i].momentum;
        assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_OK);
        assert_true(sotto_head_get_recipe(h)->lr == cases[i].taken);
        assert_int_equal(sotto_head_accuracy(&accuracy, h, x, y, N, D, NULL), SOTTO_OK);
        assert_true(cases[i].learns ? accuracy > 0.9 : accuracy < 0.8);
        sotto_head_free(h);
        sotto_certificate_free(certificate);
    }
}

TEST(noise_has_its_size)
{
    struct sotto_head_recipe r = recipe_of("dp-sgd");
    struct sotto_head_privacy p = privacy_of();
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    size_t count;
    double square = 0, steps = 10.0 * N / 60;
    unlink(p.spend.ledger);
    p.spend.insecure = 1;
    p.spend.insecure_seed = 5;
    r.hidden_count = 1;
    r.hidden[0] = 200;
    r.max_grad_norm = 0.25;
    r.noise_multiplier = 1e6;
    assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_OK);
    const float *w = sotto_head_parameters(h, &count);
    for (size_t i = 0; i < count; i++)
        square += (double)w[i] * w[i] / (double)count;
    double expected = steps * pow(r.lr * 1e6 * 0.25 / 60, 2), error = expected * sqrt(2 / (double)count);
    assert_true(fabs(square - expected) < 5 * error);
    assert_true(fabs(square - expected * 1.2 * 1.2) > 5 * error);         /* a scale off by 20 % */
    assert_true(fabs(square - expected * pow(60.0 / 72, 2)) > 5 * error); /* another divisor */
    assert_true(certificate_holds(certificate, "seeded"));
    sotto_certificate_free(certificate);
    sotto_head_free(h);
}

/* Asks to stop at the first report of progress, when the run is charged. */
static void stop_at_progress(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)done, (void)total, (void)unit;
    *(volatile sig_atomic_t *)user = 1;
}

TEST(a_stopped_run_stays_charged)
{
    struct sotto_head_recipe r = recipe_of("dp-sgd");
    struct sotto_head_privacy p = privacy_of();
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop};
    unlink(p.spend.ledger);
    assert_int_equal(sotto_head_train_private(&h, &certificate, x, y, N, D, K, &r, &p, &ctx), SOTTO_ESTOPPED);
    assert_int_equal(access(p.spend.ledger, F_OK), -1); /* stopped before it was charged */
    stop = 0;
    ctx = (struct sotto_context){.stop = &stop, .progress = stop_at_progress, .user = (void *)&stop};
    assert_int_equal(sotto_head_train_private(&h, &certificate, x, y, N, D, K, &r, &p, &ctx), SOTTO_ESTOPPED);
    assert_true(h == NULL && certificate == NULL);
    assert_true(ledger_total() > 0.5);
    p.spend.budget = (struct sotto_dp){1e-3, 1e-5};
    assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_EBUDGET);
    assert_true(h == NULL && certificate == NULL);
}

TEST(bad_requests_have_one_line)
{
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
#define REFUSED(change, wanted, text)                                                                        \
    do {                                                                                                     \
        struct sotto_head_recipe r = recipe_of("dp-sgd");                                                    \
        struct sotto_head_privacy p = privacy_of();                                                          \
        p.spend.ledger = path_of("none.jsonl");                                                              \
        change;                                                                                              \
        assert_int_equal(train(&h, &certificate, &r, &p), wanted);                                           \
        assert_non_null(strstr(sotto_error_text(), text));                                                   \
        assert_null(h);                                                                                      \
        assert_int_equal(access(path_of("none.jsonl"), F_OK), -1);                                           \
    } while (0)
    REFUSED(r.trainer = "adam", SOTTO_EINVAL,
            "adam adds no noise; expected dp-sgd, dp-adam, dp-gd, objective, covariance, functional, "
            "functional-linear "
            "or taylor");
    REFUSED(r.batch = N + 1, SOTTO_EINVAL,
            "601, the expected size of a sample, is larger than the 600 records");
    REFUSED(r.batch = SOTTO_NONE, SOTTO_EINVAL, "batch must be at least 1");
    REFUSED(r.noise = "laplace", SOTTO_EINVAL, "expected gaussian or logistic");
    REFUSED(r.noise_multiplier = 0, SOTTO_EINVAL, "noise_multiplier");
    REFUSED(r.noise_multiplier = NAN, SOTTO_EINVAL, "noise_multiplier");
    REFUSED(r.max_grad_norm = -1, SOTTO_EINVAL, "max_grad_norm");
    REFUSED(r.momentum = 1, SOTTO_EINVAL, "momentum");
    REFUSED(r.trainer = "dp-adam"; r.momentum = 0.9, SOTTO_EINVAL, "momentum cannot be given for trainer");
    REFUSED(r.trainer = "dp-gd"; r.noise = "logistic", SOTTO_EINVAL,
                                 "noise 'logistic' cannot be given for trainer dp-gd; expected gaussian");
    REFUSED(r.trainer = "dp-gd"; r.hidden_count = 1;
            r.hidden[0] = 4, SOTTO_EINVAL, "dp-gd supports linear heads only (got 1 hidden layers)");
    REFUSED(r.trainer = "dp-gd";
            r.steps = 3, SOTTO_EINVAL, "steps must be at least 4 for trainer dp-gd (got 3)");
    REFUSED(p.target.epsilon = -1, SOTTO_EINVAL, "epsilon");
    REFUSED(p.target.epsilon = 1;
            r.batch = N + 1, SOTTO_EINVAL, "the expected size of a sample, is larger than the 600 records");
    REFUSED(p.target.delta = SOTTO_DELTA_PURE, SOTTO_EINVAL, "delta");
    REFUSED(r.lr = INFINITY, SOTTO_EINVAL, "lr");
    /* What trains again and again refuses noise. */
    struct sotto_head_recipe r = recipe_of("dp-adam");
    struct sotto_sensitivity_sample sample;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "expected a repeatable trainer"));
    assert_int_equal(sotto_sensitivity_run(&sample, x, y, N, D, K, &r, 3, NULL), SOTTO_EINVAL);
}

TEST_GROUP(.set_up = make_blobs, .tear_down = remove_folder, .tags = "matrix long")
