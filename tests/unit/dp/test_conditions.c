/* What an epsilon rests on besides the sensitivity, from the request to ledger, certificate and verification;
 * and the nonce of every line, without which a certificate's hash of a line would tell about the records. */
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
#include "dp/certificate/certificate.h"
#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_lines.h"
#include "io/json/json.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char ledger[128], output[128], certificate[160];

static int set_up(void **state)
{
    int failed = make_folder(state);
    strcpy(ledger, path_of("l.jsonl"));
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

static struct sotto_release release_of(double scale)
{
    return (struct sotto_release){
        .mechanism = "laplace",
        .scale = scale,
        .target = {NAN, 0},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "a release"}};
}

static void save(struct sotto_certificate *text) /* takes it */
{
    char hash[SHA256_HEX];
    assert_int_equal(sha256_file(hash, output), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(certificate, text, hash), SOTTO_OK);
    sotto_certificate_free(text);
}

static void run_by(char name[33], const struct sotto_dpsgd_request *r)
{
    struct sotto_dpsgd_session *s;
    struct sotto_certificate *text;
    assert_int_equal(sotto_dp_reserve(&s, r, NULL), SOTTO_OK);
    memcpy(name, sotto_dpsgd_session_run(s), 33);
    assert_int_equal(sotto_dpsgd_session_certificate(&text, s), SOTTO_OK);
    assert_true(certificate_comes_back(text));
    save(text);
    sotto_dpsgd_session_close(s);
}

static void release_by(const struct sotto_release *r)
{
    float v[2] = {1, 2};
    struct sotto_certificate *text;
    assert_int_equal(sotto_dp_release(&text, v, 2, r, NULL), SOTTO_OK);
    save(text);
}

static sotto_status verify(void)
{
    char *report = NULL;
    sotto_status status = verify_json(&report, certificate, output, ledger, NULL);
    sotto_text_free(report);
    return status;
}

static void must_verify(void)
{
    if (verify() != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
}

static struct json *read_back(void)
{
    struct json *c;
    assert_int_equal(json_read_file(&c, certificate), SOTTO_OK);
    return c;
}

/* The first `from` of the certificate becomes `to`: it must not verify any more. */
static void changed_it_does_not_verify(const char *from, const char *to)
{
    unsigned char *good;
    size_t size;
    char bad[16384];
    assert_int_equal(file_read(&good, &size, certificate, sizeof bad / 2), SOTTO_OK);
    const char *at = strstr((char *)good, from);
    assert_non_null(at);
    snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - (char *)good), good, to, at + strlen(from));
    assert_int_equal(file_write(certificate, bad, strlen(bad)), SOTTO_OK);
    assert_true(verify() != SOTTO_OK);
    assert_int_equal(file_write(certificate, good, size), SOTTO_OK);
    base_free(good);
    must_verify();
}

/* What else an epsilon rests on: nothing is proved then, however good the sensitivity. */
TEST(a_condition_makes_a_run_conditional)
{
    char name[33], *total;
    struct sotto_dpsgd_request r = reserve_of(3);
    r.spend.condition = "an encoding that was fitted on these records";
    r.records = 40;
    run_by(name, &r);
    must_verify();
    struct json *c = read_back();
    assert_string_equal(json_text(json_find(c, "guarantee.proved")), "none");
    assert_string_equal(json_text(json_find(c, "guarantee.conditional.condition")), r.spend.condition);
    assert_string_equal(json_text(json_find(c, "condition")), r.spend.condition);
    assert_int_equal(json_whole(json_find(c, "records")), 40);
    const char *statement = json_text(json_find(c, "guarantee.statement"));
    assert_ptr_equal(strstr(statement, "proved: none; conditional: epsilon "), statement);
    assert_non_null(strstr(
        statement, "; only if this is true: This is true, in the words of the caller: an encoding that was "
                   "fitted on these records."));
    json_free(c);
    struct ledger l;
    assert_int_equal(ledger_read(&l, ledger), SOTTO_OK);
    assert_true(sums_of(&l)->conditional.releases == 1 && sums_of(&l)->proved.releases == 0);
    ledger_close(&l);
    assert_int_equal(sotto_ledger_account(&total, ledger, 1e-3, NULL), SOTTO_OK);
    assert_non_null(strstr(total, "\"proved\": \"none\""));
    sotto_text_free(total);
    /* it cannot go on without the condition, nor lose it from the certificate */
    r.run = name;
    r.spend.condition = NULL;
    struct sotto_dpsgd_session *s = NULL;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "is conditional on 'an encoding that was fitted"));
    static const char *const changes[][2] = {
        {"\"condition\": \"an encoding", "\"condition\": \"a coding"},
        {"\"proved\": \"none\"", "\"proved\": {}"},
        {"\"records\": 40", "\"records\": 4000"},
        {"\"records\": 40", "\"records\": null"},
        {"\"schema\": \"sotto.certificate/2\"", "\"schema\": \"sotto.certificate/1\""}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        changed_it_does_not_verify(changes[i][0], changes[i][1]);
    char *long_text = malloc(600);
    memset(long_text, 'x', 599);
    long_text[599] = 0;
    r.spend.condition = long_text;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "condition: 599 characters; expected at most 511"));
    long_text[480] = '\0'; /* fits by itself, and not with what is stated of persons */
    struct sotto_release persons = release_of(2);
    struct sotto_certificate *none = NULL;
    float v[1] = {0};
    persons.spend.condition = long_text;
    persons.spend.rows_per_person = 3;
    assert_int_equal(sotto_dp_release(&none, v, 1, &persons, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "condition: too long; expected at most 511 characters");
    assert_null(none);
    const struct sotto_provenance fitted = {.encoding = SOTTO_ENCODING_FITTED};
    char joined[CONDITION_TEXT];
    assert_int_equal(certificate_condition(joined, long_text, &fitted), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "characters; expected at most 511"));
    free(long_text);
}

