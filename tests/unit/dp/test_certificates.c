/* Certificates of iterated runs: finished, interrupted, seeded; and certificates of runs and of single
 * releases that were changed or forged. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/account_memo.h"
#include "support/certificate_text.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"
#include "support/verify_json.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/ledger/ledger.h"
#include "io/json/json.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct sotto_dpsgd_request reserve_of(size_t steps)
{
    return (struct sotto_dpsgd_request){
        .sampled = {.mechanism = "gaussian",
                    .noise_multiplier = 4,
                    .sample_rate = 0.25,
                    .steps = steps,
                    .delta = 1e-3,
                    .clipping = SOTTO_NORM_L2,
                    .adjacency = SOTTO_ZERO_OUT,
                    .sampling = SOTTO_SAMPLING_POISSON},
        .max_grad_norm = 0.5,
        .dimension = 3,
        .spend = {.dataset_id = "toy", .source = &exercise, .purpose = "test", .ledger = ledger}};
}

/* Reserves, draws `used` steps and gives the run's name back; the certificate is saved unless forgotten. */
static void run_for(char name[33], const struct sotto_dpsgd_request *r, size_t used, bool forget)
{
    struct sotto_dpsgd_session *s;
    struct sotto_certificate *text;
    char hash[SHA256_HEX];
    double sum[3] = {1, 2, 3};
    uint32_t rows[8];
    size_t count;
    assert_int_equal(sotto_dp_reserve(&s, r, NULL), SOTTO_OK);
    for (size_t i = 0; i < used; i++) {
        assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_OK);
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    }
    memcpy(name, sotto_dpsgd_session_run(s), 33);
    if (!forget) {
        assert_int_equal(sotto_dpsgd_session_certificate(&text, s), SOTTO_OK);
        assert_true(certificate_comes_back(text));
        assert_int_equal(sha256_file(hash, output), SOTTO_OK);
        assert_int_equal(sotto_certificate_save(certificate, text, hash), SOTTO_OK);
        sotto_certificate_free(text);
    }
    sotto_dpsgd_session_close(s);
}

static struct json *read_back(void)
{
    struct json *c;
    assert_int_equal(json_read_file(&c, certificate), SOTTO_OK);
    return c;
}

static double upper_of(size_t steps, enum sotto_adjacency adjacency)
{
    struct sotto_sampled s = reserve_of(steps).sampled;
    struct sotto_account a;
    s.adjacency = adjacency;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    return a.epsilon.upper;
}

static sotto_status verify_with(const char *book)
{
    char *report = NULL;
    sotto_status status = verify_json(&report, certificate, output, book, NULL);
    sotto_text_free(report);
    return status;
}

