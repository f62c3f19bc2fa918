/* Calls are stopped at their questions whether to go on (support/stop_questions.h): accounts, heads, audits, attacks and
 * releases. */
#include "support/test.h"

#include "base/file.h"
#include "dp/account/adaptive_account.h"
#include "dp/account/risk.h"
#include "par/par.h"
#include "sotto/private/all.h"
#include "support/head_blobs.h"
#include "support/stop_questions.h"
#include "support/temporary_folder.h"
#include "support/verify_json.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { N = 512, D = 4, K = 3 };
static float x[N * D];
static int64_t y[N];
static struct sotto_head *trained;

/* --- accounts --- */

static const struct sotto_sampled steps = {.mechanism = "gaussian",
                                           .adjacency = SOTTO_ADD_REMOVE,
                                           .noise_multiplier = 4,
                                           .sample_rate = .01,
                                           .steps = 100,
                                           .delta = 1e-5};
static const struct sotto_sensitivity one = {.l1 = 1, .l2 = 1, .dimension = 1};
static struct sotto_account account;
static double number;

static sotto_status sampled(void)
{
    return sotto_account_sampled(&account, &steps, &context);
}
static sotto_status sampled_both(void)
{
    return sotto_account_sampled_both(&account, &steps, &context);
}
static sotto_status sampled_certified(void)
{
    return sotto_account_sampled_certified(&account, &steps, &context);
}
static sotto_status calibrate_sampled(void)
{
    return sotto_calibrate_sampled(&number, &steps, 2, &context);
}
static sotto_status release(void)
{
    return sotto_account_release(&account, "laplace", 30, &one, 1e-5, 1000, &context);
}
static sotto_status release_certified(void)
{
    return sotto_account_release_certified(&account, "laplace", 3, &one, 1e-5, 2, &context);
}
static sotto_status calibrate(void)
{
    return sotto_calibrate_composed(&number, "logistic", &one, (struct sotto_dp){1, 1e-5}, 10, &context);
}
static sotto_status calibrate_certified(void)
{
    return sotto_calibrate_certified(&account, "logistic", &one, (struct sotto_dp){1, 1e-5}, 1, &context);
}
static sotto_status calibrate_risk(void)
{
    return calibrate_risk_on(&number, NULL, "logistic", &one, &(struct sotto_risk){.max_tpr = "0.02@0.01"}, 0,
                             &context);
}
static sotto_status sampled_risk(void)
{
    const struct sotto_sampled whole = {
        .mechanism = "gaussian", .sample_rate = 1, .steps = 4, .adjacency = SOTTO_ADD_REMOVE};
    return calibrate_sampled_risk(&number, NULL, &whole, &(struct sotto_risk){.max_tpr = "0.02@0.01"},
                                  &context);
}
static sotto_status choose(void)
{
    struct sotto_account accounts[SOTTO_MAX_MECHANISMS];
    size_t n;
    return sotto_choose(accounts, &n, &one, (struct sotto_dp){1, 1e-5}, 2, &context);
}
static sotto_status events(void)
{
    const struct sotto_event e[2] = {
        {.mechanism = "laplace", .count = 3, .scale = 9, .l1 = 1, .l2 = 1, .dimension = 1},
        {.mechanism = "logistic", .count = 2, .scale = 9, .l1 = 1, .l2 = 1, .dimension = 1}};
    return sotto_account_events(&account, e, 2, 1e-5, SOTTO_REPLACE_ONE, &context);
}
static sotto_status any_order(void)
{
    const struct sotto_event e = {
        .mechanism = "laplace", .count = 1, .scale = 9, .l1 = 1, .l2 = 1, .dimension = 1};
    struct sotto_any_order a;
    return account_any_order(&a, &e, 1, 1e-5, SOTTO_REPLACE_ONE, &context);
}
/* As of a ledger of years: between two parts, and between steps of a search over all of them. */
static sotto_status many_events(void)
{
    struct sotto_event e[40];
    for (size_t i = 0; i < 40; i++)
        e[i] = (struct sotto_event){.mechanism = "gaussian",
                                    .count = 10,
                                    .noise_multiplier = 2 + (double)i / 100,
                                    .sample_rate = .01,
                                    .adjacency = SOTTO_ADD_REMOVE};
    return sotto_account_events(&account, e, 40, 1e-5, SOTTO_ADD_REMOVE, &context);
}
TEST(accounts_stop)
{
    STOPS(sampled, 5);
    STOPS(sampled_both, 9);
    STOPS(sampled_certified, 1000);
    STOPS(calibrate_sampled, 30);
}

