/* src/core/dp/release/protect.c, verify.c, noise_simulate.c, account_json.c through the public API: files in, files out, every
 * refusal. */
#include "support/test.h"
#include "support/exercise.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/account/accountant.h"
#include "dp/release/noise_simulate.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/certificate_text.h"
#include "support/verify_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64], head[96], out[96], ledger[96], certificate_path[160];

static int start(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(head, sizeof head, "%s/head.safetensors", folder);
    snprintf(out, sizeof out, "%s/out.safetensors", folder);
    snprintf(ledger, sizeof ledger, "%s/l.jsonl", folder);
    snprintf(certificate_path, sizeof certificate_path, "%s.certificate.json", out);
    struct sotto_tensors t = {0};
    const float weights[6] = {1, 2, 3, 4, 5, 6};
    const double bias[2] = {7, 8};
    const size_t shape[2] = {2, 3};
    sotto_status s = tensors_add(&t, "0.weight", SOTTO_F4, 2, shape, weights);
    s |= tensors_add(&t, "0.bias", SOTTO_F8, 1, shape, bias);
    s |= tensors_set_metadata(&t, "recipe_hash", "aa");
    s |= tensors_set_metadata(&t, "data_fingerprint", "toy");
    s |= safetensors_save(head, &t);
    sotto_tensors_clear(&t);
    return (int)s;
}

static int stop(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct sotto_protect ordinary(void)
{
    return (struct sotto_protect){
        .input = head,
        .output = out,
        .sensitivity_file = "s.json",
        .release = {
            .mechanism = "gaussian",
            .scale = NAN,
            .target = {1, 1e-5},
            .sensitivity = {.l1 = NAN, .l2 = 0.5, .source = SOTTO_SENSITIVITY_CLIPPED},
            .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "test"}}};
}

TEST(all_tensors_are_noised_and_the_certificate_verifies, .before = start, .after = stop)
{
    struct sotto_protect p = ordinary();
    struct sotto_certificate *certificate = NULL;
    char *report = NULL, *line = NULL;
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_OK);
    struct sotto_tensors t = {0};
    assert_int_equal(safetensors_load(&t, out), SOTTO_OK);
    assert_int_equal(t.count, 2);
    for (size_t i = 0, value = 1; i < 2; i++) {
        struct sotto_array *a = tensors_find(&t, i ? "0.bias" : "0.weight");
        assert_int_equal(a->dtype, i ? SOTTO_F8 : SOTTO_F4); /* as it came in */
        assert_int_equal(sotto_array_convert(a, SOTTO_F8), SOTTO_OK);
        for (size_t j = 0; j < a->count; j++, value++)
            assert_true(((double *)a->data)[j] != (double)value);
    }
    assert_string_equal(tensors_metadata(&t, "recipe_hash"), "aa");
    assert_null(tensors_metadata(&t, "data_fingerprint"));
    assert_non_null(
        strstr(tensors_metadata(&t, "privacy"), "(1, 1e-05)-differentially private under replace-one"));
    sotto_tensors_clear(&t);
    assert_int_equal(verify_json(&report, certificate_path, out, ledger, NULL), SOTTO_OK);
    assert_non_null(strstr(report, "\"valid\": true"));
    sotto_text_free(report);
    assert_int_equal(sotto_certificate_summary(&line, certificate), SOTTO_OK);
    assert_non_null(strstr(line, "gaussian noise of scale 1.86532"));
    sotto_text_free(line);
    assert_int_equal(sotto_ledger_account(&report, ledger, 1e-5, NULL), SOTTO_OK);
    assert_null(strstr(report, "\"none\"")); /* clipping is proved */
    sotto_text_free(report);
    sotto_certificate_free(certificate);
}

static void change(const char *from, const char *to)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, certificate_path, 1 << 20), SOTTO_OK);
    char *at = strstr((char *)data, from), text[8192];
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - (char *)data), data, to, at + strlen(from));
    assert_int_equal(file_write(certificate_path, text, strlen(text)), SOTTO_OK);
    base_free(data);
}