static void must_verify(void)
{
    if (verify_with(ledger) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
}

TEST(a_finished_run_can_be_verified)
{
    char name[33];
    struct sotto_dpsgd_request r = reserve_of(6);
    run_for(name, &r, 6, false);
    must_verify();
    struct json *c = read_back();
    assert_string_equal(json_text(json_find(c, "run.id")), name);
    assert_int_equal(json_whole(json_find(c, "run.steps.charged")), 6);
    assert_int_equal(json_whole(json_find(c, "run.steps.used")), 6);
    assert_string_equal(json_text(json_find(c, "run.clipping")), "l2");
    assert_string_equal(json_text(json_find(c, "guarantee.proved.adjacency")), "zero-out");
    assert_string_equal(json_text(json_find(c, "guarantee.proved.other.adjacency")), "replace-one");
    assert_true(json_number(json_find(c, "guarantee.proved.other.epsilon.upper")) >
                json_number(json_find(c, "guarantee.proved.epsilon.upper")));
    double epsilon = json_number(json_find(c, "guarantee.proved.epsilon.upper"));
    assert_true(fabs(epsilon / upper_of(6, SOTTO_ZERO_OUT) - 1) < 1e-6);
    assert_true(json_number(json_find(c, "run.noise_multiplier")) <
                4); /* rounding to the lattice is accounted for */
    assert_true(json_number(json_find(c, "scale")) == 2);
    assert_non_null(strstr(json_text(json_find(c, "guarantee.statement")),
                           "differentially private under zero-out adjacency (epsilon "));
    json_free(c);
    /* the run goes on: what was certified stays so */
    r.run = name;
    r.first_step = 6;
    run_for(name, &r, 1, true);
    must_verify();
}

TEST(forgotten_steps_are_charged)
{
    char name[33], again[33];
    struct sotto_dpsgd_request r = reserve_of(6);
    run_for(name, &r, 4, true); /* dies; its checkpoint is of step 1 */
    r = reserve_of(5);
    r.run = name;
    r.first_step = 1;
    run_for(again, &r, 5, false);
    assert_string_equal(name, again);
    must_verify();
    struct json *c = read_back();
    assert_int_equal(json_whole(json_find(c, "run.steps.charged")), 11);
    assert_int_equal(json_whole(json_find(c, "run.steps.used")), 6);
    assert_int_equal(json_count(json_find(c, "run.reservations")), 2);
    assert_true(
        fabs(json_number(json_find(c, "guarantee.proved.epsilon.upper")) / upper_of(11, SOTTO_ZERO_OUT) - 1) <
        1e-6);
    json_free(c);
    /* another run on the same data is not this run's business; the ledger adds it up */
    r = reserve_of(2);
    char third[33];
    run_for(third, &r, 1, true);
    assert_string_not_equal(third, name);
    must_verify();
}

/* Text with `from` exchanged for `to`; it must be there. */
static char *exchanged(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no %s in %s", from, text);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static char *saved(void)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, certificate, 1 << 20), SOTTO_OK);
    char *text = strndup((char *)data, size);
    base_free(data);
    return text;
}

static void save(const char *text)
{
    assert_int_equal(file_write(certificate, text, strlen(text)), SOTTO_OK);
}

TEST(whatever_is_changed_is_noticed)
{
    static const char *const changes[][2] = {
        {"\"upper\": ", "\"upper\": 0.9e-3, \"was\": "},
        {"\"charged\": 6", "\"charged\": 5"},
        {"\"charged\": 6", "\"charged\": -6"},
        {"\"used\": 3", "\"used\": 7"},
        {"\"steps\": 6", "\"steps\": 5"},
        {"\"sample_rate\": 0.25", "\"sample_rate\": 0.2"},
        {"\"max_grad_norm\": 0.5", "\"max_grad_norm\": 0.25"},
        {"\"max_grad_norm\": 0.5", "\"max_grad_norm\": -1"},
        {"\"clipping\": \"l2\"", "\"clipping\": \"l1\""},
        {"\"clipping\": \"l2\"", "\"clipping\": \"l3\""},
        {"\"adjacency\": \"zero-out\"", "\"adjacency\": \"replace-one\""},
        {"\"other\": {", "\"other\": {\"epsilon\": {\"upper\": 0.001}, \"was\": 1}, \"others\": {"},
        {"\"mechanism\": \"gaussian\"", "\"mechanism\": \"logistic\""},
        {"\"dimension\": 3", "\"dimension\": 4"},
        {"\"scale\": 2.0", "\"scale\": 3.0"},
        {"\"source\": \"clipped\"", "\"source\": \"proved\""},
        {"\"randomness\": \"operating system", "\"randomness\": \"seeded"},
        {"\"id\": \"", "\"id\": \"0"},
        {"\"id\": ", "\"id\": 7, \"was\": "},
        {"\"first_step\": 0", "\"first_step\": 9"},
        {"\"charge\": 0", "\"charge\": 1"},
        {"\"hash\": \"", "\"hash\": \"0"},
        {"\"run\": {", "\"run\": 5, \"was\": {"},
        {"\"reservations\": [", "\"reservations\": 5, \"was\": ["},
        {"\"delta\": 0.001", "\"delta\": 0.0001"},
        {"\"accountant\": \"privacy", "\"accountant\": \"quality"},
        {"\"statement\": \"(", "\"statement\": \"(0."},
        {"\"statement\": \"enforced", "\"statement\": \"proved and enforced"},
        {"\"sampler\": \"exact", "\"sampler\": \"NOT exact"},
        {"\"sampler\": ", "\"sampler\": 1, \"was\": "}};
    char name[33];
    struct sotto_dpsgd_request r = reserve_of(6);
    run_for(name, &r, 3, false);
    must_verify();
    char *good = saved();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *bad = exchanged(good, changes[i][0], changes[i][1]);
        save(bad);
        sotto_status status = verify_with(ledger);
        if (status != SOTTO_EGATE && status != SOTTO_EFORMAT)
            fail_msg("%s -> %s: status %d", changes[i][0], changes[i][1], (int)status);
        free(bad);
    }
    save(good);
    free(good);
    must_verify();
    assert_int_equal(overwrite(output, "weights+", 8), 0);
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "released file"));
    assert_int_equal(overwrite(output, "weights", 7), 0);
}

