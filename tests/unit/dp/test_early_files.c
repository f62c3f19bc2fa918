/* Files of version 0.1.0 before there was one noise mode (tests/golden/early): runs with exact and with fast noise,
 * a release by the sampler of constant time, and one on the finer lattice. All are read, shown and verified as
 * they were; a run with exact noise may go on, one with fast noise may not. */
#include "support/test.h"
#include "support/account_memo.h"

#include "base/file.h"
#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/certificate_text.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"
#include "support/verify_json.h"

#include <string.h>

#define EXACT_RUN "d7f1b6bdc68a5fac1cb50f6bf30009a4"
#define FAST_RUN "add4bdf1c2ee46cbb5f64d55f1c671b7"

static const char *early(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], SOTTO_TEST_DIR "/golden/early/%s", name);
    return path;
}

static char *text_of(const char *path)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *text = strndup((char *)data, size);
    base_free(data);
    return text;
}

static sotto_status verify(const char *certificate, const char *ledger)
{
    char *report = NULL;
    sotto_status status = verify_json(&report, certificate, NULL, ledger, NULL);
    sotto_text_free(report);
    return status;
}

TEST(early_certificates_verify)
{
    static const char *const files[][2] = {{"exact.json", "exact.jsonl"},
                                           {"fast.json", "fast.jsonl"},
                                           {"fixed.json", "fixed.jsonl"},
                                           {"lattice.json", "lattice.jsonl"}};
    for (size_t i = 0; i < 4; i++)
        if (verify(early(files[i][0]), early(files[i][1])) != SOTTO_OK)
            fail_msg("%s: %s", files[i][0], sotto_error_text());
    assert_int_equal(verify(early("exact.json"), early("fast.jsonl")), SOTTO_EGATE);
}

/* Of version 0.2.0, which still released Gaussian noise at delta 0: it verifies, and claims nothing. */
TEST(an_early_release_without_epsilon)
{
    struct sotto_verification v = {0};
    char *text = NULL;
    struct json *c;
    assert_int_equal(json_read_file(&c, early("endless.json")), SOTTO_OK);
    const struct json *upper = json_find(c, "guarantee.conditional.epsilon.upper");
    assert_true(upper && json_kind(upper) == JSON_KIND_NULL);
    json_free(c);
    assert_int_equal(sotto_verify(&v, early("endless.json"), NULL, early("endless.jsonl"), NULL), SOTTO_OK);
    assert_int_equal(sotto_verification_text(&text, &v), SOTTO_OK);
    assert_non_null(strstr(text, "no finite epsilon at delta 0"));
    assert_non_null(strstr(text, "the released file, as none was given"));
    sotto_verification_clear(&v);
    sotto_text_free(text);
    assert_int_equal(verify(early("endless.json"), early("fast.jsonl")), SOTTO_EGATE);
}

