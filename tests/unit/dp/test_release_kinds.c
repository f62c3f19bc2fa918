/* Every kind of release from file to file and back through --verify: noise on whole numbers, K-norm noise, a
 * choice, labels, noise in constant time. What each refuses, and that running out of memory anywhere leaves
 * no output. */
#include "support/test.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/account/accountant.h"
#include "dp/certificate/certificate.h"
#include "dp/release/noise_simulate.h"
#include "io/array/npy.h"
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

static void save(const char *path, enum sotto_dtype dtype, size_t n, const double *values)
{
    struct sotto_array a;
    assert_int_equal(sotto_array_make(&a, SOTTO_F8, 1, &n), SOTTO_OK);
    memcpy(a.data, values, n * sizeof *values);
    assert_int_equal(sotto_array_convert(&a, dtype), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
    sotto_array_clear(&a);
}

static struct sotto_protect ordinary(const char *mechanism)
{
    return (struct sotto_protect){
        .input = path_of("in.npy"),
        .output = path_of("out.npy"),
        .classes = 5,
        .release = {.mechanism = mechanism,
                    .scale = NAN,
                    .target = {1, 1e-5},
                    .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("ledger.jsonl")}}};
}

TEST(every_kind_verifies, .before = make_folder, .after = remove_folder)
{
    const double values[] = {0, 1, 2, 3, 4};
    const struct {
        const char *mechanism, *sampler;
        enum sotto_dtype in, out;
        size_t count;
        int flat;
    } kinds[] = {{"discrete-laplace", "exact: whole multiples", SOTTO_I8, SOTTO_F8, 5, 0},
                 {"discrete-gaussian", "exact: whole multiples", SOTTO_F4, SOTTO_F4, 5, 0},
                 {"knorm", "NOT exact", SOTTO_F4, SOTTO_F4, 5, 0},
                 {"exponential", "exact, integers only: rejection on scores", SOTTO_F8, SOTTO_I8, 1, 0},
                 {"permute-and-flip", "exact, integers only: rejection on scores", SOTTO_F8, SOTTO_I8, 1, 0},
                 {"randomised-response", "exact, integers only: one of 5 labels", SOTTO_U1, SOTTO_I8, 5, 0},
                 {"logistic", FLAT_SAMPLER, SOTTO_F4, SOTTO_F4, 5, 1},
                 {"laplace", FLAT_SAMPLER, SOTTO_F4, SOTTO_F4, 5, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sotto_protect p = ordinary(kinds[i].mechanism);
        struct sotto_array out;
        struct json *c;
        struct sotto_certificate *certificate;
        char *report, beside[160];
        save(p.input, kinds[i].in, 5, values);
        p.release.flat_doubt = kinds[i].flat;
        assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_OK);
        assert_int_equal(npy_load(&out, p.output), SOTTO_OK);
        assert_true(out.dtype == kinds[i].out && out.count == kinds[i].count);
        for (size_t j = 0; j < out.count; j++)
            if (out.dtype == SOTTO_I8)
                assert_true(((int64_t *)out.data)[j] >= 0 && ((int64_t *)out.data)[j] < 5);
            else if (out.dtype == SOTTO_F8)
                assert_true(((double *)out.data)[j] == rint(((double *)out.data)[j]));
            else if (strncmp(kinds[i].mechanism, "discrete", 8) == 0)
                assert_true(((float *)out.data)[j] == rintf(((float *)out.data)[j]));
        if (!certificate_comes_back(certificate))
            fail_msg("%s: %s", kinds[i].mechanism, sotto_error_text());
        char *text = certificate_text(certificate);
        assert_int_equal(json_parse(&c, text, strlen(text), "certificate"), SOTTO_OK);
        sotto_text_free(text);
        assert_string_equal(json_text(json_find(c, "mechanism")), kinds[i].mechanism);
        const char *sampler = json_text(json_find(c, "sampler"));
        assert_memory_equal(sampler, kinds[i].sampler, strlen(kinds[i].sampler));
        const struct json *proved = json_find(c, "guarantee.proved");
        double upper, pure;
        assert_int_equal(json_get_real(&upper, proved, "c", "epsilon.upper"), SOTTO_OK);
        assert_int_equal(json_get_real_or_null(&pure, proved, "c", "pure_epsilon"), SOTTO_OK);
        assert_true(upper <= 1);
        bool never_pure = strcmp(kinds[i].mechanism, "discrete-gaussian") == 0;
        assert_true(isnan(pure) == never_pure);
        const char *statement = json_text(json_find(c, "guarantee.statement"));
        assert_true((strstr(statement, "note: ") != NULL) == (strcmp(kinds[i].mechanism, "knorm") == 0));
        snprintf(beside, sizeof beside, "%s.certificate.json", p.output);
        sotto_status status = verify_json(&report, beside, p.output, p.release.spend.ledger, NULL);
        if (status != SOTTO_OK)
            fail_msg("%s: %s", kinds[i].mechanism, sotto_error_text());
        sotto_text_free(report);
        json_free(c);
        sotto_array_clear(&out);
        sotto_certificate_free(certificate);
    }
}

