/* The edges of reservations and of what reads them back: entries and certificates that lack something,
 * requests without sense, every allocation that fails, and events that differ in one thing only. */
#include "support/test.h"
#include "support/account_memo.h"
#include "support/exercise.h"
#include "support/failing_jansson.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/ledger/ledger_account.h"
#include "dp/release/dpsgd_session.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"
#include "support/verify_json.h"
#include "io/json/json.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

static char ledger[128], output[128], certificate[128];

static int set_up(void **state)
{
    int failed = make_folder(state);
    strcpy(ledger, path_of("l.jsonl"));
    strcpy(output, path_of("model"));
    strcpy(certificate, path_of("model.certificate.json"));
    return failed || file_write(output, "weights", 7) != SOTTO_OK;
}

/* So much noise at so large a delta that nothing takes long to account. */
static struct sotto_dpsgd_request reserve_of(const char *book, double rate)
{
    return (struct sotto_dpsgd_request){
        .sampled = {.mechanism = "gaussian",
                    .noise_multiplier = 40,
                    .sample_rate = rate,
                    .steps = 2,
                    .delta = 0.3,
                    .clipping = SOTTO_NORM_L2,
                    .adjacency = SOTTO_ZERO_OUT,
                    .sampling = SOTTO_SAMPLING_POISSON},
        .max_grad_norm = 0.5,
        .dimension = 3,
        .spend = {.dataset_id = "toy", .source = &exercise, .purpose = "test", .ledger = book}};
}

/* Reserves, and leaves a certificate of nothing drawn. */
static void run_for(char id[33], const struct sotto_dpsgd_request *r)
{
    struct sotto_dpsgd_session *s;
    struct sotto_certificate *text;
    char hash[SHA256_HEX];
    assert_int_equal(sotto_dp_reserve(&s, r, NULL), SOTTO_OK);
    memcpy(id, sotto_dpsgd_session_run(s), 33);
    assert_int_equal(sotto_dpsgd_session_certificate(&text, s), SOTTO_OK);
    assert_int_equal(sha256_file(hash, output), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(certificate, text, hash), SOTTO_OK);
    sotto_certificate_free(text);
    sotto_dpsgd_session_close(s);
}

static sotto_status verify_with(const char *book)
{
    char *report = NULL;
    sotto_status status = verify_json(&report, certificate, output, book, NULL);
    assert_int_equal(status == SOTTO_OK || status == SOTTO_EGATE, report != NULL);
    sotto_text_free(report);
    return status;
}

static char *contents(const char *path)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *text = strndup((char *)data, size);
    base_free(data);
    return text;
}

static void save(const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text)), SOTTO_OK);
}

