/* sotto verify beyond forgeries: seeded noise, files that are damaged or of another kind,
 * names of files, early versions, and memory that runs out. */
#include "support/test.h"
#include "support/account_memo.h"
#include "support/effort.h"
#include "support/forgery_desk.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"

static char *text_of_report(const char *file, const char *book, sotto_status expected)
{
    struct sotto_verification v = {0};
    char *text = NULL;
    sotto_status status = sotto_verify(&v, file, NULL, book, NULL);
    if (status != expected)
        fail_msg("%s: %s", sotto_status_name(status), status ? sotto_error_text() : "");
    assert_int_equal(sotto_verification_text(&text, &v), SOTTO_OK);
    sotto_verification_clear(&v);
    return text;
}

static void says(const char *file, const char *book, sotto_status expected, const char *wanted)
{
    char *text = text_of_report(file, book, expected);
    if (!strstr(text, wanted))
        fail_msg("no '%s' in %s", wanted, text);
    sotto_text_free(text);
}

TEST(what_claims_nothing)
{
    lay_out('C');
    struct sotto_protect p = protect_of(path_of("v.npy"), released, path_of("seeded.jsonl"));
    p.release.spend.insecure = 1;
    assert_int_equal(protect(&p), SOTTO_OK);
    says(released, p.release.spend.ledger, SOTTO_OK, "claim        none: noise was seeded");
    says(released, NULL, SOTTO_OK, "checked      the stamp of seeded noise");
}

TEST(names_of_files)
{
    char other[160];
    struct sotto_verification v = {0};
    lay_out('A');
    says(released, NULL, SOTTO_OK, "the file names this release");
    says(certificate, NULL, SOTTO_OK, "the file names this release");
    snprintf(other, sizeof other, "%s/c.json", folder);
    run_shell("cp '%s' '%s'", certificate, other);
    says(other, NULL, SOTTO_OK, "the released file, as none was given");
    assert_int_equal(sotto_verify(&v, other, released, NULL, NULL), SOTTO_OK);
    sotto_verification_clear(&v);
    assert_int_equal(sotto_verify(&v, other, path_of("gone"), NULL, NULL), SOTTO_ENOENT);
    assert_int_equal(sotto_verify(&v, path_of("gone"), NULL, NULL, NULL), SOTTO_ENOENT);
    unlink(released);
    says(certificate, NULL, SOTTO_OK, "the released file, as none was given");
}

/* A file that cannot be read is no released file, whatever its hash. */
TEST(damaged_files)
{
    lay_out('A');
    assert_int_equal(overwrite(released, "not tensors", 11), 0);
    match_output();
    says(released, NULL, SOTTO_EGATE, "does NOT verify: released file");
    lay_out('C');
    struct sotto_array more = {0}; /* as many bytes are not as many values */
    assert_int_equal(sotto_array_make(&more, SOTTO_F4, 1, &(size_t){5}), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path_of("five.npy"), &more), SOTTO_OK);
    sotto_array_clear(&more);
    run_shell("cp '%s' '%s'", path_of("five.npy"), released); /* a save would retire the certificate */
    match_output();
    says(released, NULL, SOTTO_EGATE,
         "values: the file holds 5 values; expected 3, to which noise was added");
}