TEST(a_condition_joins_that_of_the_sensitivity)
{
    static const struct {
        enum sotto_sensitivity_source source;
        const char *text;
    } cases[] = {{SOTTO_SENSITIVITY_PROVED,
                  "; only if this is true: This is true, in the words of the caller: public bounds."},
                 {SOTTO_SENSITIVITY_SAMPLED,
                  "; only if this is true: One unit of privacy changes the values by no more than the "
                  "largest change that was "
                  "seen in sampled pairs. This is true, in the words of the caller: public bounds."},
                 {SOTTO_SENSITIVITY_GIVEN,
                  "; only if this is true: One unit of privacy changes the values by no more than the "
                  "sensitivity that the "
                  "caller stated. This is true, in the words of the caller: public bounds."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_release r = release_of(2);
        r.sensitivity.source = cases[i].source;
        r.spend.condition = "public bounds";
        release_by(&r);
        must_verify();
        struct json *c = read_back();
        const char *statement = json_text(json_find(c, "guarantee.statement"));
        if (!strstr(statement, cases[i].text))
            fail_msg("%s", statement);
        json_free(c);
    }
    struct sotto_release none = release_of(2);
    none.spend.condition = ""; /* as NULL */
    release_by(&none);
    must_verify();
    struct json *c = read_back();
    assert_int_equal(json_kind(json_find(c, "guarantee.proved")), JSON_KIND_OBJECT);
    json_free(c);
    struct ledger l;
    assert_int_equal(ledger_read(&l, ledger), SOTTO_OK);
    assert_true(sums_of(&l)->conditional.releases == 3 && sums_of(&l)->proved.releases == 1);
    ledger_close(&l);
}

/* Certificates carry hashes of lines, which say things of the private data. */
TEST(every_line_has_a_nonce_of_its_own)
{
    struct sotto_release one = release_of(2);
    struct sotto_dpsgd_request r = reserve_of(2);
    char name[33], last[33] = "";
    r.spend.budget = (struct sotto_dp){100, 0.5};
    release_by(&one);
    run_by(name, &r); /* a budget, a reservation */
    struct ledger_lines lines;
    const struct ledger_line *line;
    int count = 0;
    assert_int_equal(ledger_lines_open(&lines, ledger), SOTTO_OK);
    for (; ledger_lines_next(&line, &lines) == SOTTO_OK && line; count++) {
        const char *nonce = json_text(json_find(line->document, "nonce"));
        assert_true(nonce && strlen(nonce) == 32 && strspn(nonce, "0123456789abcdef") == 32);
        assert_string_not_equal(nonce, last);
        memcpy(last, nonce, sizeof last);
    }
    assert_int_equal(count, 5); /* and a line for each of two files */
    ledger_lines_close(&lines);
}

TEST_GROUP(.start = remember_accounts, .before = set_up, .after = remove_folder, .tags = "long")