/* A certificate with another lattice than its mechanism draws on, or that hides that its sampler was not
 * exact. */
TEST(a_wrong_lattice_or_sampler_does_not_verify, .before = make_folder, .after = remove_folder)
{
    const double values[] = {0, 1, 2};
    const struct {
        const char *mechanism, *from, *to, *check;
    } changes[] = {
        {"discrete-laplace", "\"lattice_exponent\": 0", "\"lattice_exponent\": 1", "does not verify"},
        {"discrete-laplace", "\"lattice_exponent\": 0", "\"lattice_exponent\": -9999", "lattice"},
        {"randomised-response", "\"lattice_exponent\": 0", "\"lattice_exponent\": 3", "lattice"},
        {"knorm", "\"lattice_exponent\": -5", "\"lattice_exponent\": -4", "lattice"},
        {"logistic", "exact, doubts flat:", "exact: floor of the", "lattice"},
        {"logistic", "\"lattice_exponent\": -", "\"lattice_exponent\": -1", "lattice"},
        {"knorm", "\"mechanism\": \"knorm\"", "\"mechanism\": \"gnome\"",
         "sampler"}, /* seeded: claims nothing */
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct sotto_protect p = ordinary(changes[i].mechanism);
        unsigned char *bytes;
        struct sotto_certificate *certificate;
        char *report, beside[160];
        size_t size;
        save(p.input, strcmp(changes[i].mechanism, "randomised-response") == 0 ? SOTTO_I8 : SOTTO_F4, 3,
             values);
        p.release.flat_doubt = strcmp(changes[i].mechanism, "logistic") == 0;
        p.release.spend.insecure = strcmp(changes[i].check, "sampler") == 0;
        p.release.sensitivity.l2 = strcmp(changes[i].mechanism, "knorm") == 0 ? 1 : NAN;
        assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_OK);
        sotto_certificate_free(certificate);
        snprintf(beside, sizeof beside, "%s.certificate.json", p.output);
        assert_int_equal(file_read(&bytes, &size, beside, 1 << 20), SOTTO_OK);
        char *at = strstr((char *)bytes, changes[i].from);
        assert_non_null(at);
        FILE *f = fopen(beside, "wb");
        fwrite(bytes, 1, (size_t)(at - (char *)bytes), f);
        fputs(changes[i].to, f);
        fputs(at + strlen(changes[i].from), f);
        fclose(f);
        base_free(bytes);
        assert_int_equal(verify_json(&report, beside, p.output, NULL, NULL), SOTTO_EGATE);
        if (!strstr(sotto_error_text(), changes[i].check))
            fail_msg("%s: '%s'", changes[i].mechanism, sotto_error_text());
        sotto_text_free(report);
    }
}

struct wrong {
    const char *mechanism;
    enum sotto_dtype dtype;
    double value; /* second of three; the others are 0 and 1 */
    double scale, delta, l1;
    size_t classes;
    int flat;
    sotto_status status;
    const char *text;
};

