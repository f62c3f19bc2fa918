/* Ten kinds of forgery, at least five of each: refused, or answered with "NOT signed" where every number
 * agrees with every other and only a signature could tell. f32 heads; no instruction set or thread count
 * matters. */
#include "support/test.h"
#include "support/account_memo.h"
#include "support/forgery_desk.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"

/* ---- the forgeries ---- */

/* 1. the source word */
static void word(void)
{
    edit("\"source\": \"sampled\"", "\"source\": \"proved\"");
}
static void word_and_claim(void)
{
    word();
    edit("\"proved\": \"none\"", "\"was\": 1");
    edit("\"conditional\": {", "\"conditional\": null, \"proved\": {");
}
static void word_by_the_library(void) /* file, certificate and ledger agree; the recipe does not */
{
    unlink(ledger);
    protect_adam(released, ledger, SOTTO_SENSITIVITY_PROVED);
}
static void word_clipped_by_the_library(void)
{
    unlink(ledger);
    protect_adam(released, ledger, SOTTO_SENSITIVITY_CLIPPED);
}
static void word_on_the_unprotected_head(void)
{
    word_by_the_library();
    run_shell("cp '%s' '%s'", path_of("adam.safetensors"), released);
    match_output();
}
static void word_of_a_run(void)
{
    edit("\"source\": \"clipped\"", "\"source\": \"proved\"");
}
static void word_of_a_vector(void)
{
    unlink(ledger);
    protect_vector(released, ledger, 2, 1e-5, SOTTO_SENSITIVITY_PROVED);
}

/* 2. the number of records */
static void records_in_the_certificate(void)
{
    edit("\"records\": 60", "\"records\": 60000");
}
static void records_unknown(void)
{
    edit("\"records\": 60", "\"records\": null");
}
static void records_in_the_file(void)
{
    set_metadata(released, "records", "60000");
    match_output();
}
static void records_in_both(void)
{
    records_in_the_file();
    records_in_the_certificate();
}
static void records_everywhere(void)
{
    records_in_both();
    exchange(ledger, "\"records\":60", "\"records\":60000");
    hash_again(1);
    char *hash = member(certificate, "ledger.hash");
    set_metadata(released, "release", hash);
    match_output();
    free(hash);
}
/* A head with records and checksum both forged: a thousandth of the noise, and nothing contradicts
 * it. */
static void records_before_the_noise(void)
{
    struct sotto_head *h;
    const char *forged = path_of("forged.safetensors");
    unlink(ledger);
    assert_int_equal(sotto_head_load(&h, path_of("convex.safetensors")), SOTTO_OK);
    h->records = 60000;
    assert_int_equal(sotto_head_save(forged, h), SOTTO_OK);
    sotto_head_free(h);
    assert_int_equal(protect_convex(forged, released, ledger, 1), SOTTO_OK);
}

/* 3. the scale */
static void scale_alone(void)
{
    edit("\"scale\": ", "\"scale\": 9, \"was\": ");
}
static void scale_and_its_digits(void)
{
    scale_alone();
    edit("\"scale_exact\": \"", "\"scale_exact\": \"0x1.2p+3\", \"w\": \"");
}
static void scale_of_the_lattice(void)
{
    edit("\"lattice_exponent\": -", "\"lattice_exponent\": -1");
}
static void scale_of_another_release(void)
{
    unlink(path_of("other.jsonl"));
    protect_vector(path_of("other.npy"), path_of("other.jsonl"), 20, 1e-5, SOTTO_SENSITIVITY_GIVEN);
    take_certificate(path_of("other.npy.certificate.json"));
}
static void scale_of_another_head(void)
{
    unlink(path_of("other.jsonl"));
    assert_int_equal(protect_convex(path_of("convex.safetensors"), path_of("other.safetensors"),
                                    path_of("other.jsonl"), 0.1),
                     SOTTO_OK);
    take_certificate(path_of("other.safetensors.certificate.json"));
}

