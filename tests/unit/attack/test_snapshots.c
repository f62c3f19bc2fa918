/* Intermediate models of a training, and trajectories over them: they are what shorter trainings give, an interrupted run keeps
 * the same, private trainings keep none; the attacks find a planted leak in them and nothing between records that are
 * exchangeable; a file that does not belong is named. */
#include "support/test.h"

#include "attack/query/snapshots.h"
#include "attack/target/target.h"
#include "audit/measure/metrics.h"
#include "base/file.h"
#include "train/network/network.h"
#include "sotto/private/all.h"
#include "support/audit_text.h"
#include "support/exercise.h"
#include "support/head_blobs.h"
#include "support/machine.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

enum { N = 80, POOL = 240, D = 8, K = 4, EPOCHS = 60, EVERY = 20 };
static float x[(3 * N + POOL) * D]; /* members, non-members, others, attacker */
static int64_t y[3 * N + POOL];
static const struct sotto_records member = {x, y, N}, nonmember = {x + N * D, y + N, N},
                                  third = {x + 2 * N * D, y + 2 * N, N},
                                  attacker = {x + 3 * N * D, y + 3 * N, POOL};
static const char *const names[] = {"loss-trajectory", "metric-trajectory"};

static struct sotto_train_options small_mlp(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "mlp";
    o.hidden_count = 1, o.hidden[0] = 64;
    o.epochs = EPOCHS, o.batch = 16, o.lr = 5e-3;
    o.dtype = machine.dtype, o.backend = machine.backend;
    return o;
}

static sotto_status train(struct sotto_network **out, const struct sotto_train_options *o,
                          const struct sotto_context *ctx)
{
    const struct sotto_dataset set = {
        .name = "blobs", .n = N, .features = x, .columns = D, .labels = y, .classes = K};
    return sotto_train(out, NULL, &set, NULL, 0, o, ctx);
}

/* SHA-256 of the weights. */
static void trained(char out[SHA256_HEX], const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    assert_int_equal(train(&n, o, &machine.context), SOTTO_OK);
    strcpy(out, sotto_network_sha256(n));
    sotto_network_free(n);
}

static void kept(char out[SHA256_HEX], const char *where, size_t epoch)
{
    struct sotto_network *n = NULL;
    char path[256], text[24];
    assert_int_equal(network_snapshot_path(path, sizeof path, where, epoch), SOTTO_OK);
    assert_int_equal(sotto_network_load(&n, path), SOTTO_OK);
    snprintf(text, sizeof text, "%zu", epoch);
    assert_string_equal(network_fact(n, TRAIN_EPOCH_KEY), text);
    assert_non_null(strstr(network_statement(n), "private records trained this network"));
    strcpy(out, sotto_network_sha256(n));
    sotto_network_free(n);
}

static int set_up(void **state)
{
    struct sotto_train_options o = small_mlp();
    struct sotto_network *n = NULL;
    if (make_folder(state))
        return -1;
    make_blobs(x, y, 3 * N + POOL, D, K, 2.5, 1);
    o.snapshot_every = EVERY, o.snapshots = path_of("snapshots");
    if (train(&n, &o, &machine.context) != SOTTO_OK ||
        sotto_network_save(path_of("target.safetensors"), n) != SOTTO_OK)
        return -1;
    sotto_network_free(n);
    return 0;
}

/* At a constant learning rate the first epochs of a long training are a short one. */
TEST(a_snapshot_is_what_a_shorter_training_gives)
{
    struct sotto_train_options o = small_mlp();
    struct sotto_network *n = NULL;
    char expected[SHA256_HEX], found[SHA256_HEX], path[256];
    for (size_t epoch = EVERY; epoch < EPOCHS; epoch += EVERY) {
        o.epochs = epoch;
        trained(expected, &o);
        kept(found, path_of("snapshots"), epoch);
        assert_string_equal(found, expected);
    }
    o.epochs = EPOCHS; /* the last one is the result, which the option does not change */
    trained(expected, &o);
    assert_int_equal(sotto_network_load(&n, path_of("target.safetensors")), SOTTO_OK);
    assert_string_equal(sotto_network_sha256(n), expected);
    assert_null(network_fact(n, TRAIN_EPOCH_KEY));
    sotto_network_free(n);
    assert_int_equal(network_snapshot_path(path, sizeof path, path_of("snapshots"), EPOCHS), SOTTO_OK);
    assert_false(file_exists(path));
}

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t after;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct stopper *s = user;
    (void)stage, (void)total, (void)unit;
    s->stop = done >= s->after;
}

