/* Trainers that end in a certificate: a record they cannot use counts as nothing, in silence; a row counts
 * once. */
#include "support/test.h"
#include "support/exercise.h"

#include "base/memory.h"
#include "rng/rng.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/lab/provenance.h"
#include "sotto/lab/train.h"
#include "support/temporary_folder.h"
#include "support/certificate_text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { N = 90, D = 6, K = 3, ODD = 11, MOST = 400 };

static float x[N * D];
static int64_t y[N];

static int make_records(void **state)
{
    struct rng r = rng_stream(3, RNG_TEST, 7, 0);
    for (size_t i = 0; i < N; i++) {
        y[i] = (int64_t)(i % 2); /* class 2 is absent */
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(0.3 * rng_normal(&r) + (j % 2 == i % 2 ? 1 : 0));
    }
    return make_folder(state);
}

/* What is heard while training: log lines, one after the other. */
struct heard {
    char lines[2000];
};
static void listen(void *user, enum sotto_log_level level, const char *text)
{
    struct heard *heard = user;
    (void)level;
    strncat(heard->lines, text, sizeof heard->lines - strlen(heard->lines) - 1);
}

struct outcome {
    float weights[MOST];
    size_t count;
    struct heard heard;
};

/* A record that no trainer can use, in place of record ODD; kind 0: the record as it is. */
static void make_odd(float *features, int64_t *labels, size_t kind)
{
    static const struct {
        int64_t label;
        float cell;
    } odd[] = {{0, 0}, {K, 0}, {-1, 0}, {INT64_MAX, 0}, {1, NAN}, {1, INFINITY}};
    memcpy(features, x, sizeof x);
    memcpy(labels, y, sizeof y);
    if (kind == 0)
        return;
    labels[ODD] = odd[kind].label;
    features[ODD * D + 2] = odd[kind].cell;
}
enum { KINDS = 6 };

typedef void trainer(struct outcome *out, const float *features, const int64_t *labels, const void *how);

static void train_head(struct outcome *out, const float *features, const int64_t *labels, const void *how)
{
    struct sotto_head_recipe r = *(const struct sotto_head_recipe *)how;
    struct sotto_head_privacy p = {
        .target = {NAN, 1e-5}, .spend = {.ledger = path_of("l.jsonl"), .insecure = 1, .insecure_seed = 3}};
    struct sotto_context ctx = {.log = listen, .user = &out->heard};
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    unlink(p.spend.ledger);
    p.spend.dataset_id = "toy";
    p.spend.source = &exercise;
    assert_int_equal(sotto_head_train_private(&h, &certificate, features, labels, N, D, K, &r, &p, &ctx),
                     SOTTO_OK);
    const float *w = sotto_head_parameters(h, &out->count);
    assert_true(out->count <= MOST);
    memcpy(out->weights, w, out->count * sizeof *w);
    sotto_certificate_free(certificate);
    sotto_head_free(h);
}

static void train_network(struct outcome *out, const float *features, const int64_t *labels, const void *how)
{
    struct sotto_dataset records = {
        .name = "toy", .n = N, .columns = D, .features = features, .labels = labels, .classes = 2};
    struct sotto_context ctx = {.log = listen, .user = &out->heard, .threads = 1};
    struct sotto_train_options o;
    struct sotto_train_privacy p;
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    sotto_train_defaults(&o);
    sotto_train_privacy_defaults(&p);
    o.model = "mlp";
    o.hidden_count = 1;
    o.hidden[0] = 4;
    o.epochs = 2;
    o.batch = 15;
    p.noise_multiplier = 1;
    p.classes = K;
    p.clipping = how;
    p.spend.dataset_id = "toy";
    p.spend.source = &exercise;
    p.spend.ledger = path_of("l.jsonl");
    p.spend.insecure = 1;
    unlink(p.spend.ledger);
    assert_int_equal(sotto_train_private(&n, &certificate, NULL, &records, NULL, 0, &o, &p, &ctx), SOTTO_OK);
    assert_int_equal(sotto_network_classes(n), K);
    float probe[4 * K];
    assert_int_equal(sotto_network_predict(probe, n, x, 4, D, 1, NULL), SOTTO_OK);
    out->count = 4 * K;
    memcpy(out->weights, probe, sizeof probe);
    assert_true(certificate_holds(certificate, "\"classes\": {\n    \"count\": 3,"));
    sotto_certificate_free(certificate);
    sotto_network_free(n);
}