TEST(accounts_of_releases_stop)
{
    STOPS(release, 4);
    STOPS(release_certified, 1000);
    STOPS(calibrate, 20);
    STOPS(calibrate_certified, 40);
    STOPS(calibrate_risk, 20);
    STOPS(sampled_risk, 50);
    STOPS(choose, 50);
}

TEST(accounts_of_events_stop)
{
    STOPS(events, 50);
    STOPS(any_order, 10);
    STOPS(many_events, 400);
}

/* --- heads: a question for each batch, or for each pass over the records --- */

static sotto_status train(const char *trainer, size_t hidden)
{
    struct sotto_head_recipe r;
    struct sotto_head *h = NULL;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.hidden_count = hidden > 0;
    r.hidden[0] = hidden;
    r.epochs = 1;
    r.batch = 16;
    r.steps = 20;
    if (strncmp(trainer, "convex", 6) == 0)
        r.lambda = .1;
    sotto_status status = sotto_head_train(&h, x, y, N, D, K, &r, &context);
    assert_true((status == SOTTO_OK) == (h != NULL));
    sotto_head_free(h);
    return status;
}
static sotto_status adam(void)
{
    return train("adam", 0);
}
static sotto_status mlp(void)
{
    return train("sgd", 8);
}
static sotto_status convex(void)
{
    return train("convex", 0);
}
static sotto_status convex_sgd(void)
{
    return train("convex-sgd", 0);
}
static sotto_status convex_lbfgs(void)
{
    return train("convex-lbfgs", 0);
}
static sotto_status sensitivity(void)
{
    struct sotto_sensitivity_sample s;
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.epochs = 1;
    r.batch = 16;
    return sotto_sensitivity_run(&s, x, y, N, D, K, &r, 3, &context);
}
static float answers[4 * N * K];
static sotto_status predict(void)
{
    static float many[4 * N * D];
    return sotto_head_predict(answers, trained, many, 4 * N, D, 0, &context);
}
static sotto_status accuracy(void)
{
    return sotto_head_accuracy(&number, trained, x, y, N, D, &context);
}

TEST(heads_stop)
{
    STOPS(adam, N / 16);
    STOPS(mlp, N / 16);
    STOPS(convex, 20);
    STOPS(convex_sgd, N / 16);
    STOPS(convex_lbfgs, 3);
    STOPS(sensitivity, N / 16);
    STOPS(predict, 2);
    STOPS(accuracy, 1);
}

/* --- audits and attacks --- */

static sotto_status audit(void)
{
    const struct sotto_audit_input in = {.member = answers,
                                         .nonmember = answers + N / 2 * K,
                                         .member_labels = y,
                                         .nonmember_labels = y + N / 2,
                                         .n_member = N / 2,
                                         .n_nonmember = N / 2,
                                         .classes = K,
                                         .probabilities = 1};
    static const double rate[] = {
        0.1}; /* with so few records the interval of a smaller one is no bootstrap */
    const struct sotto_audit_options options = {.fpr = rate, .fpr_count = 1};
    struct sotto_audit_result r = {0};
    sotto_status status = sotto_audit(&r, &in, &options, &context);
    sotto_audit_result_free(&r);
    return status;
}
static sotto_status attribute(void)
{
    const struct sotto_attribute_input hidden = {.features = x, .attribute = y, .n = N, .d = D};
    const struct sotto_audit_input in = {.attribute = &hidden};
    struct sotto_audit_result r = {0};
    sotto_status status = sotto_audit(&r, &in, NULL, &context);
    sotto_audit_result_free(&r);
    return status;
}

static size_t rows_asked;
static sotto_status answer(void *user, float *posteriors, const float *rows, size_t n)
{
    rows_asked += n;
    return sotto_head_predict(posteriors, user, rows, n, D, 0, NULL);
}
static sotto_status attack(const char *name)
{
    struct sotto_attack_input in = {.member = {x, y, 64},
                                    .nonmember = {x + 64 * D, y + 64, 64},
                                    .attacker = {x + 128 * D, y + 128, N - 128}};
    struct sotto_attack_options o;
    struct sotto_head_recipe r;
    struct sotto_audit_result found = {0};
    double scores[128];
    int finished;
    sotto_head_defaults(&r);
    sotto_attack_defaults(&o);
    o.name = name;
    o.recipe = &r;
    o.shadows = 2;
    assert_int_equal(sotto_target_open_function(&in.target, "in this process", answer, trained, D, K),
                     SOTTO_OK);
    sotto_status status = sotto_attack(&found, scores, &finished, &in, &o, &context);
    sotto_audit_result_free(&found);
    sotto_target_close(in.target);
    return status;
}
static sotto_status shokri(void)
{
    return attack("shokri");
}
static sotto_status ml_leaks(void)
{
    return attack("ml-leaks-1");
}