TEST(an_interrupted_training_keeps_the_same)
{
    struct sotto_train_options o = small_mlp();
    char whole[SHA256_HEX], found[SHA256_HEX];
    o.schedule = "cosine", o.epochs = 6, o.snapshot_every = 2;
    o.snapshots = path_of("whole");
    trained(whole, &o);
    o.snapshots = path_of("cut"), o.checkpoint = path_of("cut.checkpoint");
    for (uint64_t epochs = 1; epochs < 6; epochs += 2) { /* in the midst of an epoch */
        struct stopper s = {0, epochs * N + N / 2};
        struct sotto_context ctx = machine.context;
        struct sotto_network *n = NULL;
        ctx.stop = &s.stop, ctx.progress = watch, ctx.user = &s;
        assert_int_equal(train(&n, &o, &ctx), SOTTO_ESTOPPED);
    }
    trained(found, &o);
    assert_string_equal(found, whole);
    for (size_t epoch = 2; epoch < 6; epoch += 2) {
        kept(whole, path_of("whole"), epoch);
        kept(found, path_of("cut"), epoch);
        assert_string_equal(found, whole);
    }
}

#define TRAIN_REFUSES(change, text)                                                                          \
    do {                                                                                                     \
        struct sotto_train_options o = small_mlp();                                                          \
        struct sotto_network *n = NULL;                                                                      \
        change;                                                                                              \
        assert_int_equal(train(&n, &o, &machine.context), SOTTO_EINVAL);                                     \
        assert_string_equal(sotto_error_text(), text);                                                       \
    } while (0)

TEST(bad_options_of_a_training_are_named)
{
    TRAIN_REFUSES(o.snapshots = path_of("no"), "snapshots: no model is kept; give snapshot_every");
    TRAIN_REFUSES(o.snapshot_every = 2, "snapshot_every needs a folder for the models; give snapshots");
    TRAIN_REFUSES((o.snapshot_every = EPOCHS, o.snapshots = path_of("no")),
                  "snapshot_every: 60 epochs leave no model before the last of 60 epochs; expected fewer");
    TRAIN_REFUSES((o.snapshot_every = 2, o.snapshots = path_of("no"), o.model = "resnet8", o.hidden_count = 0,
                   o.residual.members = 2, o.residual.independent = 1),
                  "snapshot_every: members that are trained independently have no common models to keep; "
                  "omit snapshot_every");
    assert_false(file_is_folder(path_of("no")));
}

/* Nothing is charged: the ledger does not come into being. */
TEST(a_private_training_keeps_none)
{
    struct sotto_train_options o = small_mlp();
    struct sotto_train_privacy p;
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    const struct sotto_dataset set = {
        .name = "blobs", .n = N, .features = x, .columns = D, .labels = y, .classes = K};
    sotto_train_privacy_defaults(&p);
    p.spend.ledger = path_of("ledger.jsonl");
    p.spend.dataset_id = "blobs";
    p.spend.purpose = "test";
    p.spend.source = &exercise;
    o.snapshot_every = 2, o.snapshots = path_of("private");
    p.noise_multiplier = 1;
    assert_int_equal(sotto_train_private(&n, &c, NULL, &set, NULL, 0, &o, &p, &machine.context),
                     SOTTO_EINVAL);
    assert_string_equal(
        sotto_error_text(),
        "snapshot_every: the certificate of DP-SGD is for the file of the last model; omit snapshot_every");
    p.noise_multiplier = 0;
    o.residual.radius = 1, o.residual.input_noise = 1;
    assert_int_equal(sotto_train_noisy_inputs(&n, &c, NULL, &set, NULL, 0, &o, &p, &machine.context),
                     SOTTO_EINVAL);
    assert_string_equal(
        sotto_error_text(),
        "snapshot_every: a certificate for inputs is for the file of the last model; omit snapshot_every");
    assert_null(n);
    assert_false(file_exists(p.spend.ledger) || file_is_folder(o.snapshots));
}

/* ---- attacks ---- */

static struct sotto_attack_input input(const struct sotto_records *a, const struct sotto_records *b)
{
    struct sotto_attack_input in = {.member = *a, .nonmember = *b, .attacker = attacker};
    assert_int_equal(sotto_target_open(&in.target, path_of("target.safetensors"), &machine.context),
                     SOTTO_OK);
    return in;
}

static struct sotto_attack_options options(const char *name)
{
    struct sotto_attack_options o;
    sotto_attack_defaults(&o);
    o.name = name;
    o.shadows = 4;
    o.snapshots = path_of("snapshots");
    o.cache = path_of("cache");
    return o;
}