TEST(wrong_inputs_are_refused, .before = make_folder, .after = remove_folder)
{
    const struct wrong cases[] = {
        {"discrete-laplace", SOTTO_F4, 0.5, 1, 0, 1, 0, 0, SOTTO_EINVAL,
         "release: value 1 of 3 is 0.5; expected a whole multiple of the step"},
        {"discrete-laplace", SOTTO_F8, 0x1p40 + 0x1p-12, 1, 0, 1, 0, 0, SOTTO_EINVAL,
         "is 1099511627776.0002; expected a whole multiple of the step"},
        {"discrete-laplace", SOTTO_I8, 0x1p53 + 2, 1, 0, 1, 0, 0, SOTTO_EINVAL, "whole numbers up to 2^53"},
        {"discrete-laplace", SOTTO_F4, 2, 1, 0, 0.5, 0, 0, SOTTO_EINVAL,
         "is less than value_step (1), the unit of the values; expected at least one unit"},
        {"discrete-laplace", SOTTO_F4, 2, 1e-10, 0, 1, 0, 0, SOTTO_EDOMAIN,
         "expected 2^-30 to 2^44 steps of"},
        {"discrete-laplace", SOTTO_F4, 2, 1e30, 0, 1, 0, 0, SOTTO_EDOMAIN, "expected 2^-30 to 2^44 steps of"},
        {"discrete-laplace", SOTTO_F4, 2, 1e10, 0, 1, 0, 1, SOTTO_EDOMAIN, "expected 2^-30 to 2^32 steps of"},
        {"discrete-gaussian", SOTTO_F4, 2, 1e-9, 1e-5, 1, 0, 0, SOTTO_EDOMAIN,
         "expected 2^-9 to 2^52 steps of"},
        {"discrete-gaussian", SOTTO_F4, 2, 1, 1e-5, 1, 0, 1, SOTTO_EINVAL,
         "mechanism 'discrete-gaussian' has no flat doubt; expected logistic, laplace, gaussian or "
         "discrete-laplace"},
        {"exponential", SOTTO_F8, 2, 1, 0, 1, 0, 1, SOTTO_EINVAL, "has no flat doubt"},
        {"logistic", SOTTO_F4, 2, 1, 2, 1, 0, 1, SOTTO_EINVAL, "delta must be at least 0 and below 1"},
        {"logistic", SOTTO_I8, 2, 1, 0, 1, 0, 0, SOTTO_EINVAL, "expected floating-point tensors"},
        {"gaussian-classical", SOTTO_F4, 2, 10, 1e-5, 1, 0, 0, SOTTO_EINVAL, "is for comparing only"},
        {"exponential", SOTTO_I8, 2, 1, 0, 1, 0, 0, SOTTO_EINVAL, "expected floating-point scores"},
        {"exponential", SOTTO_F4, NAN, 1, 0, 1, 0, 0, SOTTO_EINVAL, "score 1 of 3 is NaN"},
        {"exponential", SOTTO_F4, INFINITY, 1, 0, 1, 0, 0, SOTTO_EINVAL, "score 1 of 3 is infinite"},
        {"randomised-response", SOTTO_F4, 2, 1, 0, 1, 5, 0, SOTTO_EINVAL, "expected integer labels"},
        {"randomised-response", SOTTO_I8, 2, 1, 0, 1, 1, 0, SOTTO_EINVAL, "at least 2 classes (got 1)"},
        {"randomised-response", SOTTO_I8, 2, 1, 0, 2, 5, 0, SOTTO_EINVAL,
         "sensitivity of a label is l1 = 1 (got 2)"},
        {"randomised-response", SOTTO_I8, 2, 1e-5, 0, 1, 5, 0, SOTTO_EDOMAIN,
         "is out of range; expected 2^-9 to 2^52"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wrong *w = &cases[i];
        const double values[] = {0, w->value, 1};
        struct sotto_protect p = ordinary(w->mechanism);
        struct sotto_certificate *certificate = NULL;
        save(p.input, w->dtype, 3, values);
        p.classes = w->classes;
        p.release.scale = w->scale;
        p.release.target.delta = w->delta;
        p.release.sensitivity.l1 = w->l1;
        p.release.sensitivity.l2 = strncmp(w->mechanism, "gaussian", 8) == 0 ? 1 : NAN;
        p.release.flat_doubt = w->flat;
        sotto_status status = sotto_protect_file(&certificate, &p, NULL);
        if (status != w->status || !strstr(sotto_error_text(), w->text))
            fail_msg("case %zu: status %d, '%s'", i, (int)status, sotto_error_text());
        assert_false(file_exists(p.output));
        assert_false(file_exists(p.release.spend.ledger));
    }
    /* one array only */
    struct sotto_protect p = ordinary("exponential");
    struct sotto_certificate *certificate = NULL;
    struct sotto_tensors t = {0};
    float x[2] = {1, 2};
    assert_int_equal(tensors_add(&t, "a", SOTTO_F4, 1, &(size_t){2}, x), SOTTO_OK);
    assert_int_equal(safetensors_save(path_of("two.safetensors"), &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    p.input = path_of("two.safetensors");
    p.output = path_of("out.safetensors");
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "exponential needs one array of scores"));
    p.release.mechanism = "randomised-response";
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "needs one array of labels"));
}