/* Text with the first `from` exchanged for `to`; it must be there. */
static char *exchanged(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no %s in %s", from, text);
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void exchange_all(char **text, const char *from, const char *to)
{
    while (strstr(*text, from)) {
        char *next = exchanged(*text, from, to);
        free(*text);
        *text = next;
    }
}

/* The one line of a ledger says something else and has a proper hash again, which the certificate takes
 * over. */
static void forge_entry(const char *from, const char *to)
{
    char hash[SHA256_HEX], old[SHA256_HEX];
    char *line = contents(ledger), *mark = strstr(line, ",\"hash\":\"");
    snprintf(old, sizeof old, "%.64s", mark + 9);
    strcpy(mark, "}");
    char *changed = exchanged(line, from, to), *text = contents(certificate);
    sha256_of(hash, changed, strlen(changed));
    changed[strlen(changed) - 1] = '\0';
    size_t size = strlen(changed) + 100;
    char *whole = malloc(size);
    snprintf(whole, size, "%s,\"hash\":\"%s\"}\n", changed, hash);
    save(ledger, whole);
    exchange_all(&text, old, hash);
    save(certificate, text);
    free(line), free(changed), free(text), free(whole);
}

/* --- requests and steps */

TEST(requests_without_sense)
{
    struct sotto_dpsgd_session *s = NULL;
    struct sotto_dpsgd_request good = reserve_of(ledger, 1), r;
#define REFUSED(change, status, text)                                                                        \
    do {                                                                                                     \
        r = good;                                                                                            \
        change;                                                                                              \
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), status);                                            \
        if (!strstr(sotto_error_text(), text))                                                               \
            fail_msg("%s", sotto_error_text());                                                              \
        assert_null(s);                                                                                      \
    } while (0)
    REFUSED(r.max_grad_norm = 0, SOTTO_EINVAL, "max_grad_norm must be greater than 0");
    REFUSED(r.sampled.noise_multiplier = NAN, SOTTO_EINVAL, "noise_multiplier must be greater than 0");
    REFUSED(r.sampled.noise_multiplier = r.max_grad_norm = 1e-60, SOTTO_EINVAL, "* max_grad_norm must");
    REFUSED(r.dimension = 0, SOTTO_EINVAL, "the dimension is 0");
    REFUSED(r.spend.dataset_id = NULL, SOTTO_EINVAL, "has no identity");
    REFUSED(r.spend.dataset_id = "", SOTTO_EINVAL, "has no identity");
    REFUSED(r.spend.budget.epsilon = -1, SOTTO_EINVAL, "budget epsilon");
    REFUSED((r.spend.budget = (struct sotto_dp){1, 2}), SOTTO_EINVAL, "delta must be at least 0 and below 1");
    REFUSED(r.sampled.mechanism = "cauchy", SOTTO_EINVAL, "'cauchy' is unknown");
    REFUSED(r.sampled.delta = 0, SOTTO_EINVAL, "delta must be above 0");
    REFUSED(r.spend.ledger = "/", SOTTO_ECREATE, "cannot open the ledger");
    good.sampled = (struct sotto_sampled){.mechanism = "logistic",
                                          .noise_multiplier = 4,
                                          .sample_rate = 1,
                                          .steps = 1,
                                          .delta = 1e-3,
                                          .clipping = SOTTO_NORM_L1,
                                          .adjacency = SOTTO_ZERO_OUT,
                                          .sampling = SOTTO_SAMPLING_POISSON};
    REFUSED((r.spend.budget = (struct sotto_dp){1e-6, 1e-3}), SOTTO_EBUDGET, "would be exceeded");
    struct ledger l;
    assert_int_equal(ledger_open(&l, ledger, NULL), SOTTO_OK);
    assert_int_equal(l.entries, 0); /* not even the budget */
    assert_int_equal(ledger_name_budget(&l, (struct sotto_dp){-1, 0}, 0), SOTTO_EINVAL);
    assert_int_equal(ledger_name_budget(&l, (struct sotto_dp){1e-6, 1e-3}, 0), SOTTO_OK);
    assert_int_equal(ledger_name_budget(&l, (struct sotto_dp){1, 1e-3}, 0), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "expected a budget that is not larger (got"));
    ledger_close(&l);
}

TEST(steps_out_of_turn)
{
    struct sotto_dpsgd_session *s;
    struct sotto_dpsgd_request r = reserve_of(ledger, 0.25);
    uint32_t rows[8];
    size_t count = 99;
    double sum[3] = {1, 2, 3};
    sotto_dpsgd_session_close(NULL);
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(),
                           "sotto_dp_sample() was not called for this step; call it before sotto_dp_step()"));
    assert_int_equal(sotto_dp_sample(s, rows, &count, (size_t)UINT32_MAX + 1), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "4294967296 records"));
    assert_int_equal(count, 99);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_OK);
        assert_true(count <= 8);
        assert_int_equal(sotto_dpsgd_session_used(s), i);
        sum[1] = i ? NAN : 1e300; /* whatever the records do, the step goes on */
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
        assert_true(isfinite(sum[1]));
    }
    count = 99;
    assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_EBUDGET);
    double after[3] = {1, 2, 3};
    assert_int_equal(sotto_dp_step(s, after), SOTTO_EBUDGET);
    assert_true(count == 99 && after[0] == 1);
    struct ledger l;
    assert_int_equal(ledger_read(&l, ledger), SOTTO_OK);
    assert_string_equal(dpsgd_session_entry(s), l.last);
    ledger_close(&l);
    sotto_dpsgd_session_close(s);
    r = reserve_of(ledger, 1); /* all records: no coins, and a step needs none */
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_OK);
    assert_true(count == 8 && rows[7] == 7);
    sotto_dpsgd_session_close(s);
}

