/* sotto_train_release(): the order of sotto_head_release(), for networks. Noise is seeded where bytes are compared; one thread. */
#include "support/test.h"

#include "base/file.h"
#include "sotto/certificate.h"
#include "sotto/lab/ledger.h"
#include "sotto/lab/train.h"
#include "support/machine.h"
#include "support/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

enum { N = 40, D = 6, K = 2, LIMIT = 1 << 20 };

static float x[N * D];
static int64_t y[N];
static const struct sotto_dataset records = {
    .name = "rows", .sha256 = "rows", .n = N, .columns = D, .features = x, .classes = K, .labels = y};
static const struct sotto_context single = {.threads = 1};

static int make_rows(void **state)
{
    for (size_t i = 0; i < N; i++) {
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(i * 7 % 11) / 11 + (j % K == i % K ? 1.0f : 0.0f);
    }
    return make_folder(state);
}

static struct sotto_train_options options_of(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "mlp";
    o.hidden_count = 1, o.hidden[0] = 4;
    o.epochs = 2;
    o.batch = 10;
    o.dtype = "f32";
    o.backend = machine.backend;
    return o;
}

/* The output has the name of the data set. One request at a time: path_of() forgets. */
static struct sotto_train_release_request request_of(const struct sotto_train_options *o, const char *dataset)
{
    static char output[128];
    struct sotto_train_release_request q = {.data = &records, .options = o};
    snprintf(output, sizeof output, "%s", path_of(dataset));
    sotto_train_privacy_defaults(&q.privacy);
    q.privacy.noise_multiplier = 2;
    q.privacy.spend.dataset_id = dataset;
    q.privacy.spend.insecure = 1;
    q.privacy.spend.insecure_seed = 5;
    q.privacy.output = output;
    return q;
}

static sotto_status release(const struct sotto_train_release_request *q)
{
    struct sotto_train_release_result made = {0};
    const sotto_status status = sotto_train_release(&made, q, &single);
    if (status == SOTTO_OK)
        assert_true(made.network && made.certificate);
    sotto_network_free(made.network);
    sotto_certificate_free(made.certificate);
    return status;
}

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

TEST(it_makes_what_its_parts_make)
{
    const struct sotto_train_options o = options_of();
    const struct sotto_train_release_request q = request_of(&o, "one");
    struct sotto_train_privacy p = q.privacy;
    struct sotto_network *network = NULL;
    struct sotto_certificate *certificate = NULL;
    unsigned char *left, *right;
    static unsigned char digests[N][SOTTO_DIGEST];
    size_t m, n, shared = 0;
    assert_int_equal(release(&q), SOTTO_OK);
    assert_false(file_exists(path_of("one.checkpoint")));
    assert_int_equal(ledger_lines("one", "\"event\":\"released\""), 1);
    sotto_array_digests(digests, x, y, N, D);
    assert_int_equal(sotto_ledger_overlap(&shared, "one", digests, N), SOTTO_OK);
    assert_int_equal(shared, N);
    p.spend.dataset_id = "two";
    assert_int_equal(sotto_train_private(&network, &certificate, NULL, &records, NULL, N, &o, &p, &single),
                     SOTTO_OK);
    assert_int_equal(sotto_network_save_private(path_of("two"), network, certificate), SOTTO_OK);
    assert_int_equal(file_read(&left, &m, path_of("one"), LIMIT), SOTTO_OK);
    assert_int_equal(file_read(&right, &n, path_of("two"), LIMIT), SOTTO_OK);
    assert_true(m == n && memcmp(left, right, n) == 0);
    base_free(left);
    base_free(right);
    sotto_network_free(network);
    sotto_certificate_free(certificate);
}

TEST(what_is_refused_is_refused_before_the_charge)
{
    const struct sotto_train_options o = options_of();
    const struct sotto_train_release_request good = request_of(&o, "refused");
    struct sotto_train_release_request q = good;
    q.canaries.count = 4;
    q.privacy.spend.dataset_id = NULL;
    assert_int_equal(release(&q), SOTTO_EINVAL);
    q = good, q.canaries.count = 4;
    q.privacy.output = NULL;
    assert_int_equal(release(&q), SOTTO_EINVAL);
    q = good;
    q.privacy.output = path_of("no-folder/refused");
    assert_int_equal(release(&q), SOTTO_ECREATE);
    assert_false(file_exists(path_of("refused.coins.json")));
    assert_int_equal(ledger_lines("refused", "\"event\""), 0);
    assert_int_equal(release(&good), SOTTO_OK); /* the others differ from this one in one thing each */
    assert_int_equal(ledger_lines("refused", "\"event\":\"reserve\""), 1);
}

/* In place of the file. */
static void make_a_folder(void *output, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)done, (void)total, (void)unit;
    mkdir(output, 0700);
}

TEST(a_failure_after_the_charge_names_it_and_hands_over_the_network)
{
    const struct sotto_train_options o = options_of();
    const struct sotto_train_release_request q = request_of(&o, "late");
    struct sotto_train_release_result made = {0};
    struct sotto_context ctx = single;
    ctx.progress = make_a_folder;
    ctx.user = (void *)(uintptr_t)q.privacy.output;
    assert_int_not_equal(sotto_train_release(&made, &q, &ctx), SOTTO_OK);
    assert_non_null(
        strstr(sotto_error_hint(), "was charged: charge 0 of the ledger; the same command continues"));
    assert_true(made.network && made.certificate);
    sotto_network_free(made.network);
    sotto_certificate_free(made.certificate);
    assert_int_equal(rmdir(q.privacy.output), 0);
    assert_int_equal(release(&q), SOTTO_OK); /* from the checkpoint */
    assert_false(file_exists(path_of("late.checkpoint")));
}

TEST(canaries_are_tossed_before_the_charge_and_asked_after_it)
{
    const struct sotto_train_options o = options_of();
    struct sotto_train_release_request q = request_of(&o, "canaries");
    q.canaries.count = 6, q.canaries.kind = SOTTO_CANARY_RANDOM;
    assert_int_equal(release(&q), SOTTO_OK);
    assert_true(file_exists(path_of("canaries.coins.json")) && file_exists(path_of("canaries.canaries.npz")));
    assert_int_equal(ledger_lines("canaries", "6 canaries"), 1); /* with the charge */
    assert_int_equal(release(&q), SOTTO_ECREATE); /* those coins are of a run that has finished */
    q.fresh = 1;
    assert_int_equal(release(&q), SOTTO_OK);
}

TEST_GROUP(.before = make_rows, .after = remove_folder)
