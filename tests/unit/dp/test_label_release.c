/* Runs on noisy inputs with labels released by randomised response: the certificate counts both, and is
 * bound to the ledger entry of the labels. */
#include "support/test.h"
#include "support/account_memo.h"
#include "support/certificate_text.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"
#include "support/verify_json.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/release/dpsgd_session.h"
#include "io/json/json.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 4, STEPS = 3 };
static const double label_epsilon = 0.75, delta = 1e-3;
static char ledger[128], other_ledger[128], output[128], certificate[128];

static int set_up(void **state)
{
    int failed = make_folder(state);
    strcpy(ledger, path_of("l.jsonl"));
    strcpy(other_ledger, path_of("m.jsonl"));
    strcpy(output, path_of("model"));
    strcpy(certificate, path_of("model.certificate.json"));
    return failed || file_write(output, "weights", 7) != SOTTO_OK;
}

/* The hash of the entry that a release of labels wrote. */
static void release_labels(char entry[65], const char *book, double epsilon, int insecure)
{
    int64_t labels[RECORDS] = {0, 1, 2, 1};
    struct sotto_certificate *text;
    const struct sotto_release r = {
        .mechanism = "randomised-response",
        .scale = NAN,
        .target = {epsilon, 0},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = book, .insecure = insecure}};
    assert_int_equal(sotto_dp_randomise(&text, labels, RECORDS, 3, &r, NULL), SOTTO_OK);
    strcpy(entry, sotto_certificate_hash(text));
    sotto_certificate_free(text);
}

static struct sotto_dpsgd_request reserve_of(const char *labels)
{
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = "gaussian",
                                                    .noise_multiplier = 4,
                                                    .sample_rate = 1,
                                                    .steps = STEPS,
                                                    .delta = delta,
                                                    .clipping = SOTTO_NORM_L2,
                                                    .adjacency = SOTTO_REPLACE_INPUT,
                                                    .sampling = SOTTO_SAMPLING_POISSON},
                                        .max_grad_norm = 0.5,
                                        .dimension = 2 * RECORDS,
                                        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger},
                                        .records = RECORDS,
                                        .labels = labels};
}