static char said[256];

static void listen(void *user, enum sotto_log_level level, const char *text)
{
    (void)user;
    if (level == SOTTO_LOG_INFO && strncmp(text, "shadow models: ", 15) == 0)
        snprintf(said, sizeof said, "%s", text);
}

static struct sotto_estimate area(double scores[2 * N], const char *reused, const char *name,
                                  const struct sotto_records *a, const struct sotto_records *b)
{
    struct sotto_attack_input in = input(a, b);
    struct sotto_attack_options o = options(name);
    struct sotto_estimate e;
    char *text = NULL;
    int finished = 0;
    struct sotto_context listening = machine.context;
    listening.log = listen;
    sotto_status status = attack_text(&text, scores, &finished, &in, &o, &listening);
    if (status != SOTTO_OK)
        fail_msg("%s: %s", name, sotto_error_text());
    assert_true(finished);
    assert_non_null(strstr(text, "by its own intermediate models"));
    assert_non_null(strstr(text, "\"snapshots\":2,\"snapshot_every\":20"));
    assert_string_equal(said, reused);
    assert_int_equal(target_used(in.target), 2 * N); /* nothing is asked to teach students */
    sotto_text_free(text);
    sotto_target_close(in.target);
    assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.9999), SOTTO_OK);
    return e;
}

TEST(a_planted_leak_is_found_and_no_other)
{
    static const char fresh[] = "shadow models: 4 trained, 0 from the cache, 0 missing",
                      cached[] = "shadow models: 0 trained, 4 from the cache, 0 missing";
    for (size_t i = 0; i < 2; i++) {
        double scores[2 * N], again[2 * N];
        const struct sotto_estimate leak = area(scores, i ? cached : fresh, names[i], &member, &nonmember);
        area(again, cached, names[i], &member, &nonmember);
        assert_memory_equal(again, scores, sizeof scores);
        const struct sotto_estimate none = area(scores, cached, names[i], &nonmember, &third);
        print_message("%s: %.3f [%.3f, %.3f], none: %.3f [%.3f, %.3f]\n", names[i], leak.estimate, leak.lower,
                      leak.upper, none.estimate, none.lower, none.upper);
        assert_true(leak.lower > 0.5);
        assert_true(none.lower < 0.5 && none.upper > 0.5);
    }
}

/* What is read of a record at each stop is the answer of the training that ended there. */
TEST(trajectories_are_answers_of_shorter_trainings)
{
    struct sotto_network *last = NULL, *shorter = NULL;
    struct snapshots s;
    const struct head_data records = {x, y, N, D, K};
    float found[N * K], expected[N * K];
    struct sotto_train_options o = small_mlp();
    assert_int_equal(sotto_network_load(&last, path_of("target.safetensors")), SOTTO_OK);
    assert_int_equal(snapshots_open(&s, path_of("snapshots"), last), SOTTO_OK);
    assert_int_equal(s.every, EVERY);
    assert_int_equal(s.count, 2);
    for (size_t i = 0; i < s.count; i++) {
        o.epochs = (i + 1) * EVERY;
        assert_int_equal(train(&shorter, &o, &machine.context), SOTTO_OK);
        assert_int_equal(sotto_network_predict(expected, shorter, x, N, D, 0, &machine.context), SOTTO_OK);
        assert_int_equal(snapshots_ask(found, &s, i, &records, &machine.context), SOTTO_OK);
        assert_memory_equal(found, expected, sizeof found);
        sotto_network_free(shorter);
    }
    sotto_network_free(last);
}

static void copy(const char *from, const char *to)
{
    unsigned char *data = NULL;
    size_t size;
    assert_int_equal(file_read(&data, &size, from, 1u << 24), SOTTO_OK);
    assert_int_equal(file_write(to, data, size), SOTTO_OK);
    base_free(data);
}

#define ATTACK_REFUSES(code, change, part)                                                                   \
    do {                                                                                                     \
        struct sotto_attack_input in = input(&member, &nonmember);                                           \
        struct sotto_attack_options o = options("loss-trajectory");                                          \
        double scores[2 * N];                                                                                \
        char *text = NULL;                                                                                   \
        int finished;                                                                                        \
        change;                                                                                              \
        assert_int_equal(attack_text(&text, scores, &finished, &in, &o, &machine.context), code);            \
        if (!strstr(sotto_error_text(), part))                                                               \
            fail_msg("%s", sotto_error_text());                                                              \
        sotto_target_close(in.target);                                                                       \
    } while (0)