/* Where 16 bits do not decide, 48 more do: here for one coin in 65,536, and then either way. */
TEST(coins_that_need_all_their_bits)
{
    enum { N = 1 << 20 };
    const double rate = 0.25 + 0x1p-17;
    struct sotto_dpsgd_session *s;
    struct sotto_dpsgd_request r = reserve_of(ledger, rate);
    uint32_t *rows = malloc(N * sizeof *rows);
    size_t count;
    r.spend.insecure = 1; /* the same every time */
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_dp_sample(s, rows, &count, N), SOTTO_OK);
    assert_true(fabs((double)count - rate * N) < 5 * sqrt(rate * (1 - rate) * N));
    for (size_t i = 1; i < count; i++)
        assert_true(rows[i - 1] < rows[i]);
    assert_true(rows[count - 1] < N);
    sotto_dpsgd_session_close(s);
    free(rows);
}

TEST(no_purpose_is_none)
{
    char id[33];
    struct sotto_dpsgd_request r = reserve_of(ledger, 1);
    r.spend.purpose = NULL;
    run_for(id, &r);
    assert_int_equal(verify_with(ledger), SOTTO_OK);
    struct json *c;
    assert_int_equal(json_read_file(&c, certificate), SOTTO_OK);
    assert_int_equal(json_kind(json_find(c, "purpose")), JSON_KIND_NULL);
    json_free(c);
}

/* --- certificates */

TEST(a_certificate_of_a_run_that_is_wrong)
{
    static const char *const changes[][3] = {
        {"\"charge\": 0,", "\"charge\": \"0\",", NULL}, /* of the reservation */
        {"\"ledger\": {", "\"ledger\": {\"charge\": null, \"hash\": \"x\"}, \"old\": {",
         "'ledger.charge' is null"},
        {"\"id\": \"", "\"id\": \"0", "'run.id' is not the name of a run"},
        {"\"charged\": 2", "\"charged\": 0", "steps"},
        {"\"charged\": 2", "\"charged\": null", "'steps.charged' is null"},
        {"\"clipping\": \"l2\"", "\"clipping\": \"l1\"", "run"},
        {"\"scale\": 20.0", "\"scale\": -2.0", "scale"},
        {"\"scale\": 20.0", "\"scale\": 1e200", "scale"},
        {"\"scale\": 20.0", "\"scale\": 0", "scale"},
        {"\"max_grad_norm\": 0.5", "\"max_grad_norm\": 0", "run"},
        {"\"reservations\": [", "\"reservations\": [], \"was\": [", "steps"},
        {"\"hash\": \"", "\"hash\": 1, \"was\": \"", NULL},
        {"\"used\": 0", "\"used\": 3", "steps"},
        {"\"used\": 0", "\"used\": \"0\"", "steps"},
        {"\"lower\": ", "\"lower\": 1e9, \"was\": ", "lower end"},
        {"\"lattice_exponent\": ", "\"lattice_exponent\": 9, \"was\": ", "lattice"},
        {"\"unit_of_privacy\": \"", "\"unit_of_privacy\": \"x", "unit of privacy: xone"},
        {"\"id\": \"", "\"ranks\": 1, \"sampling_by\": \"rank 0\", \"id\": \"", "ranks"},
        {"\"schema\": ", "\"plan\": {\"id\": \"x\", \"slot\": 0}, \"schema\": ", "'plan' is wrong"},
        {"\"schema\": ", "\"statistic\": {\"name\": \"mean\", \"range\": [1, 0]}, \"schema\": ",
         "'statistic.range' is no pair of numbers"},
        {"\"schema\": ", "\"fine_tuning\": {\"trained\": 1}, \"schema\": ", "frozen"},
        {"\"source\": \"clipped\"", "\"source\": \"given\"", "wording"},
        {"\"source\": \"clipped\"", "\"source\": \"guessed\"", "wording"},
        {"\"conditional\": ", "\"was\": ", "guarantee' has neither 'proved' nor 'conditional'"},
        {"\"proved\": {", "\"was\": {", "guarantee' has neither 'proved' nor 'conditional'"},
        {"\"pure_epsilon\": ", "\"pure_epsilon\": 1, \"was\": ", "pure epsilon"},
        {"\"zcdp_rho\": ", "\"zcdp_rho\": true, \"was\": ", "'zcdp_rho' is true"},
        {"\"output_sha256\": ", "\"was\": ", "'output_sha256' is missing"},
        {"\"sensitivity\": {", "\"sensitivity\": {\"statement\": 0}, \"was\": {", "'sensitivity.l1' is"}};
    char id[33];
    const struct sotto_dpsgd_request r = reserve_of(ledger, 1);
    run_for(id, &r);
    assert_int_equal(verify_with(ledger), SOTTO_OK);
    char *good = contents(certificate);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *bad = exchanged(good, changes[i][0], changes[i][1]);
        save(certificate, bad);
        sotto_status status = verify_with(ledger);
        if ((status != SOTTO_EGATE && status != SOTTO_EFORMAT) ||
            (changes[i][2] && !strstr(sotto_error_text(), changes[i][2])))
            fail_msg("%s -> %s: %s", changes[i][0], changes[i][1], sotto_error_text());
        free(bad);
    }
    char *text = exchanged(good, "\"lower\": ", "\"lower\": null, \"was\": ");
    save(certificate, text);
    assert_int_equal(verify_with(NULL), SOTTO_OK); /* no lower end claims nothing */
    save(certificate, good);
    free(text), free(good);
    assert_int_equal(verify_with(path_of("none.jsonl")), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "ledger chain"));
    char *report = NULL;
    assert_int_equal(verify_json(&report, certificate, path_of("gone"), NULL, NULL), SOTTO_ENOENT);
    assert_null(report);
}