/* A certificate that agrees with itself but leaves out what was interrupted: only the ledger knows. */
TEST(a_reservation_that_is_left_out_is_noticed)
{
    char name[33], hash[65], forged_name[33];
    struct sotto_dpsgd_request r = reserve_of(6);
    run_for(name, &r, 6, true);
    r = reserve_of(5);
    r.run = name;
    run_for(name, &r, 5, false);
    struct json *c = read_back();
    snprintf(hash, sizeof hash, "%s", json_text(json_find(c, "ledger.hash")));
    json_free(c);
    r = reserve_of(5);
    r.spend.ledger = other_ledger;
    run_for(forged_name, &r, 5, false);
    char *text = saved(), *next;
    c = read_back();
    const char *fresh = json_text(json_find(c, "ledger.hash"));
    next = exchanged(text, forged_name, name), free(text), text = next;
    for (int i = 0; i < 2; i++) {
        next = exchanged(text, fresh, hash), free(text), text = next;
        next = exchanged(text, "\"charge\": 0", "\"charge\": 1"), free(text), text = next;
    }
    json_free(c);
    save(text);
    free(text);
    assert_int_equal(verify_with(NULL), SOTTO_OK);
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "reservations: the ledger holds 2 of this run, 11 steps"));
}

TEST(only_the_same_run_goes_on)
{
    char name[33];
    struct sotto_dpsgd_session *s = NULL;
    struct sotto_dpsgd_request good = reserve_of(2), r;
    run_for(name, &good, 1, true);
    good.run = name;
#define REFUSED(change, text)                                                                                \
    do {                                                                                                     \
        r = good;                                                                                            \
        change;                                                                                              \
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);                                      \
        if (!strstr(sotto_error_text(), text))                                                               \
            fail_msg("%s", sotto_error_text());                                                              \
        assert_null(s);                                                                                      \
    } while (0)
    REFUSED(r.run = "x", "'x' is not the name of a run");
    REFUSED(r.run = "0123456789abcdef0123456789abcdeX", "is not the name of a run");
    REFUSED(r.run = "0123456789abcdef0123456789abcdef", "has no reservation in");
    REFUSED(r.sampled.sample_rate = 0.5, "another mechanism, scale, norm, sampling, dimension, adjacency, "
                                         "unit of privacy or release of labels");
    REFUSED(r.sampled.noise_multiplier = 5, "another mechanism, scale");
    REFUSED(r.max_grad_norm = 1; r.sampled.noise_multiplier = 2, "another mechanism, scale");
    REFUSED(r.dimension = 4, "another mechanism, scale");
    REFUSED(r.sampled.mechanism = "logistic", "another mechanism, scale");
    REFUSED(r.sampled.clipping = SOTTO_NORM_L1, "another mechanism, scale");
    REFUSED(r.sampled.adjacency = SOTTO_REPLACE_INPUT, "another mechanism, scale");
    REFUSED(r.sampled.adjacency = SOTTO_ADD_REMOVE, "expected replace-one, zero-out or replace-input");
    REFUSED(r.first_step = (size_t)1 << 60, "first_step must be at most 2^52");
    struct ledger l;
    assert_int_equal(ledger_read(&l, ledger), SOTTO_OK);
    assert_int_equal(l.entries, 1);
    ledger_close(&l);
}