TEST(what_does_not_belong_is_named)
{
    struct sotto_train_options t = small_mlp();
    struct sotto_head *h = NULL;
    char unused[SHA256_HEX];
    ATTACK_REFUSES(SOTTO_EUSAGE, o.name = "shokri",
                   "attack: shokri reads no intermediate models; snapshots is for loss-trajectory and "
                   "metric-trajectory");
    ATTACK_REFUSES(SOTTO_EUSAGE, o.cache = NULL,
                   "attack: snapshots needs cache, the folder in which shadows keep their intermediate");
    ATTACK_REFUSES(SOTTO_EUSAGE, o.snapshots = path_of("cache"),
                   "cache: holds no intermediate model of 60 epochs");
    ATTACK_REFUSES(SOTTO_EINVAL, (o.shadow.epochs = 40, o.mismatch = 1),
                   "attack: shadows of 40 epochs, but the target was trained for 60");
    /* a head is no network, and a model of epoch 20 no end */
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, NULL, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path_of("head.safetensors"), h), SOTTO_OK);
    sotto_head_free(h);
    ATTACK_REFUSES(
        SOTTO_EUSAGE,
        (sotto_target_close(in.target),
         assert_int_equal(sotto_target_open(&in.target, path_of("head.safetensors"), NULL), SOTTO_OK)),
        "needs a network of 'sotto train' as target=FILE");
    ATTACK_REFUSES(
        SOTTO_EUSAGE,
        (sotto_target_close(in.target),
         assert_int_equal(sotto_target_open(&in.target, path_of("snapshots/epoch-000020.safetensors"), NULL),
                          SOTTO_OK)),
        "attack: the target is itself the intermediate model of epoch 20; expected the last one, of 60 "
        "epochs");
    /* missing, renamed, of another kind */
    assert_int_equal(folder_make(path_of("bad")), SOTTO_OK);
    copy(path_of("snapshots/epoch-000020.safetensors"), path_of("bad/epoch-000020.safetensors"));
    ATTACK_REFUSES(SOTTO_ENOENT, o.snapshots = path_of("bad"),
                   "bad/epoch-000040.safetensors: is missing; expected the model of every 20 epochs");
    copy(path_of("snapshots/epoch-000020.safetensors"), path_of("bad/epoch-000040.safetensors"));
    ATTACK_REFUSES(
        SOTTO_EINVAL, o.snapshots = path_of("bad"),
        "bad/epoch-000040.safetensors: the model is of epoch 20; expected epoch 40, as its name says");
    copy(path_of("target.safetensors"), path_of("bad/epoch-000040.safetensors"));
    ATTACK_REFUSES(SOTTO_EINVAL, o.snapshots = path_of("bad"), "is of epoch unknown; expected epoch 40");
    copy(path_of("head.safetensors"), path_of("bad/epoch-000040.safetensors"));
    ATTACK_REFUSES(SOTTO_EFORMAT, o.snapshots = path_of("bad"), "bad/epoch-000040.safetensors: ");
    /* of another training: its recipe, its records */
    t.snapshot_every = EVERY, t.snapshots = path_of("other"), t.seed = 2;
    trained(unused, &t);
    ATTACK_REFUSES(
        SOTTO_EINVAL, o.snapshots = path_of("other"),
        "other/epoch-000020.safetensors: is no earlier state of the last model, as its recipe differs");
    t.seed = 1;
    y[0] = (y[0] + 1) % K;
    struct sotto_dataset set = {
        .name = "blobs", .n = N - 1, .features = x, .columns = D, .labels = y, .classes = K};
    struct sotto_network *n = NULL;
    assert_int_equal(sotto_train(&n, NULL, &set, NULL, 0, &t, &machine.context), SOTTO_OK);
    y[0] = (y[0] + K - 1) % K;
    sotto_network_free(n);
    ATTACK_REFUSES(
        SOTTO_EINVAL, o.snapshots = path_of("other"),
        "other/epoch-000020.safetensors: is no earlier state of the last model, as 'records' differs");
}

TEST(memory_may_run_out)
{
    struct sotto_train_options o = small_mlp();
    o.epochs = 2, o.snapshot_every = 1, o.snapshots = path_of("memory");
    sotto_status status = SOTTO_ENOMEM;
    for (long k = 0; status != SOTTO_OK; k += 3) {
        struct sotto_network *n = NULL;
        base_alloc_fail_after(k);
        status = train(&n, &o, &machine.context);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM || (status == SOTTO_OK && n));
        sotto_network_free(n);
    }
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .start = machine_f32, .tags = "matrix")