TEST(a_ledger_that_tells_another_run)
{
    static const char *const changes[][3] = {
        {"\"first_step\":0", "\"first_step\":\"0\"", "'first_step' is \"0\""},
        {"\"first_step\":0", "\"first_step\":1", "reservations: the ledger holds 1 of this run"},
        {"\"clipping\":\"l2\"", "\"clipping\":\"l9\"", "'clipping' is neither"},
        {"\"dimension\":3", "\"dimension\":2", "another mechanism"},
        {"\"dimension\":3", "\"dimension\":4",
         "its noise multiplier, "}, /* rounding of more values adds to the norm */
        {"\"noise_multiplier\":", "\"noise_multiplier\":1000,\"was\":",
         "is larger than its noise over its norm"},
        {"\"dimension\":3", "\"person\":{\"rows\":0},\"dimension\":3", "'person.rows' is 0"},
        {"\"lattice_exponent\":", "\"lattice_exponent\":5000,\"was\":", "expected -1074 to 1023"},
        {"\"dimension\":3", "\"noise_mode\":\"slow\",\"dimension\":3",
         "'noise_mode' is neither exact nor fast"},
        {"\"randomness\":\"os\"", "\"randomness\":\"a seed\"", "noise seeded"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char id[33];
        struct sotto_dpsgd_request r = reserve_of(ledger, 1);
        unlink(ledger);
        run_for(id, &r);
        forge_entry(changes[i][0], changes[i][1]);
        if (verify_with(ledger) != SOTTO_EGATE || !strstr(sotto_error_text(), changes[i][2]))
            fail_msg("%s: %s", changes[i][1], sotto_error_text());
        if (i == 0) { /* nor can it go on */
            struct sotto_dpsgd_session *s = NULL;
            r.run = id;
            assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EFORMAT);
            assert_null(s);
        }
    }
}

/* Seeded: nothing is claimed, so only the lines are checked, whatever the mechanism is called. */
TEST(a_seeded_run_of_an_unknown_mechanism)
{
    char id[33];
    struct sotto_dpsgd_request r = reserve_of(ledger, 1);
    r.spend.insecure = 1;
    run_for(id, &r);
    assert_int_equal(verify_with(ledger), SOTTO_OK);
    char *text = contents(certificate);
    exchange_all(&text, "\"mechanism\": \"gaussian\"", "\"mechanism\": \"cauchy\"");
    save(certificate, text);
    assert_int_equal(verify_with(NULL), SOTTO_OK);
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "reservations: "));
    free(text);
}

static struct sotto_release release_of(const char *mechanism)
{
    return (struct sotto_release){
        .mechanism = mechanism,
        .scale = 2,
        .target = {NAN, 0},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "a release"}};
}

