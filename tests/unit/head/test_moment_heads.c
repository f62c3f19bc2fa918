/* Heads from one noisy release: charged once, certified, refused with one line, and made of anything. */
#include "support/test.h"
#include "support/exercise.h"
#include "base/memory.h"
#include "head/model/head_trainer.h"
#include "rng/rng.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/ledger.h"
#include "support/temporary_folder.h"
#include "support/certificate_text.h"
#include "support/verify_json.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3000, D = 6, K = 3 };

static float x[N * D];
static int64_t y[N];

static int make_records(void **state)
{
    struct rng r = rng_stream(3, RNG_TEST, 5, 0);
    for (size_t i = 0; i < N; i++) {
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(0.1 + 0.1 * rng_unit(&r) + (j % K == i % K ? 0.4 : 0));
    }
    return make_folder(state);
}

static struct sotto_head_recipe recipe_of(const char *trainer)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.noise = NULL;
    r.lambda = 0;
    return r;
}

static struct sotto_head_privacy privacy_of(double epsilon)
{
    return (struct sotto_head_privacy){
        .target = {epsilon, 1e-5},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("ledger.jsonl")}};
}

static sotto_status train(struct sotto_head **h, struct sotto_certificate **certificate,
                          const struct sotto_head_recipe *r, const struct sotto_head_privacy *p)
{
    return sotto_head_train_private(h, certificate, x, y, N, D, K, r, p, NULL);
}

static const char *const noises[] = {NULL, "gaussian", "logistic", "laplace"};

/* With noise that is always the same, so that luck has no part in it. */
TEST(heads_learn)
{
    const char *trainer;
    for (size_t i = 0; (trainer = head_moment_trainer(i)); i++)
        for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
            struct sotto_head_recipe r = recipe_of(trainer);
            struct sotto_head_privacy p = privacy_of(4);
            struct sotto_head *h = NULL;
            struct sotto_certificate *certificate = NULL;
            double accuracy;
            r.noise = noises[k];
            p.spend.insecure = 1;
            p.spend.insecure_seed = 1;
            unlink(p.spend.ledger);
            assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_OK);
            assert_int_equal(sotto_head_accuracy(&accuracy, h, x, y, N, D, NULL), SOTTO_OK);
            assert_true(accuracy > 0.9);
            sotto_certificate_free(certificate);
            sotto_head_free(h);
        }
}

TEST(heads_are_certified)
{
    const char *trainer;
    for (size_t i = 0; (trainer = head_moment_trainer(i)); i++) {
        assert_true(strlen(head_moment_title(i)) > 10);
        assert_int_equal(sotto_head_trainer_private(trainer), 2);
        for (size_t k = 0; k < sizeof noises / sizeof *noises; k++) {
            struct sotto_head_recipe r = recipe_of(trainer);
            struct sotto_head_privacy p = privacy_of(4);
            struct sotto_head *h = NULL, *again = NULL;
            struct sotto_certificate *certificate = NULL;
            char *report = NULL, *account = NULL;
            r.noise = noises[k];
            unlink(p.spend.ledger);
            assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_OK);
            assert_true(certificate_holds(certificate, "\"source\": \"proved\""));
            assert_true(certificate_holds(certificate, "replace-one"));
            assert_int_equal(sotto_head_save_private(path_of("head.safetensors"), h, certificate), SOTTO_OK);
            assert_int_equal(verify_json(&report, path_of("head.safetensors.certificate.json"),
                                         path_of("head.safetensors"), p.spend.ledger, NULL),
                             SOTTO_OK);
            assert_int_equal(sotto_ledger_account(&account, p.spend.ledger, 1e-5, NULL), SOTTO_OK);
            double charged = strtod(strstr(account, "\"epsilon\":") + 10, NULL);
            assert_true(charged <= 4 && charged > 3.9);
            assert_string_equal(sotto_head_data_sha256(h), "");
            assert_int_equal(sotto_head_load(&again, path_of("head.safetensors")), SOTTO_OK);
            assert_string_equal(sotto_head_recipe_hash(again), sotto_head_recipe_hash(h));
            assert_true(sotto_head_get_recipe(again)->noise_multiplier > 0);
            sotto_certificate_free(certificate);
            sotto_text_free(report);
            sotto_text_free(account);
            sotto_head_free(h);
            sotto_head_free(again);
        }
    }
    assert_null(head_moment_title(100));
}

/* The noise of the release reaches the weights: two runs differ, and more so at a smaller epsilon. */
TEST(noise_is_in_the_weights)
{
    double spread[2] = {0};
    for (int k = 0; k < 2; k++) {
        struct sotto_head_recipe r = recipe_of("covariance");
        struct sotto_head_privacy p = privacy_of(k ? 0.1 : 10);
        struct sotto_head *a = NULL, *b = NULL;
        struct sotto_certificate *one = NULL, *two = NULL;
        size_t count;
        r.lambda = 0.3;
        assert_int_equal(train(&a, &one, &r, &p), SOTTO_OK);
        assert_int_equal(train(&b, &two, &r, &p), SOTTO_OK);
        const float *v = sotto_head_parameters(a, &count), *w = sotto_head_parameters(b, &count);
        for (size_t i = 0; i < count; i++)
            spread[k] += fabs((double)v[i] - (double)w[i]);
        sotto_certificate_free(one);
        sotto_certificate_free(two);
        sotto_head_free(a);
        sotto_head_free(b);
    }
    assert_true(spread[0] > 0 && spread[1] > 10 * spread[0]);
}

struct heard {
    char lines[2000];
};
static void listen(void *user, enum sotto_log_level level, const char *text)
{
    struct heard *heard = user;
    (void)level;
    strncat(heard->lines, text, sizeof heard->lines - strlen(heard->lines) - 1);
}

