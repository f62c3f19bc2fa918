/* What a C user learns without a parser: the checks of a verification, and what a certificate's document says. */
#include "support/test.h"
#include "support/account_memo.h"
#include "support/certificate_text.h"
#include "support/forgery_desk.h"

/* ---- verifications ---- */

static const struct sotto_verify_check *find(const struct sotto_verification *v, const char *name)
{
    for (size_t i = 0; i < v->check_count; i++)
        if (strcmp(v->checks[i].name, name) == 0)
            return &v->checks[i];
    fail_msg("no check '%s'", name);
    return NULL;
}

static size_t count(const struct sotto_verification *v, enum sotto_verify_outcome outcome)
{
    size_t n = 0;
    for (size_t i = 0; i < v->check_count; i++)
        n += v->checks[i].outcome == outcome;
    return n;
}

TEST(checks_and_claim)
{
    struct sotto_verification v = {0};
    lay_out('A');
    assert_int_equal(sotto_verify(&v, released, NULL, ledger, NULL), SOTTO_OK);
    assert_null(v.failed);
    assert_string_equal(v.certificate, certificate);
    assert_int_equal(v.guarantee, SOTTO_GUARANTEE_PROVED);
    assert_true(v.epsilon.upper > 0.99 && v.epsilon.upper <= 1 && v.epsilon.lower <= v.epsilon.upper);
    assert_true(v.delta == 1e-5 && v.scale > 0);
    assert_string_equal(v.adjacency, "replace-one");
    assert_string_equal(v.mechanism, "gaussian");
    assert_int_equal(v.records, N);
    assert_null(v.condition);
    assert_null(v.measured);
    assert_int_equal(find(&v, "epsilon")->outcome, SOTTO_VERIFY_PASSED);
    assert_int_equal(find(&v, "ledger entry")->outcome, SOTTO_VERIFY_PASSED);
    assert_int_equal(find(&v, "proof")->outcome, SOTTO_VERIFY_PASSED);
    assert_int_equal(find(&v, "later entries")->outcome, SOTTO_VERIFY_NOT_MADE);
    assert_int_equal(count(&v, SOTTO_VERIFY_FAILED), 0);
    assert_true(v.checked_count > 3);
    sotto_verification_clear(&v);
    assert_null(v.checks);
    sotto_verification_clear(&v); /* harmless */
}

TEST(what_was_not_at_hand)
{
    struct sotto_verification v = {0};
    lay_out('B');
    assert_int_equal(remove(released), 0);
    assert_int_equal(sotto_verify(&v, certificate, NULL, NULL, NULL), SOTTO_OK);
    assert_int_equal(find(&v, "ledger")->outcome, SOTTO_VERIFY_NOT_MADE);
    assert_int_equal(find(&v, "released file")->outcome, SOTTO_VERIFY_NOT_MADE);
    assert_int_equal(find(&v, "size of the sensitivity")->outcome, SOTTO_VERIFY_NOT_MADE);
    assert_int_equal(v.guarantee, SOTTO_GUARANTEE_CONDITIONAL);
    assert_string_equal(v.condition, "the sampled sensitivity");
    assert_string_equal(v.measured, "the sensitivity, over sampled pairs");
    sotto_verification_clear(&v);
}

/* Neither fails: what is not derived here, and a line that does not count, are said. */
TEST(what_is_left_open)
{
    struct sotto_verification v = {0};
    lay_out('A');
    edit("\"output_sha256\"", "\"statistic\": {\"name\": \"variance\"}, \"output_sha256\"");
    assert_int_equal(sotto_verify(&v, certificate, NULL, NULL, NULL), SOTTO_OK);
    assert_string_equal(find(&v, "statistic")->text,
                        "the sensitivity of the statistic 'variance', of which nothing here derives it");
    assert_int_equal(find(&v, "statistic")->outcome, SOTTO_VERIFY_NOT_MADE);
    sotto_verification_clear(&v);
    lay_out('A');
    FILE *f = fopen(ledger, "a");
    assert_true(f && fputs("{\"schema\":\"sotto.led", f) >= 0 && fclose(f) == 0);
    assert_int_equal(sotto_verify(&v, released, NULL, ledger, NULL), SOTTO_OK);
    assert_int_equal(find(&v, "cut line")->outcome, SOTTO_VERIFY_NOT_MADE);
    sotto_verification_clear(&v);
}