static void release_by(const struct sotto_release *r)
{
    float v[2] = {1, 2};
    struct sotto_certificate *text;
    char hash[SHA256_HEX];
    if (sotto_dp_release(&text, v, 2, r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(sha256_file(hash, output), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(certificate, text, hash), SOTTO_OK);
    sotto_certificate_free(text);
}

static void release_to_new(const char *mechanism)
{
    const struct sotto_release r = release_of(mechanism);
    unlink(ledger);
    release_by(&r);
}

static void must_verify(void)
{
    if (verify_with(ledger) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
}

/* Each names its sampler, its source of noise and its column in its own way; one after the other in a
 * ledger. */
TEST(releases_of_all_kinds)
{
    struct sotto_release r = release_of("logistic");
    r.flat_doubt = 1;
    release_by(&r);
    must_verify();
    r = release_of("knorm");
    release_by(&r);
    must_verify();
    r = release_of("laplace");
    r.sensitivity.source = SOTTO_SENSITIVITY_SAMPLED;
    strcpy(r.sensitivity.evidence, "7 pairs");
    release_by(&r);
    must_verify();
    r.spend.insecure = 1;
    release_by(&r);
    must_verify();
    char *report = NULL;
    const char *elsewhere = path_of("elsewhere");
    assert_int_equal(rename(output, elsewhere), 0);
    assert_int_equal(verify_json(&report, certificate, NULL, ledger, NULL), SOTTO_OK);
    assert_int_equal(rename(elsewhere, output), 0);
    assert_null(strstr(report, "\"check\": \"released file\""));
    assert_non_null(strstr(report, "the released file, as none was given"));
    sotto_text_free(report);
}

/* An infinite epsilon is neither charged nor certified, whatever the noise comes from. */
TEST(nothing_without_an_epsilon)
{
    static const char *const mechanisms[] = {"gaussian", "discrete-gaussian"};
    float v[2] = {1, 2};
    struct sotto_certificate *none = NULL;
    unlink(ledger);
    for (int i = 0; i < 4; i++) {
        struct sotto_release r = release_of(mechanisms[i / 2]);
        r.sensitivity.l2 = 1;
        r.spend.insecure = i % 2;
        assert_int_equal(sotto_dp_release(&none, v, 2, &r, NULL), SOTTO_EDOMAIN);
        assert_non_null(strstr(sotto_error_text(), "gives no pure epsilon; give a delta > 0"));
        assert_null(none);
        assert_true(v[0] == 1 && v[1] == 2);
        assert_int_equal(access(ledger, F_OK), -1);
        r.target.delta = 1e-5; /* what the hint says helps */
        release_by(&r);
        v[0] = 1, v[1] = 2;
        unlink(ledger);
    }
    struct sotto_dpsgd_request run = reserve_of(ledger, 0.5);
    struct sotto_dpsgd_session *session = NULL;
    run.sampled.mechanism = "logistic";
    run.sampled.noise_multiplier = 1e-9;
    run.sampled.delta = 1e-300;
    assert_int_equal(sotto_dp_reserve(&session, &run, NULL), SOTTO_EDOMAIN);
    assert_non_null(strstr(sotto_error_text(), "no finite epsilon is proved at delta 1e-300"));
    assert_null(session);
    assert_int_equal(access(ledger, F_OK), -1);
    run.sampled.noise_multiplier = 1;
    run.sampled.delta = 1e-5;
    assert_int_equal(sotto_dp_reserve(&session, &run, NULL), SOTTO_OK);
    sotto_dpsgd_session_close(session);
}

TEST(a_ledger_that_tells_another_release)
{
    static const char *const changes[][3] = {
        {"\"input_nonce\"", "\"n\"", "input commitment: "},
        {"\"input_sha256\":", "\"input_sha256\":\"abc\",\"was\":", "input commitment: over the nonce"},
        {"\"randomness\":\"os\"", "\"randomness\":\"a seed\"", "recorded randomness"},
        {"\"purpose\"", "\"p\"", "recorded facts"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        release_to_new("laplace");
        forge_entry(changes[i][0], changes[i][1]);
        if (verify_with(ledger) != SOTTO_EGATE || !strstr(sotto_error_text(), changes[i][2]))
            fail_msg("%s: %s", changes[i][1], sotto_error_text());
    }
    /* an event that is not charged is no release; an unknown one is refused with the chain */
    release_to_new("laplace");
    forge_entry("\"event\":\"release\"", "\"event\":\"torn\"");
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "is torn, expected a release"));
    release_to_new("laplace");
    forge_entry("\"event\":\"release\"", "\"event\":\"note\"");
    assert_int_equal(verify_with(ledger), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "ledger chain: "));
    static const char *const exponents[] = {"\"lattice_exponent\": -500, \"was\": ",
                                            "\"lattice_exponent\": 500, \"was\": "};
    for (int i = 0; i < 2; i++) {
        release_to_new("discrete-laplace");
        assert_int_equal(verify_with(ledger), SOTTO_OK);
        char *text = contents(certificate), *bad = exchanged(text, "\"lattice_exponent\": ", exponents[i]);
        save(certificate, bad);
        assert_int_equal(verify_with(ledger), SOTTO_EGATE);
        assert_non_null(strstr(sotto_error_text(), "lattice"));
        free(text), free(bad);
    }
}

/* --- memory: every allocation of ours and of jansson fails once */

static const char *going_on; /* the run, or NULL */
static int seeded_use;

static sotto_status use_reserve(void)
{
    struct sotto_dpsgd_session *s = NULL;
    struct sotto_dpsgd_request r = reserve_of(ledger, 1);
    r.run = going_on;
    r.spend.insecure = seeded_use;
    sotto_status status = sotto_dp_reserve(&s, &r, NULL);
    assert_int_equal(status == SOTTO_OK, s != NULL);
    sotto_dpsgd_session_close(s);
    return status;
}

static struct sotto_dpsgd_session *some_steps;

static sotto_status use_certificate(void)
{
    struct sotto_certificate *made = NULL;
    char *text = NULL;
    sotto_status status = sotto_dpsgd_session_certificate(&made, some_steps);
    if (status == SOTTO_OK)
        status = sotto_certificate_encode(&text, made);
    sotto_text_free(text);
    sotto_certificate_free(made);
    return status;
}

static sotto_status use_verify(void)
{
    return verify_with(ledger);
}

/* A check that lacks memory fails (EGATE), and jansson tells a text without memory as a syntax error
 * (EFORMAT). */
static int sweep(sotto_status (*use)(void), bool jansson)
{
    sotto_status status = SOTTO_ENOMEM;
    int i = 0;
    for (; status != SOTTO_OK && i < 4000; i++) {
        if (jansson)
            jansson_left = i;
        else
            base_alloc_fail_after(i);
        status = use();
        jansson_left = -1;
        base_alloc_fail_after(-1);
        if (status != SOTTO_OK && status != SOTTO_ENOMEM && status != SOTTO_EGATE && status != SOTTO_EFORMAT)
            fail_msg("allocation %d: %s: %s", i, sotto_status_name(status), sotto_error_text());
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(i > 1);
    return i;
}

static void sweep_run(int seeded, bool jansson)
{
    char id[33];
    struct sotto_dpsgd_request r = reserve_of(ledger, 1);
    r.spend.insecure = seeded_use = seeded;
    unlink(ledger);
    run_for(id, &r);
    sweep(use_verify, jansson);
    going_on = NULL;
    sweep(use_reserve, jansson);
    going_on = id;
    sweep(use_reserve, jansson);
}

static void sweep_certificates(bool jansson)
{
    const struct sotto_dpsgd_request r = reserve_of(ledger, 1);
    assert_int_equal(sotto_dp_reserve(&some_steps, &r, NULL), SOTTO_OK);
    sweep(use_certificate, jansson);
    sotto_dpsgd_session_close(some_steps);
    release_to_new("laplace");
    sweep(use_verify, jansson);
}

TEST(our_allocations_may_fail)
{
    sweep_run(1, false);
    sweep_run(0, false);
    sweep_certificates(false);
}

TEST(janssons_allocations_may_fail_in_a_seeded_run)
{
    json_set_alloc_funcs(jansson_malloc, free);
    sweep_run(1, true);
    json_set_alloc_funcs(malloc, free);
}

TEST(janssons_allocations_may_fail_in_a_run)
{
    json_set_alloc_funcs(jansson_malloc, free);
    sweep_run(0, true);
    json_set_alloc_funcs(malloc, free);
}

TEST(janssons_allocations_may_fail_in_certificates)
{
    json_set_alloc_funcs(jansson_malloc, free);
    sweep_certificates(true);
    json_set_alloc_funcs(malloc, free);
}

TEST_GROUP(.shards = 3, .start = remember_accounts, .before = set_up, .after = remove_folder)