/* 4. delta */
static void delta_in_the_claim(void)
{
    edit("\"delta\": ", "\"delta\": 1e-9, \"was\": ");
}
static void delta_nothing(void)
{
    edit("\"delta\": ", "\"delta\": 0.0, \"was\": ");
}
static void delta_in_the_line(void)
{
    edit("(1, 1e-05)", "(1, 1e-09)");
}
static void delta_of_another_release(void)
{
    unlink(path_of("other.jsonl"));
    protect_vector(path_of("other.npy"), path_of("other.jsonl"), 2, 1e-2, SOTTO_SENSITIVITY_GIVEN);
    take_certificate(path_of("other.npy.certificate.json"));
}
static void delta_of_a_run(void)
{
    edit("\"delta\": ", "\"delta\": 1e-7, \"was\": ");
}

/* 5. adjacency */
static void adjacency_added(void)
{
    edit("\"adjacency\": \"replace-one\"", "\"adjacency\": \"zero-out\"");
}
static void adjacency_of_inputs(void)
{
    edit("\"adjacency\": \"replace-one\"", "\"adjacency\": \"replace-input\"");
}
static void adjacency_in_the_line(void)
{
    edit("under replace-one adjacency", "under any adjacency");
}
static void adjacency_of_a_run(void)
{
    edit("\"adjacency\": \"zero-out\"", "\"adjacency\": \"replace-one\"");
}
static void adjacency_of_a_run_in_full(void)
{
    adjacency_of_a_run();
    edit("under replace-one adjacency", "under zero-out adjacency");
}

/* 6. the output */
static void output_unprotected(void)
{
    run_shell("cp '%s' '%s'", path_of("convex.safetensors"), released);
}
static void output_unprotected_with_its_hash(void)
{
    output_unprotected();
    match_output();
}
static void output_of_another_kind(void)
{
    run_shell("cp '%s' '%s'", path_of("adam.safetensors"), released);
    match_output();
}
static void output_of_another_release(void)
{
    unlink(path_of("other.jsonl"));
    assert_int_equal(protect_convex(path_of("convex.safetensors"), path_of("other.safetensors"),
                                    path_of("other.jsonl"), 10),
                     SOTTO_OK);
    run_shell("cp '%s' '%s'", path_of("other.safetensors"), released);
    match_output();
}
static void output_vector(void)
{
    run_shell("cp '%s' '%s'", path_of("v.npy"), released);
    match_output();
}

/* 7. the ledger */
static void ledger_without_the_line(void)
{
    keep_lines("1d");
}
static void ledger_emptied(void)
{
    keep_lines("d");
}
static void ledger_reordered(void)
{
    keep_lines("1{h;d};2{G}");
}
static void ledger_edited(void)
{
    exchange(ledger, "\"scale\":2", "\"scale\":9");
}
static void ledger_hashed_again(void)
{
    exchange(ledger, "\"purpose\":\"test\"", "\"purpose\":\"best\"");
    hash_again(0);
}
static void ledger_hashed_again_with_the_certificate(void)
{
    exchange(ledger, "\"purpose\":\"test\"", "\"purpose\":\"best\"");
    hash_again(1);
    edit("\"purpose\": \"test\"", "\"purpose\": \"best\"");
}
static void ledger_without_later_lines(void)
{
    keep_lines("3,$d");
}

/* All of it, by one who knows the formats. */
static void ledger_all_made_again(void)
{
    ledger_hashed_again_with_the_certificate();
    release_again();
}
static void ledger_without_the_released_line(void)
{
    keep_lines("2d");
    hash_again(0);
}
static void ledger_with_the_released_line_twice(void)
{
    keep_lines("2p");
    hash_again(0);
}

/* 8. keys and signatures, of which this version knows none */
static void add_member(const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "\"%s\": \"%064d\", \"purpose\": ", name, 7);
    edit("\"purpose\": ", text);
}
static void key_signature(void)
{
    add_member("signature");
}
static void key_signatures(void)
{
    add_member("signatures");
}
static void key_public(void)
{
    add_member("public_key");
}
static void key_only(void)
{
    add_member("key");
}
static void key_says_signed(void)
{
    edit("\"purpose\": ", "\"signed\": true, \"signature\": \"ok\", \"purpose\": ");
}