/* Reserves, draws everything, saves the certificate; the run's name. */
static void run_for(char name[33], const struct sotto_dpsgd_request *r)
{
    struct sotto_dpsgd_session *s;
    struct sotto_certificate *text;
    char hash[SHA256_HEX];
    float inputs[2 * RECORDS] = {0.1f};
    if (sotto_dp_reserve(&s, r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    for (size_t i = 0; i < r->sampled.steps; i++)
        assert_int_equal(dp_step_float(s, inputs), SOTTO_OK);
    memcpy(name, sotto_dpsgd_session_run(s), 33);
    assert_int_equal(sotto_dpsgd_session_certificate(&text, s), SOTTO_OK);
    assert_true(certificate_comes_back(text));
    assert_int_equal(sha256_file(hash, output), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(certificate, text, hash), SOTTO_OK);
    sotto_certificate_free(text);
    sotto_dpsgd_session_close(s);
}

static sotto_status verify_with(const char *book)
{
    char *report = NULL;
    sotto_status status = verify_json(&report, certificate, output, book, NULL);
    sotto_text_free(report);
    return status;
}

static void must_verify(const char *book)
{
    if (verify_with(book) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
}

static struct json *read_back(void)
{
    struct json *c;
    assert_int_equal(json_read_file(&c, certificate), SOTTO_OK);
    return c;
}

static char *saved(void)
{
    struct json *c = read_back();
    char *text;
    assert_int_equal(json_dump(&text, c, JSON_PRETTY), SOTTO_OK);
    json_free(c);
    return text;
}

static void save_changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char changed[8192];
    assert_non_null(at);
    int n = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_true(n > 0 && (size_t)n < sizeof changed);
    assert_int_equal(file_write(certificate, changed, (size_t)n), SOTTO_OK);
}

static double proved(const struct json *c)
{
    return json_number(json_find(c, "guarantee.proved.epsilon.upper"));
}

TEST(inputs_and_labels_add_up)
{
    char labels[65], name[33], *total;
    struct sotto_dpsgd_request r = reserve_of(NULL);
    run_for(name, &r);
    struct json *alone = read_back();
    release_labels(labels, ledger, label_epsilon, 0);
    r.labels = labels;
    run_for(name, &r);
    must_verify(ledger);
    struct json *c = read_back();
    assert_true(fabs(proved(c) - proved(alone) - label_epsilon) < 1e-9);
    assert_true(proved(c) >= proved(alone) + label_epsilon - 1e-12);
    assert_string_equal(json_text(json_find(alone, "guarantee.proved.adjacency")), "replace-input");
    assert_string_equal(json_text(json_find(c, "guarantee.proved.adjacency")), "replace-one");
    assert_string_equal(json_text(json_find(c, "run.labels.entry")), labels);
    assert_true(fabs(json_number(json_find(c, "run.labels.scale")) * label_epsilon - 1) < 1e-9);
    assert_int_equal(json_kind(json_find(c, "guarantee.proved.pure_epsilon")), JSON_KIND_NULL);
    /* The ledger composes both entries; one run of two counts on public labels. */
    assert_int_equal(sotto_ledger_account(&total, ledger, delta, NULL), SOTTO_OK);
    assert_non_null(strstr(total, "\"inputs_only_releases\": 1"));
    sotto_text_free(total);
    json_free(alone);
    json_free(c);
}

/* Logistic noise on inputs clipped by L1 has a pure epsilon, to which the labels' is added. */
TEST(pure_epsilons_add_up)
{
    char labels[65], name[33];
    double pure[2];
    release_labels(labels, ledger, label_epsilon, 0);
    for (int released = 0; released < 2; released++) {
        struct sotto_dpsgd_request r = reserve_of(released ? labels : NULL);
        r.sampled.mechanism = "logistic";
        r.sampled.clipping = SOTTO_NORM_L1;
        run_for(name, &r);
        must_verify(ledger);
        struct json *c = read_back();
        pure[released] = json_number(json_find(c, "guarantee.proved.pure_epsilon"));
        json_free(c);
    }
    assert_true(fabs(pure[1] - pure[0] - label_epsilon) < 1e-9);
}

TEST(a_resumed_run_keeps_its_labels)
{
    char labels[65], others[65], name[33];
    struct sotto_dpsgd_session *s = NULL;
    release_labels(labels, ledger, label_epsilon, 0);
    release_labels(others, ledger, label_epsilon, 0);
    struct sotto_dpsgd_request r = reserve_of(labels);
    run_for(name, &r);
    r.run = name;
    r.sampled.steps = 1;
    r.first_step = 2;
    run_for(name, &r);
    must_verify(ledger);
    struct json *c = read_back();
    assert_int_equal(json_whole(json_find(c, "run.steps.charged")), STEPS + 1);
    json_free(c);
    const char *changed[] = {others, NULL};
    for (int i = 0; i < 2; i++) {
        r.labels = changed[i];
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), "adjacency, unit of privacy or release of labels"));
    }
}

TEST(what_does_not_fit_is_refused)
{
    char labels[65], run_entry[65], name[33], elsewhere[65];
    struct sotto_dpsgd_session *s = NULL;
    release_labels(labels, ledger, label_epsilon, 0);
    release_labels(elsewhere, other_ledger, label_epsilon, 0);
    struct sotto_dpsgd_request good = reserve_of(labels);
    run_for(name, &good);
    struct json *c = read_back();
    strcpy(run_entry, json_text(json_find(c, "ledger.hash")));
    json_free(c);
#define REFUSED(change, text)                                                                                \
    do {                                                                                                     \
        struct sotto_dpsgd_request r = good;                                                                 \
        change;                                                                                              \
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);                                      \
        if (!strstr(sotto_error_text(), text))                                                               \
            fail_msg("%s", sotto_error_text());                                                              \
        assert_null(s);                                                                                      \
    } while (0)
    REFUSED(r.sampled.adjacency = SOTTO_REPLACE_ONE,
            "reserve: labels need inputs_only and the hash of the ledger entry of their release");
    REFUSED(r.labels = "feed",
            "reserve: labels need inputs_only and the hash of the ledger entry of their release");
    REFUSED(r.labels = elsewhere, "...; use the ledger in which it was recorded");
    REFUSED(r.labels = run_entry, "contains no release of labels with the hash");
    REFUSED(r.records = RECORDS + 1, "4 labels were released for 5 records; expected one label per record");