TEST(every_changed_fact_is_noticed, .before = start, .after = stop)
{
    const struct {
        const char *from, *to, *check;
    } cases[] = {
        {"\"scale\": ", "\"scale\": 1", "scale:"},
        {"\"lattice_exponent\": -", "\"lattice_exponent\": -9", "lattice:"},
        {"\"source\": \"clipped\"", "\"source\": \"sampled\"", "wording:"},
        {"\"l2\": 0.5", "\"l2\": 0.6", "epsilon:"},
        {"\"upper\": 1.0", "\"upper\": 0.99", "epsilon:"},
        {"\"upper\": 1.0", "\"upper\": 1.01", "epsilon:"},
        {"\"zcdp_rho\": 0.0", "\"zcdp_rho\": 0.00", "zcdp rho:"},
        {"\"pure_epsilon\": null", "\"pure_epsilon\": 3", "pure epsilon:"},
        {"\"lower\": 0.9", "\"lower\": 1.9", "lower end:"},
        {"analytic gaussian", "guessing", "accountant:"},
        {"\"adjacency\": \"replace-one\"", "\"adjacency\": \"add-remove\"", "adjacency:"},
        {"\"mechanism\": \"gaussian\"", "\"mechanism\": \"nothing\"", "account:"},
        {"operating system", "noise was seeded", "wording:"},
        {"\"output_sha256\": \"", "\"output_sha256\": \"0", "released file: "},
        {"\"hash\": \"", "\"hash\": \"0", "release in the file:"},
        {"\"input_commitment\": \"", "\"input_commitment\": \"0", "input commitment:"},
    };
    struct sotto_protect p = ordinary();
    struct sotto_certificate *certificate = NULL;
    char *report;
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_OK);
    char *text = certificate_text(certificate);
    if (!strstr(text, "\"lower\": 0.9")) /* the interval may also be exact */
        assert_non_null(strstr(text, "\"lower\": 1.0"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(file_write(certificate_path, text, strlen(text)), SOTTO_OK);
        if (!strstr(text, cases[i].from))
            continue;
        change(cases[i].from, cases[i].to);
        sotto_status status = verify_json(&report, certificate_path, out, ledger, NULL);
        if (status != SOTTO_EGATE || !strstr(sotto_error_text(), cases[i].check))
            fail_msg("case %zu: %s: %s", i, sotto_status_name(status), sotto_error_text());
        sotto_text_free(report);
    }
    sotto_text_free(text);
    sotto_certificate_free(certificate);
}

TEST(refusals_leave_nothing, .before = start, .after = stop)
{
    const struct {
        const char *evidence, *data, *output, *text;
        sotto_status status;
    } cases[] = {
        {"bb", "toy", NULL, "protect: s.json was measured for another head (recipe hash differs)",
         SOTTO_EINVAL},
        {"aa", "other", NULL, "protect: s.json was measured on other data (data fingerprint differs)",
         SOTTO_EINVAL},
        {"aa", "toy", "x.npy", "are of different formats", SOTTO_EUSAGE},
        {"aa", "toy", "/dev/null/x.safetensors", "/dev/null", SOTTO_ECREATE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_protect p = ordinary();
        struct sotto_certificate *certificate = NULL;
        p.release.sensitivity.source = SOTTO_SENSITIVITY_SAMPLED;
        snprintf(p.release.sensitivity.evidence, sizeof p.release.sensitivity.evidence, "%s",
                 cases[i].evidence);
        p.sensitivity_data = cases[i].data;
        if (cases[i].output)
            p.output = cases[i].output;
        assert_int_equal(sotto_protect_file(&certificate, &p, NULL), cases[i].status);
        assert_non_null(strstr(sotto_error_text(), cases[i].text));
        assert_null(certificate);
        assert_false(file_exists(out));
    }
}

/* Weights of a network with an encoder that saw private records (io/provenance/statement.h). */
TEST(what_carries_no_statement_is_refused, .before = start, .after = stop)
{
    struct sotto_protect p = ordinary();
    struct sotto_tensors t = {0};
    struct sotto_certificate *certificate = NULL;
    assert_int_equal(safetensors_load(&t, head), SOTTO_OK);
    assert_int_equal(tensors_set_metadata(&t, "statement", "none: fine-tuned"), SOTTO_OK);
    assert_int_equal(safetensors_save(head, &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "no privacy statement"));
    assert_null(certificate);
}

TEST(allocation_failures_are_reported, .before = start, .after = stop)
{
    sotto_status status = SOTTO_ENOMEM;
    int n;
    struct sotto_certificate *certificate = NULL;
    char *report = NULL;
    struct sotto_protect p = ordinary();
    for (n = 0; status != SOTTO_OK && n < 5000; n++) {
        base_alloc_fail_after(n);
        status = sotto_protect_file(&certificate, &p, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && !certificate));
    }
    assert_true(n > 20 && status == SOTTO_OK);
    sotto_certificate_free(certificate);
    status = SOTTO_ENOMEM;
    for (n = 0; status != SOTTO_OK && n < 5000; n++) {
        base_alloc_fail_after(n);
        status = verify_json(&report, certificate_path, out, ledger, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && !report));
    }
    assert_true(n > 3 && status == SOTTO_OK);
    sotto_text_free(report);
}