/* 9. the version */
static void version_schema(void)
{
    edit("sotto.certificate/2", "sotto.certificate/1");
}
static void version_without_members(void)
{
    version_schema();
    edit("\"records\": 60,", "");
    edit("\"condition\": null,", "");
}
static void version_none(void)
{
    edit("sotto.certificate/2", "sotto.certificate/0");
}
static void version_of_the_future(void)
{
    edit("sotto.certificate/2", "sotto.certificate/9");
}
static void version_without_schema(void)
{
    edit("\"schema\"", "\"scheme\"");
}
static void version_of_the_program(void)
{
    char own[64];
    snprintf(own, sizeof own, "\"version\": \"%s\"", sotto_version());
    edit(own, "\"version\": \"0.0.1\"");
}

static void version_of_a_later_program(void)
{
    char own[64];
    snprintf(own, sizeof own, "\"version\": \"%s\"", sotto_version());
    edit(own, "\"version\": \"99\"");
}
static void version_of_a_later_year(void)
{
    edit("\"time\": \"2", "\"time\": \"9");
}

/* 10. what the head's file says */
static void head_recipe(void)
{
    set_metadata(released, "recipe", "{}");
}
static void head_recipe_of_adam(void)
{
    struct sotto_tensors t = {0};
    assert_int_equal(safetensors_load(&t, path_of("adam.safetensors")), SOTTO_OK);
    set_metadata(released, "recipe", tensors_metadata(&t, "recipe"));
    set_metadata(released, "recipe_hash", tensors_metadata(&t, "recipe_hash"));
    sotto_tensors_clear(&t);
    match_output();
}
static void head_without_recipe(void)
{
    set_metadata(released, "recipe", NULL);
    set_metadata(released, "recipe_hash", NULL);
    match_output();
}
static void head_of_no_kind(void)
{
    set_metadata(released, "format", NULL);
    set_metadata(released, "recipe", NULL);
    match_output();
}
static void head_privacy_line(void)
{
    set_metadata(released, "privacy", "(0.01, 0)-differentially private");
    match_output();
}
static void head_of_another_release(void)
{
    set_metadata(released, "release", "0000000000000000000000000000000000000000000000000000000000000000");
    match_output();
}