/* With seeded noise: whatever makes a record useless, the result is that of the others; and it has an effect
 * where it is none. */
static void check_trainer(trainer *train, const void *how)
{
    static float features[N * D];
    int64_t labels[N];
    struct outcome whole = {.count = 0}, first, other;
    make_odd(features, labels, 0);
    train(&whole, features, labels, how);
    for (size_t kind = 1; kind < KINDS; kind++) {
        memset(&other, 0, sizeof other);
        make_odd(features, labels, kind);
        train(&other, features, labels, how);
        if (kind == 1)
            first = other;
        assert_int_equal(other.count, whole.count);
        assert_memory_equal(other.weights, first.weights, other.count * sizeof *other.weights);
        assert_memory_not_equal(other.weights, whole.weights, other.count * sizeof *other.weights);
        assert_string_equal(other.heard.lines, whole.heard.lines);
    }
}

TEST(heads_take_a_useless_record_for_nothing)
{
    static const char *const trainers[] = {
        "dp-sgd", "dp-adam", "dp-gd", "objective", "covariance", "functional", "functional-linear", "taylor"};
    for (size_t t = 0; t < sizeof trainers / sizeof *trainers; t++)
        for (size_t hidden = 0; hidden < (t < 2 ? 2 : 1); hidden++) {
            struct sotto_head_recipe r;
            sotto_head_defaults(&r);
            r.trainer = trainers[t];
            r.noise_multiplier = 1;
            r.epochs = 2;
            r.batch = 15;
            r.steps = 8;
            r.hidden_count = hidden;
            r.hidden[0] = 5;
            if (t >= 3)
                r.noise = NULL;
            check_trainer(train_head, &r);
        }
}

TEST(networks_take_a_useless_record_for_nothing)
{
    check_trainer(train_network, "flat");
    check_trainer(train_network, "quantile");
}

TEST(a_row_counts_once)
{
    static const int64_t once[] = {4, 2, 9}, twice[] = {7, 17, 3, 3, 17, 7};
    assert_int_equal(sotto_rows_once(once, 3, "indices.npy"), SOTTO_OK);
    assert_int_equal(sotto_rows_once(NULL, 0, "indices.npy"), SOTTO_OK);
    assert_int_equal(sotto_rows_once(twice, 6, "indices.npy"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "indices.npy: row 3 is listed twice (entries 2 and 3); expected each record once");
    assert_int_equal(sotto_provenance_once(NULL), SOTTO_OK);
    assert_int_equal(sotto_provenance_once(&(struct sotto_provenance){.n = N}), SOTTO_OK);
}

/* Nothing is charged for records if their source lists one twice, with any trainer. */
TEST(a_source_row_counts_once)
{
    static const char *const trainers[] = {"dp-sgd", "covariance"};
    int64_t rows[N];
    for (size_t i = 0; i < N; i++)
        rows[i] = (int64_t)i * 3;
    rows[N - 1] = 6;
    struct sotto_provenance from = {.set = "survey", .n = N, .rows = rows};
    for (size_t t = 0; t < 2; t++) {
        struct sotto_head_privacy p = {
            .target = {NAN, 1e-5},
            .spend = {
                .ledger = path_of("l.jsonl"), .dataset_id = "toy", .source = &exercise, .provenance = &from}};
        struct sotto_head_recipe r;
        struct sotto_head *h = NULL;
        struct sotto_certificate *certificate = NULL;
        sotto_head_defaults(&r);
        r.trainer = trainers[t];
        r.noise_multiplier = 1;
        unlink(p.spend.ledger);
        assert_int_equal(sotto_head_train_private(&h, &certificate, x, y, N, D, K, &r, &p, NULL),
                         SOTTO_EINVAL);
        assert_string_equal(sotto_error_text(),
                            "survey: row 6 is listed twice (entries 2 and 89); expected each record once");
        assert_true(!h && !certificate && access(p.spend.ledger, F_OK) != 0);
    }
}

TEST_GROUP(.set_up = make_records, .tear_down = remove_folder, .tags = "long")
