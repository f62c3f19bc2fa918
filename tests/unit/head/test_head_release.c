/* sotto_head_release(): one call owns the order of a private release. What is refused is refused before the charge and leaves no
 * file; what fails after it says what was charged, and hands over what was made. Noise is seeded where bytes are compared. */
#include "support/test.h"

#include "base/file.h"
#include "sotto/certificate.h"
#include "sotto/head.h"
#include "sotto/lab/canary.h"
#include "sotto/lab/data.h"
#include "sotto/lab/head.h"
#include "sotto/lab/ledger.h"
#include "support/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

enum { N = 60, D = 4, K = 3, LIMIT = 1 << 20 };

static float x[N * D];
static int64_t y[N];

static int make_rows(void **state)
{
    for (size_t i = 0; i < N; i++) {
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(i * 7 % 11) / 11 + (j % K == i % K ? 1.0f : 0.0f);
    }
    return make_folder(state);
}

static struct sotto_head_recipe recipe_of(const char *trainer)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.epochs = 2;
    r.batch = 20;
    r.noise_multiplier = 2;
    return r;
}

/* The output has the name of the data set. One request at a time: path_of() forgets. */
static struct sotto_head_release_request request_of(const struct sotto_head_recipe *r, const char *dataset)
{
    static char output[128];
    snprintf(output, sizeof output, "%s", path_of(dataset));
    return (struct sotto_head_release_request){
        .x = x,
        .y = y,
        .n = N,
        .d = D,
        .classes = K,
        .recipe = r,
        .privacy = {.spend = {.dataset_id = dataset, .insecure = 1, .insecure_seed = 5}, .output = output}};
}

static const char *beside(const struct sotto_head_release_request *q, const char *suffix)
{
    static char path[160];
    snprintf(path, sizeof path, "%s%s", q->privacy.output, suffix);
    return path;
}

static sotto_status release(const struct sotto_head_release_request *request)
{
    struct sotto_head_release_result made = {0};
    const sotto_status status = sotto_head_release(&made, request, NULL);
    if (status == SOTTO_OK)
        assert_true(made.head && made.certificate);
    sotto_head_free(made.head);
    sotto_certificate_free(made.certificate);
    return status;
}

/* Lines of the data set's ledger with `words`; 0: there is no ledger either. */
static size_t ledger_lines(const char *dataset, const char *words)
{
    char *path = NULL;
    unsigned char *text;
    size_t size, count = 0;
    assert_int_equal(sotto_ledger_find(&path, dataset), SOTTO_OK);
    if (file_exists(path)) {
        assert_int_equal(file_read(&text, &size, path, LIMIT), SOTTO_OK);
        for (const char *at = (const char *)text; (at = strstr(at, words)); at++)
            count++;
        base_free(text);
    }
    sotto_text_free(path);
    return count;
}

static bool same_files(const char *a, const char *b)
{
    unsigned char *left, *right;
    size_t m, n;
    assert_int_equal(file_read(&left, &m, a, LIMIT), SOTTO_OK);
    assert_int_equal(file_read(&right, &n, b, LIMIT), SOTTO_OK);
    const bool same = m == n && memcmp(left, right, n) == 0;
    base_free(left);
    base_free(right);
    return same;
}

/* The calls that a release is made of, by hand. */
static void release_by_hand(const struct sotto_head_release_request *q, const char *output)
{
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    struct sotto_head_privacy p = q->privacy;
    p.output = output;
    p.spend.dataset_id = "hand";
    assert_int_equal(sotto_head_train_private(&h, &certificate, x, y, N, D, K, q->recipe, &p, NULL),
                     SOTTO_OK);
    assert_int_equal(sotto_head_save_private(output, h, certificate), SOTTO_OK);
    sotto_head_free(h);
    sotto_certificate_free(certificate);
}

TEST(it_makes_what_its_parts_make)
{
    static const char *const trainers[] = {"dp-sgd", "covariance"};
    for (size_t i = 0; i < 2; i++) {
        const struct sotto_head_recipe r = recipe_of(trainers[i]);
        const struct sotto_head_release_request q = request_of(&r, trainers[i]);
        assert_int_equal(release(&q), SOTTO_OK);
        release_by_hand(&q, path_of("two"));
        assert_true(same_files(q.privacy.output, path_of("two")));
        assert_true(file_exists(beside(&q, ".certificate.json")));
        assert_false(file_exists(beside(&q, ".checkpoint")));
        assert_int_equal(ledger_lines(trainers[i], "\"event\":\"released\""), 1);
    }
}

TEST(the_ledger_knows_the_records_again)
{
    const struct sotto_head_recipe r = recipe_of("dp-sgd");
    struct sotto_head_release_request q = request_of(&r, "clinic");
    static unsigned char digests[N][SOTTO_DIGEST];
    size_t shared = 0;
    sotto_array_digests(digests, x, y, N, D);
    release_by_hand(&q, path_of("by-hand")); /* without digests: nothing is known */
    assert_int_equal(sotto_ledger_overlap(&shared, "hand", digests, N), SOTTO_OK);
    assert_int_equal(shared, 0);
    assert_int_equal(release(&q), SOTTO_OK);
    assert_int_equal(sotto_ledger_overlap(&shared, "clinic", digests, N), SOTTO_OK);
    assert_int_equal(shared, N);
}