enum answer { REFUSED, NOT_SIGNED };
static const struct forgery {
    const char *kind;
    void (*forge)(void);
    char bundle;
    bool with_ledger;
    enum answer answer;
} forgeries[] = {
    {"source word", word, 'B', true, REFUSED},
    {"source word", word_and_claim, 'B', true, REFUSED},
    {"source word", word_by_the_library, 'B', true, REFUSED},
    {"source word", word_clipped_by_the_library, 'B', true, REFUSED},
    {"source word", word_on_the_unprotected_head, 'B', false, REFUSED},
    {"source word", word_of_a_run, 'D', false, REFUSED},
    {"source word", word_of_a_vector, 'C', true,
     NOT_SIGNED}, /* a vector says nothing of where it came from */
    {"records", records_in_the_certificate, 'A', false, REFUSED},
    {"records", records_unknown, 'A', false, REFUSED},
    {"records", records_in_the_file, 'A', false, REFUSED},
    {"records", records_in_both, 'A', false, REFUSED},
    {"records", records_everywhere, 'A', true, REFUSED},
    {"records", records_in_the_certificate, 'D', false, REFUSED},
    {"records", records_before_the_noise, 'A', true, NOT_SIGNED},
    {"scale", scale_alone, 'A', false, REFUSED},
    {"scale", scale_and_its_digits, 'A', false, REFUSED},
    {"scale", scale_of_the_lattice, 'C', false, REFUSED},
    {"scale", scale_of_another_release, 'C', true, REFUSED},
    {"scale", scale_of_another_head, 'A', false, REFUSED}, /* its own file names other figures */
    {"scale", scale_of_another_release, 'C', false, NOT_SIGNED},
    {"delta", delta_in_the_claim, 'A', false, REFUSED},
    {"delta", delta_nothing, 'A', false, REFUSED},
    {"delta", delta_in_the_line, 'A', false, REFUSED},
    {"delta", delta_of_a_run, 'D', false, REFUSED},
    {"delta", delta_of_another_release, 'C', true, REFUSED},
    {"delta", delta_of_another_release, 'C', false, NOT_SIGNED},
    {"adjacency", adjacency_added, 'A', false, REFUSED},
    {"adjacency", adjacency_of_inputs, 'C', false, REFUSED},
    {"adjacency", adjacency_in_the_line, 'B', false, REFUSED},
    {"adjacency", adjacency_of_a_run, 'D', false, REFUSED},
    {"adjacency", adjacency_of_a_run_in_full, 'D', false, REFUSED},
    {"output", output_unprotected, 'A', false, REFUSED},
    {"output", output_unprotected_with_its_hash, 'A', false, REFUSED},
    {"output", output_of_another_kind, 'D', false, REFUSED},
    {"output", output_of_another_release, 'A', false, REFUSED},
    {"output", output_of_another_kind, 'B', true, REFUSED},
    {"output", output_vector, 'C', false, REFUSED}, /* its values lie on no lattice of noise */
    {"ledger", ledger_without_the_line, 'C', true, REFUSED},
    {"ledger", ledger_emptied, 'C', true, REFUSED},
    {"ledger", ledger_reordered, 'C', true, REFUSED},
    {"ledger", ledger_edited, 'C', true, REFUSED},
    {"ledger", ledger_hashed_again, 'C', true, REFUSED},
    {"ledger", ledger_hashed_again_with_the_certificate, 'C', true,
     REFUSED}, /* the released line is of the old one */
    {"ledger", ledger_all_made_again, 'C', true, NOT_SIGNED},
    {"ledger", ledger_without_the_released_line, 'C', true, REFUSED},
    {"ledger", ledger_with_the_released_line_twice, 'C', true, REFUSED},
    {"ledger", ledger_without_later_lines, 'C', true, NOT_SIGNED},
    {"key", key_signature, 'A', false, NOT_SIGNED},
    {"key", key_signatures, 'B', false, NOT_SIGNED},
    {"key", key_public, 'C', false, NOT_SIGNED},
    {"key", key_only, 'D', false, NOT_SIGNED},
    {"key", key_says_signed, 'A', false, NOT_SIGNED},
    {"version", version_schema, 'A', false, REFUSED},
    {"version", version_without_members, 'A', true, REFUSED},
    {"version", version_none, 'A', false, REFUSED},
    {"version", version_of_the_future, 'C', false, REFUSED},
    {"version", version_without_schema, 'B', false, REFUSED},
    {"version", version_without_members, 'A', false, NOT_SIGNED}, /* and what version 1 lacks is named */
    {"version", version_of_the_program, 'A', false, NOT_SIGNED},
    {"version", version_of_the_program, 'A', true, REFUSED},
    {"version", version_of_a_later_program, 'A', false, REFUSED},
    {"version", version_of_a_later_year, 'D', false, REFUSED},
    {"metadata", head_recipe, 'A', false, REFUSED},
    {"metadata", head_recipe_of_adam, 'A', false, REFUSED},
    {"metadata", head_without_recipe, 'A', false, REFUSED},
    {"metadata", head_of_no_kind, 'A', false, REFUSED},
    {"metadata", head_privacy_line, 'A', false, REFUSED},
    {"metadata", head_of_another_release, 'A', false, REFUSED},
};
enum { FORGERIES = sizeof forgeries / sizeof *forgeries };

static sotto_status verify(struct sotto_verification *v, bool with_ledger)
{
    *v = (struct sotto_verification){0};
    return sotto_verify(v, certificate, NULL, with_ledger ? ledger : NULL, NULL);
}

/* Where SOTTO_FORGERIES names a folder, each bundle is left there for tests/cli/verifier.bats: NUMBER-KIND-ANSWER, with a ledger
 * or without one. */