#undef REFUSED
}

TEST(seeded_labels_certify_nothing)
{
    char labels[65], name[33];
    release_labels(labels, ledger, label_epsilon, 1);
    struct sotto_dpsgd_request r = reserve_of(labels);
    run_for(name, &r);
    char *text = saved();
    assert_non_null(strstr(text, "\"proved\": \"none\""));
    assert_non_null(strstr(text, "noise was seeded: no privacy guarantee"));
    sotto_text_free(text);
    must_verify(ledger);
    r.run = name; /* nor does a run that goes on */
    run_for(name, &r);
    text = saved();
    assert_non_null(strstr(text, "\"proved\": \"none\""));
    sotto_text_free(text);
}

TEST(forgeries_are_noticed)
{
    char labels[65], weak[65], seeded[65], name[33], from[96], to[96];
    release_labels(labels, ledger, label_epsilon, 0);
    release_labels(weak, ledger, 2, 0);
    release_labels(seeded, ledger, label_epsilon, 1);
    struct sotto_dpsgd_request r = reserve_of(labels);
    run_for(name, &r);
    char *text = saved();
    snprintf(from, sizeof from, "\"entry\": \"%s\"", labels);
    snprintf(to, sizeof to, "\"entry\": \"%s\"", weak);
    save_changed(text, from, to); /* labels that were released with less noise */
    must_verify(NULL);
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    snprintf(to, sizeof to, "\"entry\": \"%s\"", seeded);
    save_changed(text, from, to); /* with seeded noise */
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    save_changed(text, "\"labels\": {", "\"letters\": {"); /* labels that were not released at all */
    assert_int_equal(verify_with(NULL), SOTTO_EGATE);
    save_changed(text, "\"scale\": 1.333", "\"scale\": 2.333");
    assert_int_equal(verify_with(NULL), SOTTO_EGATE);
    save_changed(text, "\"scale\": 1.333", "\"scale\": 1e-310, \"x\": 1");
    assert_int_equal(verify_with(NULL), SOTTO_EGATE);
    const char *damaged[][2] = {{"\"scale\": 1.333", "\"scale\": -1.333"},
                                {"\"protects\": \"inputs\",", ""},
                                {"\"entry\": ", "\"exit\": "},
                                {"\"scale\": 1.333", "\"scalar\": 1.333"}};
    for (int i = 0; i < 4; i++) {
        save_changed(text, damaged[i][0], damaged[i][1]);
        if (verify_with(NULL) != SOTTO_EFORMAT)
            fail_msg("%d: %s", i, sotto_error_text());
    }
    sotto_text_free(text);
}

TEST(memory_that_runs_out)
{
    char labels[65], name[33];
    long n;
    release_labels(labels, ledger, label_epsilon, 0);
    struct sotto_dpsgd_request r = reserve_of(labels);
    run_for(name, &r); /* its account is remembered now: it takes no memory */
    sotto_status status = SOTTO_ENOMEM;
    for (n = 0; status == SOTTO_ENOMEM; n++) {
        struct sotto_dpsgd_session *s = NULL;
        base_alloc_fail_after(n);
        status = sotto_dp_reserve(&s, &r, NULL);
        base_alloc_fail_after(-1);
        sotto_dpsgd_session_close(s);
    }
    assert_int_equal(status, SOTTO_OK);
    run_for(name, &r);
    assert_int_equal(verify_with(ledger), SOTTO_OK);
    status = SOTTO_ENOMEM;
    for (n = 0; status == SOTTO_ENOMEM; n++) {
        base_alloc_fail_after(n);
        status = verify_with(ledger);
        base_alloc_fail_after(-1);
        if (status == SOTTO_EGATE) /* the account's own memory: a check that failed */
            status = SOTTO_ENOMEM;
    }
    assert_int_equal(status, SOTTO_OK);
}

TEST_GROUP(.start = remember_accounts, .before = set_up, .after = remove_folder, .tags = "long")