TEST(the_first_failure)
{
    struct sotto_verification v = {0};
    lay_out('C');
    edit("\"dimension\": 3", "\"dimension\": 4");
    assert_int_equal(sotto_verify(&v, certificate, NULL, NULL, NULL), SOTTO_EGATE);
    const struct sotto_verify_check *values = find(&v, "values");
    assert_int_equal(values->outcome, SOTTO_VERIFY_FAILED);
    assert_string_equal(values->text,
                        "the file holds 3 values; expected 4, to which noise was added or which were chosen");
    assert_non_null(v.failed);
    assert_non_null(strstr(sotto_error_text(), v.failed));
    assert_true(count(&v, SOTTO_VERIFY_FAILED) >= 1 && count(&v, SOTTO_VERIFY_PASSED) > 3);
    sotto_verification_clear(&v);
    edit("\"scale\": 2.0", "\"scale\": \"two\"");
    assert_int_equal(sotto_verify(&v, certificate, NULL, NULL, NULL), SOTTO_EFORMAT);
    assert_true(!v.checks && !v.memory && v.check_count == 0);
}

/* The document and the lines are functions of the struct. */
TEST(document_and_lines)
{
    struct sotto_verify_check checks[] = {
        {"epsilon", SOTTO_VERIFY_PASSED, "certificate says 1, re-derived 1"},
        {"ledger", SOTTO_VERIFY_NOT_MADE, "the ledger, as none was given"},
        {"scale", SOTTO_VERIFY_FAILED, "2 and 3"},
    };
    const char *lines[] = {"arithmetic re-derived"};
    struct sotto_verification v = {.certificate = "c.json",
                                   .failed = "scale: 2 and 3",
                                   .guarantee = SOTTO_GUARANTEE_CONDITIONAL,
                                   .epsilon = {0.5, INFINITY},
                                   .delta = 0.25,
                                   .adjacency = "zero-out",
                                   .unit = "one record",
                                   .mechanism = "laplace",
                                   .scale = 2,
                                   .condition = "a wish",
                                   .checks = checks,
                                   .check_count = 3,
                                   .checked = lines,
                                   .checked_count = 1};
    char *json, *text;
    assert_int_equal(sotto_verification_encode(&json, &v), SOTTO_OK);
    assert_string_equal(
        json,
        "{\n  \"schema\": \"sotto.verify/1\",\n  \"certificate\": \"c.json\",\n  \"valid\": false,\n"
        "  \"failed\": \"scale: 2 and 3\",\n  \"undecided\": null,\n  \"guarantee\": \"conditional\",\n"
        "  \"epsilon\": {\n    \"lower\": 0.5,\n    \"upper\": null\n  },\n  \"delta\": 0.25,\n"
        "  \"adjacency\": \"zero-out\",\n  \"unit_of_privacy\": \"one record\",\n  \"mechanism\": "
        "\"laplace\",\n  \"scale\": 2.0,\n"
        "  \"records\": null,\n  \"proved\": \"none\",\n  \"condition\": \"a wish\",\n  \"measured\": "
        "null,\n  \"signed\": false,\n"
        "  \"public_key\": null,\n"
        "  \"checked\": [\n    \"arithmetic re-derived\"\n  ],\n"
        "  \"not_checked\": [\n    \"the ledger, as none was given\"\n  ],\n"
        "  \"checks\": [\n    {\n      \"check\": \"epsilon\",\n      \"ok\": true,\n"
        "      \"detail\": \"certificate says 1, re-derived 1\"\n    },\n"
        "    {\n      \"check\": \"scale\",\n      \"ok\": false,\n      \"detail\": \"2 and 3\"\n    }\n"
        "  ]\n}");
    assert_int_equal(sotto_verification_text(&text, &v), SOTTO_OK);
    assert_string_equal(text, "c.json: does NOT verify: scale: 2 and 3\n");
    sotto_text_free(text);
    v.failed = NULL;
    v.undecided = "no curve";
    assert_int_equal(sotto_verification_text(&text, &v), SOTTO_OK);
    assert_string_equal(
        text,
        "c.json: NOT decided: no curve\n"
        "  claim        no finite epsilon at delta 0.25, zero-out adjacency (laplace, scale 2)\n"
        "  unit         of privacy: one record\n"
        "  proved       none\n"
        "  conditional  only if all of this is true: This is true, in the words of the caller: a wish.\n"
        "  measured     nothing\n"
        "  checked      arithmetic re-derived\n"
        "  not checked  the ledger, as none was given\n"
        "  signature    none: all checks also pass for a file, certificate and ledger that were changed "
        "together\n");
    sotto_text_free(json);
    sotto_text_free(text);
}

