/* Training on released inputs: the certificate is the account of the noise, what is trained on is clipped
 * input and noise of the scale that was charged, an interrupted run pays again, labels are flipped by the law
 * that is charged, and what would break the proof is refused before anything is charged. */
#include "support/test.h"
#include "support/exercise.h"
#include "base/file.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/json/json.h"
#include "nn/loop/checkpoint_seal.h"
#include "support/machine.h"
#include "sotto/lab/canary.h"
#include "sotto/private/io.h"
#include "sotto/lab/train.h"
#include "support/temporary_folder.h"
#include "train/network/network.h"
#include "support/certificate_text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { N = 24, SIDE = 8, D = SIDE * SIDE, EPOCHS = 3 };
static float x[N * D];
static int64_t y[N];
static struct sotto_dataset records = {
    .name = "squares", .n = N, .features = x, .columns = D, .labels = y, .classes = 2};
static const struct sotto_context single = {.threads = 1};
static char ledger[128];

static int set_up(void **state)
{
    if (make_folder(state))
        return -1;
    strcpy(ledger, path_of("ledger.jsonl"));
    strcpy(records.sha256, "squares");
    for (size_t i = 0; i < N * D; i++)
        x[i] = .125f + .001f * (float)(i % 7); /* norms a little above 1 */
    for (size_t i = 0; i < N; i++)
        y[i] = (int64_t)i % 2;
    return 0;
}

static struct sotto_train_options options(double noise)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "resnet8";
    o.channels = 1, o.height = SIDE, o.width = SIDE;
    o.epochs = EPOCHS;
    o.batch = 8;
    o.dtype = "f32";
    o.backend = machine.backend;
    o.residual =
        (struct sotto_residual_noise){.kind = "additive", .gamma = .5, .input_noise = noise, .radius = 1};
    return o;
}

static struct sotto_train_privacy privacy(void)
{
    struct sotto_train_privacy p;
    sotto_train_privacy_defaults(&p);
    p.target.delta = 1e-5;
    p.spend.dataset_id = "toy";
    p.spend.source = &exercise;
    p.spend.ledger = ledger;
    return p;
}

static sotto_status train(struct sotto_network **n, struct json **certificate,
                          const struct sotto_train_options *o, const struct sotto_train_privacy *p,
                          const struct sotto_context *ctx)
{
    struct sotto_certificate *text = NULL;
    sotto_status status = sotto_train_noisy_inputs(n, &text, NULL, &records, NULL, 0, o, p, ctx);
    if (status == SOTTO_OK) {
        char *json = certificate_text(text);
        assert_int_equal(json_parse(certificate, json, strlen(json), "certificate"), SOTTO_OK);
        sotto_text_free(json);
    }
    sotto_certificate_free(text);
    return status;
}