TEST(measuring_noise_follows_its_law_and_repeats)
{
    enum { N = 100000 };
    static float x[N], y[N];
    const char *names[] = {"logistic", "laplace", "gaussian"};
    const double deviation[] = {1.8137993642342178, 1.4142135623730951, 1};
    for (int m = 0; m < 3; m++) {
        memset(x, 0, sizeof x);
        memset(y, 0, sizeof y);
        assert_int_equal(noise_simulate(x, N, names[m], 2, 9, 4), SOTTO_OK);
        assert_int_equal(noise_simulate(y, N, names[m], 2, 9, 4), SOTTO_OK);
        assert_memory_equal(x, y, sizeof x);
        assert_int_equal(noise_simulate(y, N, names[m], 2, 9, 5), SOTTO_OK);
        assert_true(memcmp(x, y, sizeof x) != 0);
        double sum = 0, squares = 0;
        for (int i = 0; i < N; i++) {
            sum += x[i];
            squares += (double)x[i] * x[i];
        }
        double sd = 2 * deviation[m];
        assert_true(fabs(sum / N) < 5 * sd / sqrt(N));
        assert_true(fabs(sqrt(squares / N) / sd - 1) < 0.02);
    }
    assert_int_equal(noise_simulate(x, N, "logistic", -1, 9, 4), SOTTO_EINVAL);
    assert_int_equal(noise_simulate(x, N, "cauchy", 1, 9, 4), SOTTO_EINVAL);
}

TEST(accounts_as_json)
{
    struct sotto_account a;
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 1};
    char *json;
    assert_int_equal(account_on(&a, "gaussian", 1, &s, 0, 20, NULL), SOTTO_OK);
    assert_string_equal(a.accountant, "none");
    assert_int_equal(sotto_account_json(&json, &a), SOTTO_OK);
    assert_non_null(strstr(json, "\"upper\": null")); /* no pure epsilon exists */
    sotto_text_free(json);
    double scale = 3;
    assert_int_equal(sotto_calibrate(&scale, "logistic", &s, (struct sotto_dp){1, 0}, NULL), SOTTO_EDOMAIN);
    assert_non_null(strstr(
        sotto_error_text(),
        "a pure epsilon (delta 0) needs the l1 sensitivity, but only l2 is given; give l1, or a delta > 0"));
    assert_int_equal(sotto_calibrate(&scale, "gaussian", &s, (struct sotto_dp){1, 0}, NULL), SOTTO_EDOMAIN);
    assert_int_equal(sotto_calibrate(&scale, "logistic", &s, (struct sotto_dp){NAN, 1e-5}, NULL),
                     SOTTO_EINVAL);
    assert_int_equal(sotto_calibrate_composed(&scale, "logistic", &s, (struct sotto_dp){1, 1e-5}, 0, NULL),
                     SOTTO_EINVAL);
    s.l2 = 1e-100;
    assert_int_equal(sotto_calibrate(&scale, "logistic", &s, (struct sotto_dp){100, 1e-5}, NULL),
                     SOTTO_EDOMAIN);
    s.l2 = 1e100;
    assert_int_equal(sotto_calibrate(&scale, "logistic", &s, (struct sotto_dp){0.01, 1e-5}, NULL),
                     SOTTO_EDOMAIN);
    assert_true(scale == 3);
}