static void refused(const struct sotto_head_release_request *q, sotto_status expected, const char *words)
{
    assert_int_equal(release(q), expected);
    if (!strstr(sotto_error_text(), words))
        fail_msg("'%s' lacks '%s'", sotto_error_text(), words);
    assert_int_equal(ledger_lines("refused", "\"event\""), 0);
    assert_false(file_exists(path_of("refused.coins.json")));
    assert_false(file_exists(path_of("refused")));
}

TEST(what_is_refused_is_refused_before_the_charge)
{
    struct sotto_head_recipe r = recipe_of("dp-sgd"), open = recipe_of("adam");
    const struct sotto_head_release_request good = request_of(&r, "refused");
    struct sotto_head_release_request q = good;
    q.canaries.count = 4;
    q.files.encoder = path_of("no-encoder.safetensors");
    refused(&q, SOTTO_ENOENT, "no-encoder");
    q = good, q.canaries.count = 4;
    q.privacy.spend.dataset_id = NULL;
    refused(&q, SOTTO_EINVAL, "dataset");
    q = good, q.canaries.count = 4;
    q.recipe = &open;
    refused(&q, SOTTO_EINVAL, "adds no noise");
    q = good, q.canaries.count = 4;
    q.privacy.output = NULL;
    refused(&q, SOTTO_EINVAL, "canaries need an output");
    q = good;
    q.privacy.output = path_of("no-folder/refused");
    refused(&q, SOTTO_ECREATE, "no-folder");
    assert_int_equal(release(&good), SOTTO_OK); /* the others differ from this one in one thing each */
    assert_int_equal(ledger_lines("refused", "\"event\":\"reserve\""), 1);
}

/* In place of the file. */
static void make_a_folder(void *output, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)done, (void)total, (void)unit;
    mkdir(output, 0700);
}

TEST(a_failure_after_the_charge_names_it_and_hands_over_the_head)
{
    const struct sotto_head_recipe r = recipe_of("dp-sgd");
    const struct sotto_head_release_request q = request_of(&r, "late");
    struct sotto_head_release_result made = {0};
    const struct sotto_context ctx = {.progress = make_a_folder, .user = (void *)(uintptr_t)q.privacy.output};
    assert_int_not_equal(sotto_head_release(&made, &q, &ctx), SOTTO_OK);
    assert_non_null(
        strstr(sotto_error_hint(), "was charged: charge 0 of the ledger; the same command continues"));
    assert_true(made.head && made.certificate);
    assert_int_equal(sotto_head_inputs(made.head), D);
    assert_true(file_exists(path_of("late.checkpoint")));
    sotto_head_free(made.head);
    sotto_certificate_free(made.certificate);
    assert_int_equal(rmdir(q.privacy.output), 0);
    assert_int_equal(release(&q), SOTTO_OK); /* from the checkpoint */
    assert_false(file_exists(path_of("late.checkpoint")));
    assert_int_equal(ledger_lines("late", "\"event\":\"reserve\""), 2);
}

TEST(a_caller_may_keep_the_checkpoint_and_a_fresh_start_forgets_it)
{
    const struct sotto_head_recipe r = recipe_of("dp-sgd");
    struct sotto_head_release_request q = request_of(&r, "kept");
    q.keep_checkpoint = 1;
    assert_int_equal(release(&q), SOTTO_OK);
    assert_true(file_exists(path_of("kept.checkpoint")));
    assert_int_equal(overwrite(path_of("kept.checkpoint"), "x", 1), 0); /* of no use */
    assert_int_equal(release(&q), SOTTO_EFORMAT);
    assert_int_equal(ledger_lines("kept", "\"event\":\"reserve\""), 1);
    q.fresh = 1, q.keep_checkpoint = 0;
    assert_int_equal(release(&q), SOTTO_OK);
    assert_false(file_exists(path_of("kept.checkpoint")));
}

TEST(canaries_are_tossed_before_the_charge_and_asked_after_it)
{
    const struct sotto_head_recipe r = recipe_of("dp-sgd");
    struct sotto_head_release_request q = request_of(&r, "canaries");
    q.canaries.count = 6;
    assert_int_equal(release(&q), SOTTO_OK);
    assert_true(file_exists(beside(&q, ".coins.json")) && file_exists(beside(&q, ".canaries.npz")));
    assert_int_equal(ledger_lines("canaries", "6 canaries"), 1); /* with the charge */
    assert_int_equal(release(&q), SOTTO_ECREATE); /* those coins are of a run that has finished */
    q.fresh = 1;
    assert_int_equal(release(&q), SOTTO_OK);
    q.privacy.canaries = (struct sotto_canaries *)&q; /* is not looked into */
    assert_int_equal(release(&q), SOTTO_EINVAL);
}

TEST(without_an_output_the_head_stays_in_memory)
{
    const struct sotto_head_recipe r = recipe_of("dp-sgd");
    struct sotto_head_release_request q = request_of(&r, "memory");
    q.privacy.output = NULL;
    assert_int_equal(release(&q), SOTTO_OK);
    assert_int_equal(ledger_lines("memory", "\"event\":\"reserve\""), 1);
    assert_int_equal(ledger_lines("memory", "\"event\":\"released\""), 0);
}

TEST_GROUP(.before = make_rows, .after = remove_folder)