/* Several choices differ and cost what one costs; the scale of each grows with their number. */
TEST(several_choices_share_one_epsilon, .before = make_folder, .after = remove_folder)
{
    enum { N = 40, K = 5 };
    double scores[N];
    size_t chosen[K];
    for (int i = 0; i < N; i++)
        scores[i] = i < K ? 1e6 : i;
    struct sotto_release r = ordinary("permute-and-flip").release;
    struct sotto_certificate *certificate = NULL;
    r.target.delta = 0;
    assert_int_equal(sotto_dp_select_top(chosen, K, &certificate, scores, N, &r, NULL), SOTTO_OK);
    assert_true(certificate->account.pure_epsilon <= 1 && certificate->account.pure_epsilon > .99);
    bool seen[K] = {false};
    for (int i = 0; i < K; i++) { /* far above the others: all of the first K, in an order by chance */
        assert_true(chosen[i] < K && !seen[chosen[i]]);
        seen[chosen[i]] = true;
    }
    sotto_certificate_free(certificate);
    certificate = NULL;
    assert_int_equal(sotto_dp_select_top(chosen, 0, &certificate, scores, N, &r, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_dp_select_top(chosen, K, &certificate, scores, K - 1, &r, NULL), SOTTO_EINVAL);
    r.mechanism = "exponential";
    assert_int_equal(sotto_dp_select_top(chosen, 2, &certificate, scores, N, &r, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "'exponential' makes one choice"));
    assert_null(certificate);
}

/* A candidate that is none: the certificate has the hash of that file, and there is no ledger to ask. */
TEST(a_choice_of_nothing_does_not_verify, .before = make_folder, .after = remove_folder)
{
    struct sotto_protect p = ordinary("exponential");
    struct sotto_certificate *certificate;
    char beside[160], hash[65];
    save(p.input, SOTTO_F8, 5, (const double[]){0, 1, 2, 3, 4});
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_OK);
    save(p.output, SOTTO_I8, 1, (const double[]){5});
    assert_int_equal(sha256_file(hash, p.output), SOTTO_OK);
    char *text = certificate_text(certificate);
    memcpy(strstr(text, "\"output_sha256\": \"") + strlen("\"output_sha256\": \""), hash, 64);
    snprintf(beside, sizeof beside, "%s.certificate.json", p.output);
    assert_int_equal(file_write(beside, text, strlen(text)), SOTTO_OK);
    char *report;
    assert_int_equal(verify_json(&report, beside, p.output, NULL, NULL), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "value 0 is 5; expected whole numbers from 0 to below 5"));
    sotto_text_free(report);
    sotto_text_free(text);
    sotto_certificate_free(certificate);
}

/* Its mechanism has no row in the table, and its document is read like any other. */
TEST(a_test_of_the_most_frequent_label, .before = make_folder, .after = remove_folder)
{
    const int64_t labels[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, -7, 9};
    int64_t label = 5;
    struct sotto_release r = ordinary("propose-test-release").release;
    struct sotto_certificate *certificate = NULL;
    r.sensitivity = (struct sotto_sensitivity){0};
    assert_int_equal(sotto_dp_most_frequent(&label, &certificate, labels, 17, 2, &r, NULL), SOTTO_OK);
    assert_true(label == 1 || label == -1);
    if (!certificate_comes_back(certificate))
        fail_msg("%s", sotto_error_text());
    sotto_certificate_free(certificate);
#define REFUSED(change, classes, words)                                                                      \
    do {                                                                                                     \
        struct sotto_release wrong = r;                                                                      \
        change;                                                                                              \
        if (sotto_dp_most_frequent(&label, &certificate, labels, 17, classes, &wrong, NULL) == SOTTO_OK ||   \
            !strstr(sotto_error_text(), words))                                                              \
            fail_msg("%s: %s", words, sotto_error_text());                                                   \
    } while (0)
    REFUSED(wrong.mechanism = "laplace", 2, "mechanism 'laplace' tests nothing");
    REFUSED(wrong.mechanism = NULL, 2, "expected propose-test-release");
    REFUSED(wrong.risk.max_advantage = .1, 2, "has a guarantee at one delta only");
    REFUSED(wrong.target.epsilon = 0, 2, "neither a scale nor a target epsilon is given");
    REFUSED(wrong.scale = 0x1p-7, 2, "expected 2^-6 to 2^10");
    REFUSED(wrong.scale = 0x1p11, 2, "expected 2^-6 to 2^10");
    REFUSED((void)wrong, 1, "1 classes; expected 2 to 2^32");
    REFUSED((void)wrong, ((size_t)1 << 32) + 1, "expected 2 to 2^32");
    REFUSED(wrong.target.delta = 0, 2, "delta");
#undef REFUSED
    r.scale = 2; /* instead of a target */
    assert_int_equal(sotto_dp_most_frequent(&label, &certificate, labels, 17, 2, &r, NULL), SOTTO_OK);
    assert_true(sotto_certificate_account(certificate)->scale == 2);
    sotto_certificate_free(certificate);
}