static void must_train(struct sotto_network **n, struct json **certificate,
                       const struct sotto_train_options *o, const struct sotto_train_privacy *p)
{
    if (train(n, certificate, o, p, &single) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
}

static double proved(const struct json *certificate)
{
    return json_number(json_find(certificate, "guarantee.proved.epsilon.upper"));
}

/* By the account of releases: each epoch releases every input, of which one moves by two radii. */
static double account(double noise)
{
    struct sotto_account a;
    const struct sotto_sensitivity s = {.l2 = 2};
    assert_int_equal(sotto_account_release(&a, "gaussian", noise, &s, 1e-5, EPOCHS, NULL), SOTTO_OK);
    return a.epsilon.upper;
}

TEST(the_certificate_is_the_account_of_the_noise)
{
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    struct sotto_network *n = NULL, *back = NULL;
    struct json *c = NULL;
    must_train(&n, &c, &o, &p);
    assert_true(fabs(proved(c) / account(2) - 1) < 1e-6);
    assert_string_equal(json_text(json_find(c, "guarantee.proved.adjacency")), "replace-input");
    assert_int_equal(json_whole(json_find(c, "run.steps.charged")), EPOCHS);
    assert_int_equal(json_whole(json_find(c, "dimension")), N * D);
    assert_int_equal(access(ledger, F_OK), 0);
    json_free(c);
    /* The file answers with clipped and noisy inputs, tells how it was made and nothing of the records. */
    assert_int_equal(sotto_network_save(path_of("m.safetensors"), n), SOTTO_OK);
    assert_int_equal(sotto_network_load(&back, path_of("m.safetensors")), SOTTO_OK);
    assert_true(back->config.input_noise == 2 && back->config.radius == 1);
    assert_true(sotto_network_recipe(back)->residual.input_noise == 2);
    assert_non_null(network_fact(back, "input_release"));
    assert_null(network_fact(back, "data_sha256"));
    assert_null(network_fact(back, "rows_sha256"));
    assert_string_equal(network_statement(back), "");
    sotto_network_free(n);
    sotto_network_free(back);
}

/* Any network is trained on the copy, and answers with clipped and noisy inputs, as one of the file does. */
TEST(every_network_can_be_trained)
{
    static const char *const models[] = {"mlp", "cnn", "deep-sets", "resnet18", "mobilenetv2"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct sotto_train_options o = options(2);
        struct sotto_train_privacy p = privacy();
        struct sotto_network *n = NULL, *back = NULL;
        struct json *c = NULL;
        float one[2 * N], two[2 * N];
        o.model = models[i];
        o.residual.kind = NULL, o.residual.gamma = 0;
        o.epochs = 1;
        must_train(&n, &c, &o, &p);
        assert_string_equal(json_text(json_find(c, "guarantee.proved.adjacency")), "replace-input");
        assert_int_equal(sotto_network_save(path_of("m.safetensors"), n), SOTTO_OK);
        assert_int_equal(sotto_network_load(&back, path_of("m.safetensors")), SOTTO_OK);
        assert_true(back->config.input_noise == 2 && back->config.radius == 1 && network_is_noisy(back));
        assert_int_equal(sotto_network_predict(one, back, x, N, D, 0, &single), SOTTO_OK);
        assert_int_equal(sotto_network_predict(two, back, x, N, D, 0, &single), SOTTO_OK);
        assert_memory_not_equal(one, two, sizeof one);
        json_free(c);
        sotto_network_free(n);
        sotto_network_free(back);
    }
}

TEST(a_target_finds_the_noise)
{
    struct sotto_train_options o = options(0);
    struct sotto_train_privacy p = privacy();
    struct sotto_network *n = NULL;
    struct json *c = NULL;
    p.target.epsilon = 4;
    must_train(&n, &c, &o, &p);
    assert_true(proved(c) <= 4 && proved(c) > 3.999);
    double noise = sotto_network_recipe(n)->residual.input_noise;
    assert_true(fabs(account(noise) / 4 - 1) < 1e-4);
    json_free(c);
    sotto_network_free(n);
}

/* The mean loss of one epoch over many records; the mean of the input decides the label. */
static double loss_of(double noise, double label_epsilon)
{
    enum { MANY = 12 * N };
    static float inputs[MANY * D];
    static int64_t labels[MANY];
    struct sotto_dataset clear = {
        .name = "clear", .n = MANY, .features = inputs, .columns = D, .labels = labels, .classes = 2};
    struct sotto_train_options o = options(noise);
    struct sotto_train_privacy p = privacy();
    struct sotto_train_result r;
    struct sotto_network *n = NULL;
    struct sotto_certificate *text = NULL;
    strcpy(clear.sha256, "clear");
    for (size_t i = 0; i < MANY; i++)
        labels[i] = (int64_t)i % 2;
    for (size_t i = 0; i < MANY * D; i++)
        inputs[i] = labels[i / D] ? .12f : -.12f;
    o.epochs = 1;
    o.lr = 1e-2;
    o.residual.kind = NULL, o.residual.gamma = 0;
    p.spend.insecure = 1;
    p.spend.insecure_seed = 7;
    p.label_epsilon = label_epsilon;
    if (sotto_train_noisy_inputs(&n, &text, &r, &clear, NULL, 0, &o, &p, &single) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(certificate_holds(text, "noise was seeded: no privacy guarantee"));
    assert_non_null(strstr(network_fact(n, "randomness"), "no privacy guarantee"));
    sotto_certificate_free(text);
    sotto_network_free(n);
    return r.loss;
}

/* Little noise leaves what can be learnt and much noise nothing, as do labels that are coins: so the network
 * does see what was released. A seed makes the runs repeatable, and is stamped. */
TEST(what_was_released_is_what_training_sees)
{
    assert_true(loss_of(1e-2, 0) < .2);
    assert_true(loss_of(50, 0) > .4);
    assert_true(loss_of(1e-2, 1e-2) > .4);
}

struct stopper {
    volatile sig_atomic_t stop;
    int steps;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct stopper *s = user;
    (void)stage, (void)done, (void)total, (void)unit;
    s->stop = ++s->steps == 4; /* in the second epoch of three steps */
}

TEST(an_interrupted_epoch_is_charged_again)
{
    struct sotto_certificate *text = NULL;
    char checkpoint[128];
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    struct sotto_network *n = NULL;
    struct json *c = NULL;
    struct stopper stopper = {0};
    struct sotto_context ctx = {.threads = 1, .stop = &stopper.stop, .progress = watch, .user = &stopper};
    strcpy(checkpoint, path_of("state"));
    o.checkpoint = checkpoint;
    p.reserve = 1;
    assert_int_equal(sotto_train_noisy_inputs(&n, &text, NULL, &records, NULL, 0, &o, &p, &ctx),
                     SOTTO_ESTOPPED);
    must_train(&n, &c, &o, &p);
    assert_int_equal(json_whole(json_find(c, "run.steps.charged")), EPOCHS + 1);
    assert_true(proved(c) > 1.01 * account(2));
    json_free(c);
    sotto_network_free(n);
    x[3] += .5f; /* other records than the checkpoint's: other hash */
    strcpy(records.sha256, "others");
    n = NULL;
    assert_int_equal(train(&n, &c, &o, &p, &single), SOTTO_EINVAL);
    strcpy(records.sha256, "squares");
    x[3] -= .5f;
}

/* Stopped in its first epoch, a run leaves the labels that it trains on in its checkpoint: true ones with
 * probability e^t / (e^t + k - 1), the others all alike. The seed repeats them. What goes on keeps them and
 * pays once. */
TEST(labels_are_flipped_once_by_the_law)
{
    enum { MANY = 4000, CLASSES = 4 };
    const double t = 1, keep = exp(t) / (exp(t) + CLASSES - 1);
    static float few[MANY * D];
    static int64_t truth[MANY];
    struct sotto_certificate *text = NULL;
    char checkpoint[128];
    struct sotto_dataset many = {
        .name = "many", .n = MANY, .features = few, .columns = D, .labels = truth, .classes = CLASSES};
    strcpy(many.sha256, "many");
    for (size_t i = 0; i < MANY; i++)
        truth[i] = (int64_t)(i * i % CLASSES == 1) * 2; /* classes 0 and 2 */
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    struct stopper stopper = {.steps = 3}; /* stops after one step */
    struct sotto_context ctx = {.threads = 1, .stop = &stopper.stop, .progress = watch, .user = &stopper};
    struct sotto_network *n = NULL;
    strcpy(checkpoint, path_of("state"));
    o.checkpoint = checkpoint;
    o.epochs = 1;
    o.batch = MANY / 2;
    o.residual.kind = NULL, o.residual.gamma = 0;
    p.label_epsilon = t;
    p.spend.insecure = 1;
    p.spend.insecure_seed = 5;
    assert_int_equal(sotto_train_noisy_inputs(&n, &text, NULL, &many, NULL, 0, &o, &p, &ctx), SOTTO_ESTOPPED);
    struct sotto_tensors saved = {0};
    assert_int_equal(safetensors_load(&saved, checkpoint), SOTTO_OK);
    const struct sotto_array *found = tensors_find(&saved, "private.labels");
    assert_non_null(found);
    size_t kept = 0, to[CLASSES] = {0};
    for (size_t i = 0; i < MANY; i++) {
        int64_t label = ((const int64_t *)found->data)[i];
        assert_true(label >= 0 && label < CLASSES);
        kept += label == truth[i];
        to[label] += label != truth[i];
    }
    sotto_tensors_clear(&saved);
    assert_true(fabs((double)kept - MANY * keep) < 4 * sqrt(MANY * keep * (1 - keep)));
    /* of n flipped zeros and twos a third each goes to 1 and to 3 */
    double third = (MANY - (double)kept) / 3;
    assert_true(fabs((double)to[1] - third) < 4 * sqrt(2 * third / 3 * 1.5));
    assert_true(fabs((double)to[3] - third) < 4 * sqrt(2 * third / 3 * 1.5));
    if (sotto_train_noisy_inputs(&n, &text, NULL, &many, NULL, 0, &o, &p, &single) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(certificate_holds(text, "noise was seeded: no privacy guarantee"));
    assert_non_null(strstr(network_fact(n, "randomness"), "no privacy guarantee"));
    assert_non_null(strstr(network_fact(n, "input_release"), "label_epsilon=1\n"));
    sotto_certificate_free(text);
    sotto_network_free(n);
    size_t labels = 0, inputs = 0, size;
    unsigned char *book;
    assert_int_equal(file_read(&book, &size, ledger, 1 << 20), SOTTO_OK);
    for (const char *at = (const char *)book; (at = strstr(at, "\"event\":\"")); at += 9) {
        labels += strncmp(at + 9, "release\"", 8) == 0;
        inputs += strncmp(at + 9, "reserve\"", 8) == 0;
    }
    base_free(book);
    assert_int_equal(labels, 1);
    assert_int_equal(inputs, 2);
}

TEST(labels_count_in_the_certificate)
{
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    struct sotto_network *n = NULL;
    struct json *c = NULL;
    p.label_epsilon = 1.5;
    must_train(&n, &c, &o, &p);
    assert_true(fabs(proved(c) / (account(2) + 1.5) - 1) < 1e-6);
    assert_string_equal(json_text(json_find(c, "guarantee.proved.adjacency")), "replace-one");
    json_free(c);
    sotto_network_free(n);
    n = NULL, c = NULL;
    o.residual.input_noise = 0; /* a target holds for both together */
    p.target.epsilon = 4;
    must_train(&n, &c, &o, &p);
    assert_true(proved(c) <= 4 && proved(c) > 3.999);
    assert_true(fabs(account(sotto_network_recipe(n)->residual.input_noise) / 2.5 - 1) < 1e-4);
    json_free(c);
    sotto_network_free(n);
}

TEST(damaged_labels_stop_a_run)
{
    char checkpoint[128];
    int64_t labels[N];
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    struct stopper stopper = {0};
    struct sotto_context ctx = {.threads = 1, .stop = &stopper.stop, .progress = watch, .user = &stopper};
    struct sotto_network *n = NULL;
    struct json *c = NULL;
    strcpy(checkpoint, path_of("state"));
    o.checkpoint = checkpoint;
    p.label_epsilon = 1;
    assert_int_equal(train(&n, &c, &o, &p, &ctx), SOTTO_ESTOPPED);
    p.label_epsilon = 2; /* not the run that was begun */
    assert_int_equal(train(&n, &c, &o, &p, &single), SOTTO_EINVAL);
    p.label_epsilon = 1;
    struct sotto_tensors saved = {0};
    struct safetensors_file f;
    assert_int_equal(safetensors_load(&saved, checkpoint), SOTTO_OK);
    memcpy(labels, tensors_find(&saved, "private.labels")->data, sizeof labels);
    labels[N - 1] = 2; /* classes are 0 and 1 */
    memcpy(tensors_find(&saved, "private.labels")->data, labels, sizeof labels);
    assert_int_equal(safetensors_begin(&f, checkpoint, &saved), SOTTO_OK);
    checkpoint_seal_fill(&f); /* not found by the checksum */
    assert_int_equal(safetensors_finish(&f), SOTTO_OK);
    sotto_tensors_clear(&saved);
    assert_int_equal(train(&n, &c, &o, &p, &single), SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(), "the labels of this run's charged release are missing or damaged"));
}

TEST(what_breaks_the_proof_is_refused)
{
    struct sotto_network *n = NULL;
    struct json *c = NULL;
#define REFUSED(change, text)                                                                                \
    do {                                                                                                     \
        struct sotto_train_options o = options(2);                                                           \
        struct sotto_train_privacy p = privacy();                                                            \
        change;                                                                                              \
        assert_int_equal(train(&n, &c, &o, &p, &single), SOTTO_EINVAL);                                      \
        if (!strstr(sotto_error_text(), text))                                                               \
            fail_msg("'%s' does not say '%s'", sotto_error_text(), text);                                    \
        assert_null(n);                                                                                      \
        assert_int_not_equal(access(ledger, F_OK), 0);                                                       \
    } while (0)
    REFUSED(o.residual.radius = 0, "needs a radius");
    REFUSED(o.residual.input_noise = 0,
            "a certificate for inputs needs exactly one of input noise > 0 and a target epsilon");
    REFUSED(p.target.epsilon = 4,
            "a certificate for inputs needs exactly one of input noise > 0 and a target epsilon");
    REFUSED(o.residual.input_noise = 0; p.target.epsilon = -4, "epsilon must be > 0");
    REFUSED(p.label_epsilon = -1, "the epsilon of the labels must be >= 0, where 0 means public labels (got");
    REFUSED(p.label_epsilon = INFINITY,
            "the epsilon of the labels must be >= 0, where 0 means public labels (got");
    REFUSED(p.label_epsilon = NAN,
            "the epsilon of the labels must be >= 0, where 0 means public labels (got");
    REFUSED(o.residual.input_noise = 0; p.target.epsilon = 4;
            p.label_epsilon = 4, "give a larger target epsilon");
    REFUSED(o.residual.members = 2; o.residual.separate_inputs = 1,
                                    "a certificate for inputs needs one noisy copy that all members "
                                    "share; omit separate inputs and independent training");
    REFUSED(o.residual.members = 2; o.residual.independent = 1,
                                    "a certificate for inputs needs one noisy copy that all members "
                                    "share; omit separate inputs and independent training");
    REFUSED(o.residual.gamma = -1, "gamma");
    REFUSED(o.model = "cnn", "supports no noise in its blocks and no ensemble members; expected resnet8 or "
                             "resnet20");
    REFUSED(o.batch = 1, "cannot train on a batch of 1");
    REFUSED(p.reserve = EPOCHS + 1, "at a time are more than the");
#undef REFUSED
    const int64_t twice[] = {0, 1, 2, 3, 4, 5, 6, 7, 0};
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    struct sotto_certificate *text = NULL;
    assert_int_equal(sotto_train_noisy_inputs(&n, &text, NULL, &records, twice, 9, &o, &p, &single),
                     SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(), "row 0 is listed twice (entries 0 and 8); expected each record once"));
}

/* They would be left out of the certificate's count, and no step would hold them. */
TEST(canaries_are_refused)
{
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    struct sotto_network *n = NULL;
    struct sotto_certificate *text = NULL;
    const struct sotto_canary_request request = {.data = &records,
                                                 .n = N,
                                                 .classes = 2,
                                                 .relation = SOTTO_CANARY_OR_NOTHING,
                                                 .output = path_of("m.safetensors"),
                                                 .options = {.count = 4, .kind = SOTTO_CANARY_RANDOM}};
    assert_int_equal(sotto_canaries_make(&p.canaries, &request), SOTTO_OK);
    const struct sotto_dataset *with = sotto_canaries_data(p.canaries);
    assert_int_equal(sotto_train_noisy_inputs(&n, &text, NULL, with, NULL, 0, &o, &p, &single), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "canaries: training on noisy inputs has no place for them; omit canaries, "
                        "or train by DP-SGD");
    assert_null(n);
    assert_null(text);
    assert_int_not_equal(access(ledger, F_OK), 0); /* nothing was charged */
    sotto_canaries_free(p.canaries);
}

TEST(no_memory_is_an_error)
{
    struct sotto_train_options o = options(2);
    struct sotto_train_privacy p = privacy();
    o.epochs = 1;
    p.label_epsilon = 1;
    for (long at = 0;; at += 2 + at) {
        struct sotto_network *n = NULL;
        struct json *c = NULL;
        base_alloc_fail_after(at);
        struct sotto_certificate *text = NULL;
        sotto_status status = sotto_train_noisy_inputs(&n, &text, NULL, &records, NULL, 0, &o, &p, &single);
        base_alloc_fail_after(-1);
        sotto_certificate_free(text);
        sotto_network_free(n);
        json_free(c);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
    }
}

TEST_GROUP(.shards = 8, .before = set_up, .after = remove_folder, .start = machine_f32, .tags = "matrix long")