static void leave_copy(int i, const struct forgery *f, const char *answer)
{
    const char *to = getenv("SOTTO_FORGERIES");
    char target[300];
    if (!to)
        return;
    snprintf(target, sizeof target, "%s/%02d-%s-%s", to, i, f ? f->kind : "honest", answer);
    for (char *space = target; (space = strchr(space, ' '));)
        *space = '_';
    run_shell("mkdir -p '%s'%s", target, "");
    run_shell("cp '%s'/work.* '%s'", folder, target);
    run_shell("cp '%s'/office.key.pub '%s' 2> /dev/null || :", folder, target);
    if (f && !f->with_ledger)
        run_shell("rm '%s'/work.jsonl%s", target, "");
}

TEST(honest_bundles_verify)
{
    for (const char *bundle = "ABCD"; *bundle; bundle++)
        for (int with_ledger = 0; with_ledger < 2; with_ledger++) {
            struct sotto_verification v;
            char *report, *text;
            lay_out(*bundle);
            if (verify(&v, with_ledger) != SOTTO_OK)
                fail_msg("%c: %s", *bundle, sotto_error_text());
            assert_int_equal(sotto_verification_encode(&report, &v), SOTTO_OK);
            assert_non_null(strstr(report, "\"signed\": false"));
            assert_int_equal(sotto_verification_text(&text, &v), SOTTO_OK);
            assert_non_null(strstr(text, "consistent, NOT signed"));
            assert_null(strstr(text, "verified"));
            bool proved = *bundle == 'A' || *bundle == 'D';
            assert_true((strstr(text, "proved       none") == NULL) == proved);
            assert_true((strstr(text, "the ledger, as none was given: whether the release was charged, and "
                                      "in which ledger, is open") == NULL) == (with_ledger == 1));
            assert_true((strstr(text, "the sensitivity, which was measured: evidence, not a bound") !=
                         NULL) == (*bundle == 'B'));
            assert_true((strstr(text, "the sensitivity, which was stated by the caller") != NULL) ==
                        (*bundle == 'C'));
            assert_true((strstr(text, "derived again from the file's recipe and 60 records") != NULL) ==
                        (*bundle == 'A'));
            sotto_text_free(text);
            sotto_text_free(report);
            sotto_verification_clear(&v);
        }
}

TEST(ten_kinds_of_forgery)
{
    const char *kind = "";
    int kinds = 0, of_kind = 5;
    for (int i = 0; i < FORGERIES; i++) {
        const struct forgery *f = &forgeries[i];
        struct sotto_verification v;
        char *text = NULL;
        if (strcmp(kind, f->kind) != 0) {
            assert_true(of_kind >= 5);
            kind = f->kind;
            kinds++;
            of_kind = 0;
        }
        of_kind++;
        lay_out(f->bundle);
        f->forge();
        leave_copy(i, f, f->answer == REFUSED ? "refused" : "unsigned");
        sotto_status status = verify(&v, f->with_ledger);
        if (f->answer == REFUSED ? status != SOTTO_EGATE && status != SOTTO_EFORMAT : status != SOTTO_OK)
            fail_msg("%d (%s): %s, %s", i, f->kind, sotto_status_name(status),
                     status == SOTTO_OK ? "" : sotto_error_text());
        if (f->answer == NOT_SIGNED) {
            assert_int_equal(sotto_verification_text(&text, &v), SOTTO_OK);
            assert_non_null(strstr(text, "NOT signed"));
            assert_true(f->forge != version_without_members ||
                        strstr(text, "number of records, condition and identity of the data set, which a "
                                     "certificate of version 1 does not contain"));
            assert_true(strcmp(f->kind, "key") != 0 ||
                        strstr(text, "a signature lies beside a certificate, not within it"));
            assert_true(f->forge != ledger_without_later_lines ||
                        strstr(text, "later entries of the ledger"));
        }
        sotto_text_free(text);
        sotto_verification_clear(&v);
    }
    assert_true(of_kind >= 5);
    assert_int_equal(kinds, 10);
}

/* The same forgeries of certificates that were signed: none keeps the signature, but for later lines of a ledger that are
 * gone. (A forger who lets the library write a new certificate has one without a signature, which --trust refuses.) */