TEST(audits_and_attacks_stop)
{
    assert_int_equal(sotto_head_predict(answers, trained, x, N, D, 0, NULL), SOTTO_OK);
    STOPS(audit, 1000); /* every draw of the bootstrap asks */
    STOPS(attribute, 100);
    STOPS(shokri, 40);
    STOPS(ml_leaks, 40);
}

/* --- releases: a stop comes before the ledger, or not at all --- */

static sotto_status dp_release(void)
{
    float vector[3] = {1, 2, 3};
    struct sotto_certificate *certificate = NULL;
    const struct sotto_release r = {
        .mechanism = "laplace",
        .scale = NAN,
        .target = {1, 1e-5},
        .sensitivity = one,
        .spend = {.dataset_id = "stopped", .ledger = path_of("stopped.jsonl"), .insecure = 1}};
    sotto_status status = sotto_dp_release(&certificate, vector, 3, &r, &context);
    if (status == SOTTO_ESTOPPED)
        assert_true(vector[0] == 1 && vector[1] == 2 && vector[2] == 3 && !certificate);
    sotto_certificate_free(certificate);
    return status;
}

TEST(a_stopped_release_leaves_no_entry)
{
    reset(1);
    assert_int_equal(dp_release(), SOTTO_ESTOPPED);
    assert_false(file_exists(path_of("stopped.jsonl")));
    STOPS(dp_release, 3);
    char *report = NULL;
    reset(1);
    assert_int_equal(verify_json(&report, "none", NULL, NULL, &context), SOTTO_ESTOPPED);
    reset(1);
    assert_int_equal(verify_json(&report, "none", NULL, NULL, &context), SOTTO_ESTOPPED);
    reset(1);
    assert_int_equal(sotto_ledger_account(&report, path_of("stopped.jsonl"), 1e-5, &context), SOTTO_ESTOPPED);
    assert_null(report);
    reset(0);
}

/* --- the rest of the promise --- */

TEST(teams_are_refused)
{
    int nobody;
    const struct sotto_context team = {.team = (const struct sotto_team *)&nobody};
    assert_int_equal(sotto_account_sampled(&account, &steps, &team), SOTTO_ENOTSUP);
    assert_int_equal(sotto_head_accuracy(&number, trained, x, y, N, D, &team), SOTTO_ENOTSUP);
}

static pthread_t caller;
static size_t reports;
static void report(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user, (void)stage, (void)done, (void)total, (void)unit;
    reports++;
    if (!pthread_equal(pthread_self(), caller))
        abort(); /* cmocka's assertions belong to the caller's thread */
}
static void tell(void *user, enum sotto_log_level level, const char *text)
{
    (void)level;
    report(user, text, 0, 0, "");
}

TEST(reports_come_from_the_caller_and_the_pool_stays)
{
    const struct sotto_context two = {.threads = 2, .progress = report, .log = tell};
    struct sotto_sensitivity_sample sample;
    struct sotto_head_recipe r;
    struct sotto_train_options o;
    struct sotto_network *network;
    struct sotto_dataset set = {
        .name = "blobs", .n = N, .features = x, .columns = D, .labels = y, .classes = K};
    caller = pthread_self();
    int pool = par_set_threads(3);
    sotto_head_defaults(&r);
    r.hidden_count = 1;
    r.hidden[0] = 4;
    r.epochs = 1;
    assert_int_equal(sotto_sensitivity_run(&sample, x, y, N, D, K, &r, 8, &two), SOTTO_OK);
    sotto_train_defaults(&o);
    o.model = "mlp";
    o.epochs = 1;
    o.dtype = "f32";
    o.backend = "dnnl";
    assert_int_equal(sotto_train(&network, NULL, &set, NULL, 0, &o, &two), SOTTO_OK);
    assert_int_equal(sotto_network_predict(answers, network, x, N, D, 0, &two), SOTTO_OK);
    assert_int_equal(sotto_knn_accuracy(&number, x, y, N, x, y, N, D, 3, &two), SOTTO_OK);
    assert_true(reports > 2);
    assert_int_equal(par_set_threads(pool), par_pool_threads() == 1 && pool == 1 ? 1 : 3);
    sotto_network_free(network);
}

static int set_up(void **state)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    make_blobs(x, y, N, D, K, 2, 1);
    return make_folder(state) || sotto_head_train(&trained, x, y, N, D, K, &r, NULL) != SOTTO_OK;
}
static int tear_down(void **state)
{
    sotto_head_free(trained);
    return remove_folder(state);
}

TEST_GROUP(.shards = 3, .set_up = set_up, .tear_down = tear_down, .tags = "long")