TEST(names_of_guarantees)
{
    assert_string_equal(sotto_guarantee_name(SOTTO_GUARANTEE_NONE), "none");
    assert_string_equal(sotto_guarantee_name(SOTTO_GUARANTEE_CONDITIONAL), "conditional");
    assert_string_equal(sotto_guarantee_name(SOTTO_GUARANTEE_PROVED), "proved");
    assert_string_equal(sotto_guarantee_name((enum sotto_guarantee)7), "unknown");
}

/* ---- certificates ---- */

/* The file's own text, without its last newline. */
static char *document(void)
{
    char *text = text_of(certificate);
    text[strlen(text) - 1] = '\0';
    return text;
}

/* Every kind of certificate comes back as it was written. */
TEST(documents_come_back)
{
    for (const char *bundle = "ABCD"; *bundle; bundle++) {
        struct sotto_certificate *c = NULL;
        lay_out(*bundle);
        if (sotto_certificate_load(&c, certificate) != SOTTO_OK)
            fail_msg("%c: %s", *bundle, sotto_error_text());
        char *text = document(), *again = certificate_text(c), *hash = member(certificate, "ledger.hash");
        assert_string_equal(again, text);
        assert_string_equal(sotto_certificate_hash(c), hash);
        free(hash);
        free(text);
        sotto_text_free(again);
        sotto_certificate_free(c);
    }
}

static sotto_status decode_work(struct sotto_certificate **c)
{
    char *text = document();
    sotto_status status = sotto_certificate_decode(c, text);
    free(text);
    return status;
}

/* What a reader learns is what the maker of the release was told. */
TEST(accessors_agree)
{
    struct sotto_certificate *made = NULL, *read = NULL;
    struct sotto_protect p = protect_of(path_of("v.npy"), path_of("w.npy"), path_of("w.jsonl"));
    p.release.records = 500;
    p.release.sensitivity.source = SOTTO_SENSITIVITY_CLIPPED;
    assert_int_equal(sotto_protect_file(&made, &p, NULL), SOTTO_OK);
    assert_int_equal(sotto_certificate_load(&read, path_of("w.npy.certificate.json")), SOTTO_OK);
    const struct sotto_account *a = sotto_certificate_account(made), *b = sotto_certificate_account(read);
    const struct sotto_sensitivity *s = sotto_certificate_sensitivity(read);
    assert_true(a->epsilon.upper == b->epsilon.upper && a->epsilon.lower == b->epsilon.lower);
    assert_true(a->delta == b->delta && a->scale == b->scale && a->compose == b->compose);
    assert_true(a->zcdp_rho == b->zcdp_rho && isnan(a->pure_epsilon) == isnan(b->pure_epsilon));
    assert_true(a->standard_deviation == b->standard_deviation && a->sample_rate == b->sample_rate);
    assert_int_equal(a->adjacency, b->adjacency);
    assert_string_equal(a->accountant, b->accountant);
    assert_int_equal(a->bound_count, b->bound_count);
    assert_true(s->l2 == sotto_certificate_sensitivity(made)->l2 && isnan(s->l1));
    assert_int_equal(s->source, SOTTO_SENSITIVITY_CLIPPED);
    assert_int_equal(sotto_certificate_guarantee(read), SOTTO_GUARANTEE_PROVED);
    assert_int_equal(sotto_certificate_is_proved(read), 1);
    assert_string_equal(sotto_certificate_statement(read), sotto_certificate_statement(made));
    assert_string_equal(sotto_certificate_hash(read), sotto_certificate_hash(made));
    assert_int_equal(sotto_certificate_entry(read), sotto_certificate_entry(made));
    sotto_certificate_free(made);
    sotto_certificate_free(read);
}

TEST(runs_and_conditions)
{
    struct sotto_certificate *c = NULL;
    lay_out('D');
    assert_int_equal(decode_work(&c), SOTTO_OK);
    assert_int_equal(sotto_certificate_account(c)->sampling, SOTTO_SAMPLING_POISSON);
    assert_int_equal(sotto_certificate_account(c)->clipping, SOTTO_NORM_L2);
    assert_true(sotto_certificate_account(c)->compose > 1 && sotto_certificate_account(c)->sample_rate < 1);
    assert_int_equal(sotto_certificate_account(c)->other_adjacency, SOTTO_ZERO_OUT);
    sotto_certificate_free(c);
    lay_out('B');
    assert_int_equal(decode_work(&c), SOTTO_OK);
    assert_int_equal(sotto_certificate_guarantee(c), SOTTO_GUARANTEE_CONDITIONAL);
    assert_string_equal(sotto_certificate_condition(c), "the sampled sensitivity");
    sotto_certificate_free(c);
}