TEST(a_signature_refuses_them_all)
{
    char key[128];
    strcpy(key, path_of("office.key"));
    assert_int_equal(sotto_key_new(key), SOTTO_OK);
    for (int i = -1; i < FORGERIES; i++) { /* -1: nothing is changed */
        const struct forgery *f = i < 0 ? NULL : &forgeries[i];
        struct sotto_verification v;
        lay_out(f ? f->bundle : 'A');
        assert_int_equal(sotto_sign(certificate, key), SOTTO_OK);
        if (f)
            f->forge();
        bool same = !f || f->forge == ledger_without_later_lines;
        leave_copy(i + 100, f, same ? "signed" : "broken");
        sotto_status status = verify(&v, !f || f->with_ledger);
        if (same ? status != SOTTO_OK || !v.signed_by : status == SOTTO_OK && v.signed_by)
            fail_msg("%d (%s): %s, %s", i, f ? f->kind : "none", sotto_status_name(status),
                     status == SOTTO_OK ? "" : sotto_error_text());
        sotto_verification_clear(&v);
    }
    run_shell("rm '%s' '%s.pub'", key, key);
}

/* What is changed before the noise: protect refuses it. */
TEST(unprotected_heads_are_bound_to_their_recipe)
{
    const char *forged = path_of("forged.safetensors"), *out = path_of("out.safetensors"),
               *book = path_of("never.jsonl");
    struct sotto_head *h;
    run_shell("cp '%s' '%s'", path_of("convex.safetensors"), forged);
    set_metadata(forged, "records", "60000");
    assert_int_equal(protect_convex(forged, out, book, 1), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "were changed after training"));
    /* other weights, in the ball: the checksum; outside of it, with a checksum made anew: the ball */
    assert_int_equal(sotto_head_load(&h, path_of("convex.safetensors")), SOTTO_OK);
    size_t count;
    float *weights = sotto_head_parameters(h, &count);
    for (size_t i = 0; i < count; i++)
        weights[i] *= 1000;
    assert_int_equal(sotto_head_save(forged, h), SOTTO_OK);
    sotto_head_free(h);
    assert_int_equal(protect_convex(forged, out, book, 1), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "but its recipe gives at most"));
    /* without a checksum, as early versions wrote it: taken, and its epsilon rests on what the file says */
    run_shell("cp '%s' '%s'", path_of("convex.safetensors"), forged);
    set_metadata(forged, "training_sha256", NULL);
    assert_false(file_exists(book));
    assert_int_equal(protect_convex(forged, out, book, 1), SOTTO_OK);
    char *statement = member(path_of("out.safetensors.certificate.json"), "guarantee.statement");
    assert_non_null(strstr(
        statement,
        "; only if this is true: The file says truly by which recipe and from how many records it was made"));
    free(statement);
    /* the checksum is a hash of unprotected weights: it does not get out */
    struct sotto_tensors t = {0};
    assert_int_equal(safetensors_load(&t, path_of("A.safetensors")), SOTTO_OK);
    assert_null(tensors_metadata(&t, "training_sha256"));
    assert_string_equal(tensors_metadata(&t, "records"), "60");
    sotto_tensors_clear(&t);
}

/* A proof that was made for more records than the head has. */
TEST(a_proof_is_for_one_head)
{
    struct sotto_sensitivity_sample proof, larger;
    struct sotto_head *h;
    struct sotto_protect p =
        protect_of(path_of("convex.safetensors"), path_of("out.safetensors"), path_of("n.jsonl"));
    assert_int_equal(sotto_head_load(&h, p.input), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_prove(&proof, h), SOTTO_OK);
    h->records = 60000;
    assert_int_equal(sotto_sensitivity_prove(&larger, h), SOTTO_OK);
    sotto_head_free(h);
    assert_int_equal(sotto_sensitivity_of_head(&p, &larger), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "is proved for 60000 records"));
    assert_int_equal(sotto_sensitivity_of_head(&p, &proof), SOTTO_OK);
    p.release.records = 61;
    assert_int_equal(protect(&p), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "was made from 60 records, not from 61"));
    assert_false(file_exists(path_of("n.jsonl")));
}

TEST_GROUP(.start = remember_accounts, .set_up = make_bundles, .tear_down = remove_folder, .tags = "long")