/* A mechanism in the wrong release function. */
TEST(doors_know_their_mechanisms, .before = make_folder, .after = remove_folder)
{
    const char *name;
    for (size_t i = 0; (name = sotto_mechanism_name(i)); i++) {
        struct sotto_release r = ordinary(name).release;
        float v[3] = {0, 1, 2};
        double scores[3] = {0, 1, 2};
        int64_t labels[3] = {0, 1, 2};
        size_t chosen = 9;
        struct sotto_certificate *certificate = NULL;
        enum release_kind kind = mechanism_find(name)->kind;
        if (kind > RELEASE_VECTOR) {
            assert_int_equal(sotto_dp_release(&certificate, v, 3, &r, NULL), SOTTO_EINVAL);
            assert_non_null(strstr(sotto_error_text(), name));
        }
        if (kind != RELEASE_CHOICE)
            assert_int_equal(sotto_dp_select(&chosen, &certificate, scores, 3, &r, NULL), SOTTO_EINVAL);
        if (kind != RELEASE_LABELS)
            assert_int_equal(sotto_dp_randomise(&certificate, labels, 3, 3, &r, NULL), SOTTO_EINVAL);
        assert_true(v[1] == 1 && labels[1] == 1 && chosen == 9 && certificate == NULL);
    }
    struct sotto_release r = ordinary("exponential").release;
    struct sotto_certificate *certificate = NULL;
    double none[1];
    size_t chosen;
    assert_int_equal(sotto_dp_select(&chosen, &certificate, none, 0, &r, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "release: 0 values; expected at least one");
}

TEST(out_of_memory_leaves_nothing, .before = make_folder, .after = remove_folder)
{
    const char *mechanisms[] = {"discrete-gaussian", "knorm", "exponential", "randomised-response",
                                "logistic"};
    const double values[] = {0, 1, 2};
    for (int i = 0; i < 5; i++) {
        struct sotto_protect p = ordinary(mechanisms[i]);
        struct sotto_certificate *certificate = NULL;
        int after = 0;
        save(p.input, i == 3 ? SOTTO_I8 : SOTTO_F4, 3, values);
        p.release.flat_doubt = i == 4;
        for (;; after++) {
            (void)remove(p.output);
            base_alloc_fail_after(after);
            sotto_status status = sotto_protect_file(&certificate, &p, NULL);
            base_alloc_fail_after(-1);
            if (status == SOTTO_OK)
                break;
            assert_int_equal(status, SOTTO_ENOMEM);
            assert_null(certificate);
        }
        assert_true(after > 5);
        sotto_certificate_free(certificate);
        float v[3] = {1, 2, 3};
        if (i == 1) {
            base_alloc_fail_after(0);
            assert_int_equal(noise_simulate(v, 3, "knorm", 1, 1, 1), SOTTO_ENOMEM);
            base_alloc_fail_after(1);
            assert_int_equal(noise_simulate(v, 3, "knorm", 1, 1, 1), SOTTO_ENOMEM);
            base_alloc_fail_after(-1);
            assert_true(v[0] == 1);
        }
    }
}

/* Measuring draws the same laws from a seed; nothing is written. */
TEST(measuring)
{
    enum { N = 20000 };
    static float v[N], again[N];
    const struct {
        const char *mechanism;
        double deviation;
    } laws[] = {
        {"discrete-laplace", 2.8 / 2}, {"discrete-gaussian", 1}, {"knorm", 0}, {"logistic", 1.813799}};
    for (int i = 0; i < 4; i++) {
        double square = 0;
        memset(v, 0, sizeof v);
        memset(again, 0, sizeof again);
        assert_int_equal(noise_simulate(v, N, laws[i].mechanism, 2, 5, 6), SOTTO_OK);
        assert_int_equal(noise_simulate(again, N, laws[i].mechanism, 2, 5, 6), SOTTO_OK);
        assert_memory_equal(v, again, sizeof v);
        assert_int_equal(noise_simulate(again, N, laws[i].mechanism, 2, 5, 7), SOTTO_OK);
        assert_true(memcmp(v, again, sizeof v) != 0);
        for (int j = 0; j < N; j++)
            square += (double)v[j] * (double)v[j];
        double wanted = laws[i].deviation > 0 ? 2 * laws[i].deviation : 2 * sqrt(N + 1);
        assert_true(fabs(sqrt(square / N) / wanted - 1) < 0.03);
    }
    assert_int_equal(noise_simulate(v, N, "exponential", 2, 5, 6), SOTTO_EINVAL);
    assert_int_equal(noise_simulate(v, N, "discrete-laplace", 1e-50, 5, 6), SOTTO_EINVAL);
}

/* Ratios that the exact samplers take. */
TEST(scales_as_ratios)
{
    const double good[] = {1, 0.1, 3.75, 1e15, 0x1p52, 0x1p-62, 0x1p-9 * 1.1, 123456.789};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t m;
        unsigned shift;
        assert_true(lattice_ratio(&m, &shift, good[i]));
        assert_true(m < (uint64_t)1 << 53 && shift <= 62 && ldexp((double)m, -(int)shift) == good[i]);
    }
    const double bad[] = {0x1p53, 1e30, 0x1p-63, 1e-30, 0x1p-13 * 1.1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t m;
        unsigned shift;
        if (lattice_ratio(&m, &shift, bad[i]))
            fail_msg("%g = %llu 2^-%u", bad[i], (unsigned long long)m, shift);
    }
}