TEST(seeded_noise_has_no_epsilon)
{
    struct sotto_certificate *c = NULL;
    lay_out('C');
    struct sotto_protect p = protect_of(path_of("v.npy"), released, path_of("seeded.jsonl"));
    p.release.spend.insecure = 1;
    assert_int_equal(protect(&p), SOTTO_OK);
    assert_int_equal(decode_work(&c), SOTTO_OK);
    assert_int_equal(sotto_certificate_guarantee(c), SOTTO_GUARANTEE_NONE);
    assert_true(isinf(sotto_certificate_account(c)->epsilon.upper));
    assert_string_equal(sotto_certificate_condition(c), "");
    sotto_certificate_free(c);
    c = NULL;
    edit("noise was seeded: no privacy guarantee\",\n  \"sampler",
         "operating system (getrandom, ChaCha20)\",\n  \"sampler");
    assert_int_equal(decode_work(&c), SOTTO_EFORMAT); /* a guarantee is not there */
    assert_null(c);
}

TEST(early_documents)
{
    struct sotto_certificate *c = NULL;
    assert_int_equal(sotto_certificate_load(&c, SOTTO_TEST_DIR "/fuzz/corpus/certificate/good"), SOTTO_OK);
    sotto_certificate_free(c);
    lay_out('A');
    edit("sotto.certificate/2", "sotto.certificate/1"); /* which would hide a condition */
    assert_int_equal(decode_work(&c), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "version 1 has neither"));
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define RESERVED(steps) "{\"charge\": 0, \"hash\": \"" HASH "\", \"first_step\": 0, \"steps\": " steps "},"
#define THREE RESERVED("0") RESERVED("0") RESERVED("0")
#define MOST RESERVED("9223372036854775807")