TEST(seeded_noise_certifies_nothing)
{
    char name[33], other[33];
    struct sotto_dpsgd_request r = reserve_of(2);
    r.spend.insecure = 1;
    run_for(name, &r, 2, false);
    must_verify();
    char *text = saved();
    assert_non_null(strstr(text, "\"proved\": \"none\""));
    assert_non_null(strstr(text, "noise was seeded: no privacy guarantee"));
    free(text);
    run_for(other, &r, 2, true);
    assert_string_not_equal(name, other); /* the same seed, and yet two runs */
    r.spend.insecure = 0;
    r.run = name; /* half of the noise is private: that does not help */
    run_for(name, &r, 2, false);
    must_verify();
    text = saved();
    assert_non_null(strstr(text, "\"proved\": \"none\""));
    free(text);
}

TEST(clipped_by_l1_and_replaced)
{
    char name[33];
    struct sotto_dpsgd_request r = reserve_of(3);
    r.sampled.mechanism = "logistic";
    r.sampled.clipping = SOTTO_NORM_L1;
    r.sampled.adjacency = SOTTO_REPLACE_ONE;
    run_for(name, &r, 3, false);
    must_verify();
    struct json *c = read_back();
    assert_string_equal(json_text(json_find(c, "guarantee.proved.adjacency")), "replace-one");
    assert_true(json_number(json_find(c, "sensitivity.l1")) == 0.5);
    assert_true(json_number(json_find(c, "guarantee.proved.pure_epsilon")) > 0);
    json_free(c);
    /* the ledger composes by the facts, clipping included */
    struct ledger l;
    assert_int_equal(ledger_read(&l, ledger), SOTTO_OK);
    assert_int_equal(sums_of(&l)->proved_events.items[0].clipping, SOTTO_NORM_L1);
    assert_int_equal(sums_of(&l)->proved_events.items[0].adjacency, SOTTO_ADD_REMOVE);
    ledger_close(&l);
}

static struct sotto_release release_of(const char *book, double scale)
{
    return (struct sotto_release){
        .mechanism = "laplace",
        .scale = scale,
        .target = {NAN, 0},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = book, .purpose = "a release"}};
}

static void release_by(const struct sotto_release *r)
{
    float v[2] = {1, 2};
    struct sotto_certificate *text;
    char hash[SHA256_HEX];
    assert_int_equal(sotto_dp_release(&text, v, 2, r, NULL), SOTTO_OK);
    assert_int_equal(sha256_file(hash, output), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(certificate, text, hash), SOTTO_OK);
    sotto_certificate_free(text);
}

static void release_to(const char *book, double scale)
{
    const struct sotto_release r = release_of(book, scale);
    release_by(&r);
}

static char *member(const char *path)
{
    struct json *c = read_back();
    char *text = strdup(json_text(json_find(c, path)));
    json_free(c);
    return text;
}

/* A good certificate of another release, made to point at this one's entry. */
TEST(a_forged_release_is_noticed)
{
    release_to(ledger, 2);
    must_verify();
    char *hash = member("ledger.hash"), *commitment = member("input_commitment");
    release_to(other_ledger, 20);
    char *fresh = member("ledger.hash"), *theirs = member("input_commitment");
    char *text = saved(), *one = exchanged(text, fresh, hash), *two = exchanged(one, theirs, commitment);
    save(two);
    assert_int_equal(verify_with(NULL), SOTTO_OK);
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "recorded facts"));
    free(text), free(one), free(two), free(hash), free(commitment), free(fresh), free(theirs);
}

TEST(lines_for_people_are_checked)
{
    static const char *const changes[][3] = {
        {"\"statement\": \"(0.500001, 0)", "\"statement\": \"(0.1, 0)", "statement"},
        {"\"statement\": \"proved for", "\"statement\": \"carved for", "sensitivity"},
        {"\"sampler\": \"exact", "\"sampler\": \"quick", "lattice"},
        {"\"purpose\": \"a release", "\"purpose\": \"no release", "recorded facts"},
        {"\"bounds\": {", "\"bounds\": {\"magic\": 0.1, ", "is not the smallest bound"},
        {"\"bounds\": {", "\"bounds\": {\"magic\": 9.5, ", "recorded account"}};
    release_to(ledger, 2);
    must_verify();
    char *good = saved();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *bad = exchanged(good, changes[i][0], changes[i][1]);
        save(bad);
        assert_int_equal(verify_with(ledger), SOTTO_EGATE);
        if (!strstr(sotto_error_text(), changes[i][2]))
            fail_msg("%s: %s", changes[i][1], sotto_error_text());
        free(bad);
    }
    free(good);
}