/* Tensors that are neither head nor network, with and without the name of their release. */
TEST(tensors_of_no_kind)
{
    struct sotto_tensors t = {0};
    float v[4] = {1, 2, 3, 4};
    lay_out('A');
    assert_int_equal(tensors_add(&t, "a", SOTTO_F4, 1, &(size_t){4}, v), SOTTO_OK);
    assert_int_equal(safetensors_save(path_of("t.safetensors"), &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    struct sotto_protect p = protect_of(path_of("t.safetensors"), released, path_of("t.jsonl"));
    assert_int_equal(protect(&p), SOTTO_OK);
    says(released, p.release.spend.ledger, SOTTO_OK, "the sensitivity, which was stated by the caller");
    set_metadata(released, "release", NULL);
    match_output();
    says(released, NULL, SOTTO_EGATE, "origin: the tensors are of an unknown kind");
}

/* A head of PyTorch, which has no recipe. */
TEST(heads_without_recipe)
{
    lay_out('B');
    const char *plain = path_of("plain.safetensors");
    run_shell("cp '%s' '%s'", path_of("adam.safetensors"), plain);
    set_metadata(plain, "training_sha256", NULL);
    set_metadata(plain, "recipe", NULL);
    struct sotto_protect p = protect_of(plain, released, path_of("plain.jsonl"));
    assert_int_equal(protect(&p), SOTTO_OK);
    says(released, NULL, SOTTO_OK, "the file's recipe, as it has none");
    set_metadata(released, "release", NULL);
    match_output();
    says(released, NULL, SOTTO_EGATE, "origin: the head has no recipe");
}

/* Heads that were computed from one noisy release: recipe, shape and number of records give the
 * sensitivity. */
TEST(heads_by_second_moments)
{
    struct sotto_head_recipe r;
    struct sotto_head *h;
    struct sotto_head_privacy p = {.target = {0.3, 1e-5},
                                   .spend = {.dataset_id = "toy", .ledger = path_of("m.jsonl")}};
    struct sotto_certificate *text;
    lay_out('D');
    sotto_head_defaults(&r);
    r.trainer = "covariance";
    r.lambda = 0;
    assert_int_equal(sotto_head_train_private(&h, &text, x, y, N, D, K, &r, &p, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save_private(released, h, text), SOTTO_OK);
    sotto_certificate_free(text);
    sotto_head_free(h);
    says(released, p.spend.ledger, SOTTO_OK, "derived again from the file's recipe and 60 records");
    edit("\"records\": 60", "\"records\": 6000");
    says(released, NULL, SOTTO_EGATE, "proof: ");
    edit("\"records\": 6000", "\"records\": null");
    says(released, NULL, SOTTO_OK, "the sensitivity, as the number of records is unknown");
    /* noise in every step is not one release */
    lay_out('B');
    run_shell("cp '%s' '%s'", path_of("D.safetensors"), released);
    match_output();
    says(released, NULL, SOTTO_EGATE, "noisy steps: ");
    lay_out('D');
    edit("\"records\": 60", "\"records\": null");
    says(released, NULL, SOTTO_OK, "sampling rate and steps, as the number of records is unknown");
}

TEST(certificates_that_lack_members)
{
    struct sotto_verification v = {0};
    lay_out('A');
    edit("\"records\": 60,", "");
    assert_int_equal(sotto_verify(&v, released, NULL, NULL, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "'records' or 'condition' is missing; version 2 has both"));
    lay_out('A');
    edit("\"records\": 60,", "\"records\": -1,");
    assert_int_equal(sotto_verify(&v, released, NULL, NULL, NULL), SOTTO_EFORMAT);
    lay_out('A');
    edit("\"condition\": null,", "\"condition\": 7,");
    assert_int_equal(sotto_verify(&v, released, NULL, NULL, NULL), SOTTO_EFORMAT);
    assert_null(v.checks);
}

/* Every allocation fails once, or each `stride`-th. */
static void verify_without_memory(struct sotto_verification *v, int stride)
{
    sotto_status status = SOTTO_ENOMEM;
    for (int n = 0; status != SOTTO_OK && n < 20000; n += stride) {
        sotto_verification_clear(v);
        base_alloc_fail_after(n);
        status = sotto_verify(v, released, NULL, ledger, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM || status == SOTTO_EGATE);
        assert_true((v->checks != NULL) == (status != SOTTO_ENOMEM)); /* EGATE: the account's own memory */
    }
    assert_int_equal(status, SOTTO_OK);
}

/* What fails for want of memory leaves nothing behind. Once with accounts, all of whose allocations fail in test_pld_errors.c
 * too, and once with those that are remembered. */
TEST(memory_that_runs_out)
{
    static const char bundles[] = "ACD";
    for (const char *bundle = bundles; *bundle; bundle++) {
        struct sotto_verification v = {0};
        lay_out(*bundle);
        verify_without_memory(&v, (int)by_effort(5, 1, 1));
        sotto_verification_clear(&v);
    }
    remember_accounts();
    for (const char *bundle = bundles; *bundle; bundle++) {
        struct sotto_verification v = {0};
        char *json = NULL, *text = NULL;
        sotto_status status;
        lay_out(*bundle);
        assert_int_equal(sotto_verify(&v, released, NULL, ledger, NULL), SOTTO_OK);
        verify_without_memory(&v, 1);
        status = SOTTO_ENOMEM;
        for (int n = 0; status != SOTTO_OK && n < 2000; n++) {
            base_alloc_fail_after(n);
            status = sotto_verification_encode(&json, &v);
            base_alloc_fail_after(-1);
            assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && !json));
        }
        assert_int_equal(status, SOTTO_OK);
        base_alloc_fail_after(0);
        assert_int_equal(sotto_verification_text(&text, &v), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
        assert_null(text);
        sotto_text_free(json);
        sotto_verification_clear(&v);
    }
}

TEST_GROUP(.set_up = make_bundles, .tear_down = remove_folder, .tags = "long")