/* A certificate that takes back what its sampler left open, or claims another lattice than its sampler has. */
TEST(early_certificates_are_not_changed)
{
    static const char *const changes[][4] = {
        {"fast.json", "fast.jsonl", "\"noise_mode\": \"fast\"", "\"noise_mode\": \"exact\""},
        {"exact.json", "exact.jsonl", "\"noise_mode\": \"exact\"", "\"lattice_exponent\": -60"},
        {"exact.json", "exact.jsonl", "\"noise_mode\": \"exact\"", "\"on_lattice\": true"},
        {"fixed.json", "fixed.jsonl", "\"sampler\": \"fixed number of steps, integers only",
         "\"sampler\": \"exact"},
        {"lattice.json", "lattice.jsonl", "\"lattice_exponent\": -51", "\"lattice_exponent\": -38"},
        {"lattice.json", "lattice.jsonl", "\"sampler\": \"exact, integers only", "\"sampler\": \"exact"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *text = text_of(early(changes[i][0])), *at = strstr(text, changes[i][2]), forged[8192];
        assert_non_null(at);
        snprintf(forged, sizeof forged, "%.*s%s%s", (int)(at - text), text, changes[i][3],
                 at + strlen(changes[i][2]));
        assert_int_equal(file_write(path_of("c.json"), forged, strlen(forged)), SOTTO_OK);
        sotto_status status = verify(path_of("c.json"), early(changes[i][1]));
        if (status != SOTTO_EGATE)
            fail_msg("case %zu: status %d, %s", i, (int)status, sotto_error_text());
        free(text);
    }
}

TEST(early_ledgers_are_shown)
{
    static const char *const ledgers[] = {"exact.jsonl", "fast.jsonl", "fixed.jsonl", "lattice.jsonl"};
    for (size_t i = 0; i < 4; i++) {
        char *json = NULL;
        assert_int_equal(sotto_ledger_show(&json, early(ledgers[i]), NULL), SOTTO_OK);
        assert_non_null(strstr(json, i < 2 ? "0.792" : i == 2 ? "0.4599" : "1.352"));
        assert_non_null(strstr(json, "\"any_order\": null"));
        sotto_text_free(json);
        char *table = NULL;
        assert_int_equal(sotto_ledger_table(&table, early(ledgers[i]), NULL), SOTTO_OK);
        assert_non_null(strstr(table, "total: epsilon "));
        assert_null(strstr(table, "any order"));
        sotto_text_free(table);
    }
}

/* The reservation by which such a run would continue. */
static struct sotto_dpsgd_request rest_of(const char *run, const char *dataset_id, const char *ledger)
{
    return (struct sotto_dpsgd_request){
        .sampled =
            {.mechanism = "gaussian", .noise_multiplier = 2, .sample_rate = 0.1, .steps = 4, .delta = 1e-3},
        .max_grad_norm = 1,
        .dimension = 8,
        .first_step = 6,
        .records = 60,
        .run = run,
        .spend = {.dataset_id = dataset_id, .source = &exercise, .ledger = ledger}};
}

static void copy(const char *name, const char *to)
{
    char *text = text_of(early(name));
    assert_int_equal(file_write(to, text, strlen(text)), SOTTO_OK);
    free(text);
}

/* The certificate charges both parts, on the coarser of their lattices, and rounds although the rest would not. */
TEST(an_exact_run_goes_on)
{
    for (int on_lattice = 0; on_lattice < 2; on_lattice++) {
        struct sotto_dpsgd_session *s = NULL;
        struct sotto_certificate *c;
        struct sotto_dpsgd_request r = rest_of(EXACT_RUN, "old-exact", path_of("exact.jsonl"));
        double sum[8] = {0};
        uint32_t rows[60];
        size_t count;
        copy("exact.jsonl", path_of("exact.jsonl"));
        r.on_lattice = on_lattice;
        if (sotto_dp_reserve(&s, &r, NULL) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        assert_int_equal(sotto_dp_sample(s, rows, &count, 60), SOTTO_OK);
        assert_int_equal(on_lattice ? sotto_dp_step_lattice(s, sum) : sotto_dp_step(s, sum), SOTTO_OK);
        assert_int_equal(sotto_dpsgd_session_certificate(&c, s), SOTTO_OK);
        sotto_dpsgd_session_close(s);
        assert_true(certificate_holds(c, "\"charged\": 14"));
        assert_true(certificate_holds(c, "\"lattice_exponent\": -30"));
        assert_false(certificate_holds(c, "on_lattice"));
        assert_int_equal(
            sotto_certificate_save(path_of("c.json"), c,
                                   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            SOTTO_OK);
        if (verify(path_of("c.json"), path_of("exact.jsonl")) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        sotto_certificate_free(c);
    }
}

TEST(a_fast_run_does_not)
{
    struct sotto_dpsgd_session *s = NULL;
    copy("fast.jsonl", path_of("fast.jsonl"));
    struct sotto_dpsgd_request r = rest_of(FAST_RUN, "old-fast", path_of("fast.jsonl"));
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EINVAL);
    assert_null(s);
    assert_non_null(strstr(sotto_error_text(),
                           "has fast noise, which was removed, so the run cannot go on; start a new run"));
    char *before = text_of(early("fast.jsonl")), *after = text_of(path_of("fast.jsonl"));
    assert_string_equal(before, after);
    free(before);
    free(after);
}

TEST_GROUP(.start = remember_accounts, .set_up = make_folder, .tear_down = remove_folder)