TEST(memory_that_runs_out)
{
    struct sotto_certificate *text = NULL;
    char name[33];
    struct sotto_dpsgd_request r = reserve_of(1);
    run_for(name, &r, 1, false);
    r.run = name;
    struct sotto_dpsgd_session *s = NULL;
    sotto_status status = SOTTO_ENOMEM;
    int n;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL),
                     SOTTO_OK); /* its account is remembered now: it takes no memory */
    sotto_dpsgd_session_close(s);
    s = NULL;
    for (n = 0; status == SOTTO_ENOMEM; n += n < 4 ? 1 : 3) {
        base_alloc_fail_after(n);
        status = sotto_dp_reserve(&s, &r, NULL);
        base_alloc_fail_after(-1);
    }
    assert_int_equal(status, SOTTO_OK);
    status = SOTTO_ENOMEM;
    for (n = 0; status == SOTTO_ENOMEM; n++) {
        base_alloc_fail_after(n);
        status = sotto_dpsgd_session_certificate(&text, s);
        base_alloc_fail_after(-1);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(n >= 2);
    sotto_certificate_free(text);
    sotto_dpsgd_session_close(s);
    status = verify_with(ledger);
    assert_true(status == SOTTO_OK || status == SOTTO_EGATE);
    status = SOTTO_ENOMEM;
    for (n = 0; status == SOTTO_ENOMEM; n += n < 4 ? 1 : 3) {
        base_alloc_fail_after(n);
        status = verify_with(ledger);
        base_alloc_fail_after(-1);
        if (status == SOTTO_EGATE) /* the account's own memory: a check that failed */
            status = SOTTO_ENOMEM;
    }
    assert_int_equal(status, SOTTO_OK);
}

/* A run that protects inputs says so in its certificate and in the ledger's total, and cannot be passed off
 * as one that protects whole records. */
TEST(runs_that_protect_inputs_say_so)
{
    char name[33], *text, *total;
    struct sotto_dpsgd_request r = reserve_of(3);
    r.sampled.sample_rate = 1;
    r.sampled.adjacency = SOTTO_REPLACE_INPUT;
    run_for(name, &r, 3, false);
    must_verify();
    struct json *c = read_back();
    assert_string_equal(json_text(json_find(c, "guarantee.proved.adjacency")), "replace-input");
    assert_string_equal(json_text(json_find(c, "run.protects")), "inputs");
    assert_non_null(strstr(json_text(json_find(c, "guarantee.statement")), "under replace-input adjacency"));
    struct sotto_sampled same = r.sampled;
    same.adjacency = SOTTO_REPLACE_ONE;
    struct sotto_account a;
    assert_int_equal(sotto_account_sampled(&a, &same, NULL), SOTTO_OK);
    double epsilon = json_number(json_find(c, "guarantee.proved.epsilon.upper"));
    assert_true(fabs(epsilon / a.epsilon.upper - 1) < 1e-6);
    assert_int_equal(sotto_ledger_account(&total, ledger, 1e-3, NULL), SOTTO_OK);
    assert_non_null(strstr(total, "\"inputs_only_releases\": 1"));
    assert_non_null(strstr(total, "some assume public labels"));
    sotto_text_free(total);
    assert_int_equal(json_dump(&text, c, JSON_PRETTY), SOTTO_OK);
    json_free(c);
    char *forged = exchanged(text, "replace-input", "replace-one"), *other;
    forged = (other = exchanged(forged, "replace-input", "replace-one"), free(forged), other);
    save(forged);
    assert_int_equal(verify_with(NULL), SOTTO_EGATE);
    free(forged);
    forged = exchanged(text, "\"protects\": \"inputs\"", "\"protects\": \"nobody\"");
    save(forged);
    assert_int_equal(verify_with(NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "'protects' is not inputs"));
    free(forged);
    sotto_text_free(text);
}

TEST_GROUP(.start = remember_accounts, .before = set_up, .after = remove_folder, .tags = "long")
