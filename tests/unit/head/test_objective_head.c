/* The trainer "objective": heads learn, are certified as pure epsilon, verify and are charged once; noise is new in every run;
 * what cannot be is refused before anything is charged, and a stop names the charge. */
#include "support/test.h"
#include "support/exercise.h"
#include "rng/rng.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/ledger.h"
#include "support/certificate_text.h"
#include "support/temporary_folder.h"
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

static struct sotto_head_recipe recipe(void)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = "objective";
    return r;
}

static struct sotto_head_privacy privacy_of(double epsilon)
{
    return (struct sotto_head_privacy){
        .target = {.epsilon = epsilon},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("ledger.jsonl")}};
}

static sotto_status train(struct sotto_head **h, struct sotto_certificate **certificate, size_t classes,
                          const struct sotto_head_recipe *r, const struct sotto_head_privacy *p,
                          const struct sotto_context *ctx)
{
    return sotto_head_train_private(h, certificate, x, y, N, D, classes, r, p, ctx);
}

TEST(heads_learn)
{
    for (size_t classes = 2; classes <= K; classes++) { /* of two, every third record counts as nothing */
        struct sotto_head_recipe r = recipe();
        struct sotto_head_privacy p = privacy_of(2);
        struct sotto_head *h = NULL;
        struct sotto_certificate *certificate = NULL;
        double accuracy;
        int64_t labels[N];
        p.spend.insecure = 1;
        p.spend.insecure_seed = 1;
        unlink(p.spend.ledger);
        assert_int_equal(train(&h, &certificate, classes, &r, &p, NULL), SOTTO_OK);
        for (size_t i = 0; i < N; i++)
            labels[i] = y[i] % (int64_t)classes;
        assert_int_equal(sotto_head_accuracy(&accuracy, h, x, labels, N, D, NULL), SOTTO_OK);
        assert_true(accuracy > (classes == K ? 0.95 : 0.6));
        sotto_certificate_free(certificate);
        sotto_head_free(h);
    }
}

TEST(heads_are_certified)
{
    struct sotto_head_recipe r = recipe();
    struct sotto_head_privacy p = privacy_of(1.5);
    struct sotto_head *h = NULL, *again = NULL;
    struct sotto_certificate *certificate = NULL;
    char *report = NULL, *account = NULL;
    unlink(p.spend.ledger);
    assert_int_equal(train(&h, &certificate, K, &r, &p, NULL), SOTTO_OK);
    const struct sotto_account *a = sotto_certificate_account(certificate);
    assert_true(a->epsilon.upper <= 1.5 && a->epsilon.upper > 1.4999 && a->delta == 0);
    assert_true(certificate_holds(certificate, "\"source\": \"proved\""));
    assert_true(certificate_holds(certificate, "replace-one"));
    assert_int_equal(sotto_head_save_private(path_of("head.safetensors"), h, certificate), SOTTO_OK);
    assert_int_equal(verify_json(&report, path_of("head.safetensors.certificate.json"),
                                 path_of("head.safetensors"), p.spend.ledger, NULL),
                     SOTTO_OK);
    sotto_text_free(report);
    assert_int_equal(verify_json(&report, path_of("head.safetensors"), NULL, p.spend.ledger, NULL), SOTTO_OK);
    assert_non_null(strstr(report, "epsilon added up again from the file's recipe and 3000 records"));
    assert_int_equal(sotto_ledger_account(&account, p.spend.ledger, 0, NULL), SOTTO_OK);
    const double charged = strtod(strstr(account, "\"epsilon\":") + 10, NULL);
    assert_true(charged <= 1.5 && charged > 1.4999);
    assert_string_equal(sotto_head_data_sha256(h), "");
    assert_int_equal(sotto_head_load(&again, path_of("head.safetensors")), SOTTO_OK);
    assert_string_equal(sotto_head_recipe_hash(again), sotto_head_recipe_hash(h));
    assert_true(fabs(sotto_head_get_recipe(again)->noise_multiplier * 1.5 - 1) < 1e-9);
    sotto_certificate_free(certificate);
    sotto_text_free(report);
    sotto_text_free(account);
    sotto_head_free(h);
    sotto_head_free(again);
}

TEST(noise_is_new_in_every_run)
{
    struct sotto_head_recipe r = recipe();
    struct sotto_head_privacy p = privacy_of(0);
    struct sotto_head *h[2] = {NULL};
    r.noise_multiplier = 1;
    for (int i = 0; i < 2; i++) {
        struct sotto_certificate *certificate = NULL;
        assert_int_equal(train(&h[i], &certificate, K, &r, &p, NULL), SOTTO_OK);
        assert_true(sotto_certificate_account(certificate)->epsilon.upper == 1);
        sotto_certificate_free(certificate);
    }
    size_t count;
    const float *a = sotto_head_parameters(h[0], &count), *b = sotto_head_parameters(h[1], &count);
    for (size_t i = 0; i < count; i++)
        assert_true(a[i] != b[i]);
    sotto_head_free(h[0]);
    sotto_head_free(h[1]);
}

TEST(nonsense_is_refused)
{
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
#define REFUSED(change, wanted, text)                                                                        \
    do {                                                                                                     \
        struct sotto_head_recipe r = recipe();                                                               \
        struct sotto_head_privacy p = privacy_of(1);                                                         \
        p.spend.ledger = path_of("none.jsonl");                                                              \
        change;                                                                                              \
        assert_int_equal(train(&h, &certificate, K, &r, &p, NULL), wanted);                                  \
        assert_non_null(strstr(sotto_error_text(), text));                                                   \
        assert_true(!h && !certificate && access(path_of("none.jsonl"), F_OK) != 0);                         \
    } while (0)
    REFUSED(r.noise = "logistic", SOTTO_EINVAL, "trainer objective, which has noise of its own");
    REFUSED(r.hidden_count = 1;
            r.hidden[0] = 4, SOTTO_EINVAL, "objective supports linear heads only (got 1 hidden");
    REFUSED(r.clip = -1, SOTTO_EINVAL, "clip");
    REFUSED(p.target.epsilon = 0, SOTTO_EINVAL, "neither epsilon nor noise_multiplier");
    REFUSED(p.target.epsilon = -1, SOTTO_EINVAL, "epsilon");
    REFUSED(p.target.epsilon = 1e-7, SOTTO_EDOMAIN, "expected 1e-6 to 1e4");
    REFUSED(p.adjacency = SOTTO_ZERO_OUT, SOTTO_EINVAL, "expected replace-one");
    REFUSED(p.output = "/dev/null/head", SOTTO_ECREATE, "/dev/null/head");
}

static volatile sig_atomic_t stop;
static void stop_at_the_first_line(void *user, enum sotto_log_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
    stop = 1;
}

/* The line that names the new ledger: the entry that follows stays, nothing comes out, and the error says so. */
TEST(a_stop_names_the_charge)
{
    struct sotto_head_recipe r = recipe();
    struct sotto_head_privacy p = privacy_of(1);
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    const struct sotto_context ctx = {.stop = &stop, .log = stop_at_the_first_line};
    unlink(p.spend.ledger);
    stop = 0;
    assert_int_equal(train(&h, &certificate, K, &r, &p, &ctx), SOTTO_ESTOPPED);
    assert_true(!h && !certificate && stop);
    assert_non_null(strstr(sotto_error_hint(), "was charged: charge"));
}

TEST_GROUP(.set_up = make_records, .tear_down = remove_folder)