/* What distance to the law costs: (1 + e^eps) distance out of delta. */
TEST(accounts_within_a_distance)
{
    struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN, .dimension = 10};
    struct sotto_account exact, near;
    assert_int_equal(account_on(&exact, "logistic", 1, &s, 1e-5, LATTICE_BITS_FINE, NULL), SOTTO_OK);
    assert_int_equal(account_within(&near, "logistic", 1, &s, 1e-5, 1e-30, NULL), SOTTO_OK);
    assert_true(near.epsilon.upper >= exact.epsilon.upper && near.epsilon.upper < exact.epsilon.upper + 1e-9);
    assert_true(near.epsilon.lower <= exact.epsilon.lower && near.delta == 1e-5);
    assert_true(isnan(near.pure_epsilon) && isnan(near.zcdp_rho) && near.note[0] && !exact.note[0]);
    for (size_t i = 0; i < near.bound_count; i++)
        assert_true(strncmp(near.bounds[i].name, "pure", 4) != 0);
    assert_int_equal(account_within(&near, "logistic", 1, &s, 1e-5, 1e-13, NULL), SOTTO_EDOMAIN);
    assert_int_equal(account_within(&near, "logistic", 1, &s, 0, 1e-30, NULL), SOTTO_EDOMAIN);
    assert_int_equal(account_within(&near, "logistic", 1, &s, -1, 1e-30, NULL), SOTTO_EINVAL);
    assert_int_equal(account_within(&near, "logistic", -1, &s, 1e-5, 1e-30, NULL), SOTTO_EINVAL);
}

/* delta at every real epsilon, by symmetry below 0. */
TEST(curves_at_every_epsilon)
{
    const char *name;
    for (size_t i = 0; (name = sotto_mechanism_name(i)); i++) {
        const struct mechanism *m = mechanism_find(name);
        struct sotto_sensitivity s = {.l1 = 2, .l2 = 2, .dimension = 3};
        struct sensitivity_ratio shifts;
        assert_int_equal(sensitivity_ratio_for(&shifts, m, 1.5, &s), SOTTO_OK);
        double before = 1;
        for (double e = -4; e <= 4; e += 0.25) {
            struct interval d = account_delta(m, &shifts, 1, e);
            assert_true(d.lo >= 0 && d.hi <= 1 && d.lo <= d.hi && d.hi <= before * (1 + 1e-12));
            assert_true(d.hi >= 1 - exp(e)); /* delta(eps) >= 1 - e^eps always */
            assert_true(account_delta(m, &shifts, 3, e).hi >= d.hi * (1 - 1e-12));
            before = d.hi;
        }
    }
}

TEST_GROUP(.tags = "long")