/* What a tuned encoder, several ranks and many reservations add to a document comes back too. */
TEST(members_of_some_documents_come_back)
{
    static const struct {
        char bundle;
        const char *before, *more, *holds;
    } members[] = {
        {'A', "\"output_sha256\"",
         "\"fine_tuning\": {\"trained\": 1, \"frozen\": 2, \"tensors\": \"w\", \"encoder\": \"e\", "
         "\"encoder_sha256\": \"" HASH "\", \"standardise\": \"s\", \"standardise_sha256\": \"" HASH "\"}, ",
         "\"standardise_sha256\": \"" HASH},
        {'D', "\"id\": ", "\"ranks\": 3, \"sampling_by\": \"rank 0\", ", "\"ranks\": 3"},
        {'D', "{\n        \"charge\": ", THREE THREE THREE, "\"hash\": \"" HASH}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct sotto_certificate *c = NULL;
        char more[2000];
        lay_out(members[i].bundle);
        snprintf(more, sizeof more, "%s%s", members[i].more, members[i].before);
        edit(members[i].before, more);
        if (decode_work(&c) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        assert_true(certificate_holds(c, members[i].holds));
        assert_true(certificate_comes_back(c));
        sotto_certificate_free(c);
    }
}

/* Each of these is one lie or one fault; none is taken for a certificate, and none leaves anything behind. */
TEST(documents_that_are_refused)
{
    static const struct {
        char bundle;
        const char *from, *to, *error;
    } faults[] = {
        {'A', "\"mechanism\": \"gaussian\"", "\"mechanism\": \"gauss\\nian\"",
         "mechanism 'gauss?ian' is unknown"},
        {'A', "\"dimension\": ", "\"dimension\": -", "'dimension' is -"},
        {'A', "\"scale_exact\": \"0x1", "\"scale_exact\": \"0x3", "'scale_exact'"},
        {'A', "\"source\": \"proved\"", "\"source\": \"given\"", "'sensitivity.statement'"},
        {'A', "\"source\": \"proved\"", "\"source\": \"sworn\"",
         "expected given, sampled, clipped or proved"},
        {'A', "\"adjacency\": \"replace-one\"", "\"adjacency\": \"add-remove\"",
         "'guarantee' does not follow"},
        {'A', "\"adjacency\": \"replace-one\"", "\"adjacency\": \"none\"", "certificate: adjacency 'none'"},
        {'A', "\"upper\": 0", "\"upper\": -0", "'epsilon.upper' is -"},
        {'A', "\"upper\": 0.9", "\"upper\": 0.1", "above the upper end"},
        {'A', "\"delta\": 1", "\"delta\": 7", "'guarantee' does not follow"},
        {'A', "\"delta\": 1", "\"delta\": -1", "delta"},
        {'A', "\"hash\": \"", "\"hash\": \"?", "'ledger.hash' is no SHA-256"},
        {'A', "\"charge\": ", "\"charge\": -1", "'ledger.charge'"},
        {'A', "\"randomness\": \"op", "\"randomness\": \"top", "'randomness'"},
        {'A', "\"condition\": null", "\"condition\": \"the weather\"", "'guarantee' does not follow"},
        {'A', "\"statement\": \"(", "\"statement\": \"(0", "'guarantee' does not follow"},
        {'B', "the sampled sensitivity\"\n", "nothing\"\n", "'guarantee' does not follow"},
        {'C', "\"output_sha256\": \"", "\"output_sha256\": \"x", "'output_sha256' is no SHA-256"},
        {'D', "\"charged\": 1", "\"charged\": 2", "'run' has another"},
        {'D', "\"sample_rate\": 0", "\"sample_rate\": 7", "'run.sample_rate'"},
        {'D', "\"max_grad_norm\": 1", "\"max_grad_norm\": -1", "max_grad_norm"},
        {'D', "\"used\": 15", "\"used\": 16", "'run' has another"},
        {'A', "\"version\": \"", "\"version\": \"of nobody knows which year and house",
         "; expected at most 23"},
        {'A', "\"unit_of_privacy\": \"", "\"unit_of_privacy\": \"x", "'unit_of_privacy' is 'x"},
        {'A', "\"lattice_exponent\": ", "\"lattice_exponent\": 4000000000, \"was\": ", "of 32 bits"},
        {'A', "\"scale\": ", "\"person\": {\"rows\": 2, \"column\": null}, \"scale\": ", "with 'person'"},
        {'A', "\"bounds\": {", "\"bounds\": {\"a bound with a name that is far longer than any\": 1,",
         "'bounds' has the member"},
        {'A', "\"output_sha256\"",
         "\"fine_tuning\": {\"trained\": 1, \"frozen\": 2, \"tensors\": \"w\", "
         "\"encoder\": \"e\", \"encoder_sha256\": \"?\"}, \"output_sha256\"",
         "'fine_tuning.encoder_sha256' is no"},
        {'D', "\"charge\": ", "\"index\": 0, \"charge\": ", "'ledger' has 'charge' and 'index'"},
        {'D', "\"mechanism\": \"gaussian", "\"mechanism\": \"propose-test-release", "is unknown"},
        {'D', "\"id\": ", "\"ranks\": 1, \"sampling_by\": \"rank 0\", \"id\": ", "expected at least 2 ranks"},
        {'D', "\"reservations\": [", "\"reservations\": [" MOST MOST, "has too many steps"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct sotto_certificate *c = NULL;
        lay_out(faults[i].bundle);
        edit(faults[i].from, faults[i].to);
        assert_int_equal(decode_work(&c), SOTTO_EFORMAT);
        assert_null(c);
        if (!strstr(sotto_error_text(), faults[i].error))
            fail_msg("%zu: %s", i, sotto_error_text());
        assert_null(strchr(sotto_error_text(), '\n'));
    }
}

TEST(no_documents)
{
    struct sotto_certificate *c = NULL;
    assert_int_equal(sotto_certificate_decode(&c, ""), SOTTO_EFORMAT);
    assert_int_equal(sotto_certificate_decode(&c, "[1, 2"), SOTTO_EFORMAT);
    assert_int_equal(sotto_certificate_decode(&c, "{\"schema\": \"sotto.audit/1\"}"), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "expected sotto.certificate/3"));
    assert_int_equal(sotto_certificate_load(&c, path_of("gone.json")), SOTTO_ENOENT);
    assert_null(c);
}

TEST(memory_that_runs_out)
{
    for (const char *bundle = "BD"; *bundle; bundle++) {
        struct sotto_certificate *c = NULL;
        sotto_status status = SOTTO_ENOMEM;
        lay_out(*bundle);
        for (int n = 0; status != SOTTO_OK && n < 2000; n++) {
            base_alloc_fail_after(n);
            status = sotto_certificate_load(&c, certificate);
            base_alloc_fail_after(-1);
            assert_true(status == SOTTO_OK ? c != NULL : status == SOTTO_ENOMEM && !c);
        }
        assert_int_equal(status, SOTTO_OK);
        sotto_certificate_free(c);
    }
}

TEST_GROUP(.start = remember_accounts, .set_up = make_bundles, .tear_down = remove_folder, .tags = "long")