TEST(any_records_make_a_head)
{
    enum { FEW = 4, WIDE = 20 };
    static const char *const kinds[] = {"one class", "constant",   "zero",       "fewer than features",
                                        "no class",  "not finite", "very large", "fewer than classes"};
    const char *trainer;
    for (size_t i = 0; (trainer = head_moment_trainer(i)); i++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            float features[FEW * WIDE];
            int64_t labels[FEW];
            struct sotto_head_recipe r = recipe_of(trainer);
            struct sotto_head_privacy p = privacy_of(1);
            struct sotto_head *h = NULL;
            struct sotto_certificate *certificate = NULL;
            for (size_t j = 0; j < FEW * WIDE; j++)
                features[j] = kind == 2 ? 0 : kind == 1 ? 0.1F : (float)(j % 7) / 40;
            for (size_t j = 0; j < FEW; j++)
                labels[j] = kind == 4 ? (int64_t)j - 2 : kind ? (int64_t)(j % 2) : 0;
            features[3] = kind == 5 ? NAN : kind == 6 ? 3e38F : features[3];
            size_t classes = kind == 7 ? 9 : 2;
            struct heard heard = {0};
            struct sotto_context ctx = {.log = listen, .user = &heard};
            unlink(p.spend.ledger);
            p.classes_by = kind == 7 ? "a list" : NULL;
            assert_int_equal(sotto_head_train_private(&h, &certificate, features, labels, FEW, WIDE, classes,
                                                      &r, &p, &ctx),
                             SOTTO_OK);
            assert_int_equal(sotto_head_classes(h), classes);
            assert_true(certificate_holds(certificate, kind == 7 ? "given_by\": \"a list\""
                                                                 : "given_by\": \"the caller\""));
            assert_null(strstr(heard.lines, "class"));
            assert_null(strstr(heard.lines, "features"));
            size_t count;
            const float *w = sotto_head_parameters(h, &count);
            for (size_t j = 0; j < count; j++)
                assert_true(isfinite(w[j]));
            sotto_certificate_free(certificate);
            sotto_head_free(h);
        }
}

static void refused(const struct sotto_head_recipe *r, double epsilon, const char *text)
{
    struct sotto_head_privacy p = privacy_of(epsilon);
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    unlink(p.spend.ledger);
    assert_int_equal(train(&h, &certificate, r, &p), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), text);
    assert_null(h);
    assert_null(certificate);
    assert_true(access(p.spend.ledger, F_OK) != 0); /* nothing was charged */
}

TEST(bad_requests_have_one_line)
{
    struct sotto_head_recipe r = recipe_of("covariance");
    r.refuse_larger = 1;
    refused(&r, 1,
            "refuse_larger must be 0, as a refusal would reveal records; larger records are scaled to clip");
    r = recipe_of("functional");
    r.noise = "knorm";
    refused(&r, 1, "noise 'knorm' is unknown; expected gaussian, logistic or laplace");
    r = recipe_of("functional");
    r.hidden_count = 1;
    refused(&r, 1, "trainer functional supports linear heads only (got 1 hidden layers)");
    r = recipe_of("functional");
    r.clip = SOTTO_ZERO;
    refused(&r, 1, "clip must be at least 1e-06 and at most 1000000 (got 0)");
    r = recipe_of("functional");
    r.bias = 2;
    refused(&r, 1, "bias constant must be between 0 and 1, in units of clip (got 2)");
    r = recipe_of("functional");
    r.lambda = -1;
    refused(&r, 1, "lambda must be at least 0 and at most 1000000000 (got -1)");
    r = recipe_of("covariance");
    r.cross = SOTTO_ZERO;
    refused(&r, 1, "cross must be at least 0.001 and at most 1000 (got 0)");
    r = recipe_of("functional-linear");
    r.noise_multiplier = -1;
    refused(&r, NAN, "noise_multiplier must be finite and > 0 (got -1)");
    struct sotto_head *h = NULL;
    r = recipe_of("covariance");
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "trainer covariance adds private noise, so its runs differ and each is charged; "
                        "expected a repeatable trainer, such as adam or convex");
}

TEST(a_budget_is_kept)
{
    struct sotto_head_recipe r = recipe_of("covariance");
    struct sotto_head_privacy p = privacy_of(2);
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    unlink(p.spend.ledger);
    p.spend.budget = (struct sotto_dp){2.5, 1e-4};
    assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_OK);
    sotto_head_free(h);
    sotto_certificate_free(certificate);
    h = NULL;
    certificate = NULL;
    assert_int_equal(train(&h, &certificate, &r, &p), SOTTO_EBUDGET);
    assert_null(h);
}

TEST(it_stops_and_survives_want_of_memory)
{
    struct sotto_head_recipe r = recipe_of("functional");
    struct sotto_head_privacy p = privacy_of(2);
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop, .threads = 1};
    unlink(p.spend.ledger);
    assert_int_equal(sotto_head_train_private(&h, &certificate, x, y, N, D, K, &r, &p, &ctx), SOTTO_ESTOPPED);
    assert_true(access(p.spend.ledger, F_OK) != 0);
    sotto_status status = SOTTO_ENOMEM;
    for (long n = 0; status == SOTTO_ENOMEM && n < 200; n++) {
        base_alloc_fail_after(n);
        status = train(&h, &certificate, &r, &p);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (!h && !certificate));
    }
    assert_int_equal(status, SOTTO_OK);
    sotto_head_free(h);
    sotto_certificate_free(certificate);
}

TEST_GROUP(.set_up = make_records, .tear_down = remove_folder, .tags = "matrix")
