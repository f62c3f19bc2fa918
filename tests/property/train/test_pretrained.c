/* Training that starts from a pre-trained encoder: what is frozen stays to the bit, the last layer begins at 0, a wholly
 * frozen encoder costs what a private head on its embeddings costs, warm-up is charged, and an encoder that is not public
 * is refused before anything is charged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/exercise.h"
#include "base/file.h"
#include "base/memory.h"
#include "dp/certificate/certificate.h"
#include "support/machine.h"
#include "support/temporary_folder.h"
#include "io/provenance/statement.h"
#include "nn/model/model.h"
#include "sotto/head.h"
#include "sotto/verify.h"
#include "ssl/encoder.h"
#include "train/network/network.h"
#include "train/private/dp_sgd.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

enum { N = 60, CLASSES = 10, WIDTH = 64 };
static struct sotto_dataset *images;
static int64_t rows[N], public_rows[N];
static const char *from; /* a resnet8 of other rows than `rows` */
static char encoder_sha256[65];

static void save_encoder(const char *path, const char *statement, const int64_t *trained_on)
{
    struct sotto_encoder *e = NULL;
    struct sotto_provenance whose = {0};
    assert_int_equal(sotto_encoder_random(&e, images, "resnet8", 1), SOTTO_OK);
    if (statement)
        assert_int_equal(encoder_add_fact(e, STATEMENT_KEY, statement), SOTTO_OK);
    assert_int_equal(sotto_encoder_save(path, e), SOTTO_OK);
    strcpy(encoder_sha256, sotto_encoder_sha256(e));
    if (trained_on)
        assert_int_equal(sotto_provenance_of_rows(&whose, images, trained_on, N), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &whose), SOTTO_OK);
    sotto_provenance_clear(&whose);
    sotto_encoder_free(e);
}

static int set_up(void **state)
{
    static char kept[128];
    for (size_t i = 0; i < N; i++)
        rows[i] = (int64_t)(2 * i), public_rows[i] = (int64_t)(2 * i + 1);
    if (make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n200", NULL) != SOTTO_OK)
        return -1;
    snprintf(kept, sizeof kept, "%s", path_of("encoder.safetensors"));
    from = kept;
    save_encoder(from, NULL, public_rows);
    return 0;
}

static int tear_down(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

/* Embeddings of public rows, and what files say of them: the rows of `whose`; NULL: nothing. */
static const char *save_public_embeddings(const int64_t *whose)
{
    static char path[128];
    struct sotto_encoder *e = NULL;
    struct sotto_array x = {0};
    struct sotto_provenance p = {0};
    snprintf(path, sizeof path, "%s", path_of("public.npy"));
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    assert_int_equal(sotto_array_make(&x, SOTTO_F4, 2, (const size_t[]){N, WIDTH}), SOTTO_OK);
    assert_int_equal(sotto_embed(x.data, e, images, public_rows, N, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path, &x), SOTTO_OK);
    if (whose)
        assert_int_equal(sotto_provenance_of_rows(&p, images, whose, N), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &p), SOTTO_OK);
    sotto_provenance_clear(&p);
    sotto_array_clear(&x);
    sotto_encoder_free(e);
    return path;
}

/* x (N, WIDTH): what 'sotto embed --standardise' writes for the private rows. */
static float *standardised_embeddings(void)
{
    struct sotto_encoder *e = NULL;
    struct sotto_array p = {0};
    float *x = base_alloc(N * WIDTH, sizeof *x);
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    assert_int_equal(sotto_embed(x, e, images, rows, N, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_npy_load(&p, path_of("public.npy")), SOTTO_OK);
    assert_int_equal(sotto_standardise(x, N, WIDTH, p.data, N), SOTTO_OK);
    sotto_array_clear(&p);
    sotto_encoder_free(e);
    return x;
}

static struct sotto_train_options options_of(const char *freeze)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.from = from;
    o.freeze = freeze;
    o.optimizer = "sgd";
    o.momentum = 0.9;
    o.lr = 0.1;
    o.epochs = 2;
    o.batch = 20;
    o.dtype = machine.dtype;
    o.backend = machine.backend;
    return o;
}

static struct sotto_train_privacy privacy_of(void)
{
    struct sotto_train_privacy p;
    sotto_train_privacy_defaults(&p);
    p.spend.source = &exercise;
    p.spend.ledger = path_of("ledger.jsonl");
    p.noise_multiplier = 1;
    p.max_grad_norm = 0.1;
    p.target.delta = 1e-3;
    return p;
}

static struct sotto_network *train(const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    const sotto_status status = sotto_train(&n, NULL, images, rows, N, o, &machine.context);
    if (status != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return n;
}

static struct sotto_network *train_private(struct sotto_certificate **c, const struct sotto_train_options *o,
                                           const struct sotto_train_privacy *p)
{
    struct sotto_network *n = NULL;
    const sotto_status status = sotto_train_private(&n, c, NULL, images, rows, N, o, p, &machine.context);
    if (status != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return n;
}

/* How many tensors of the network, running statistics too, are the encoder's to the bit, and how many are not. */
static void compare(size_t *same, size_t *moved, const struct sotto_network *n)
{
    struct sotto_encoder *e = NULL;
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    *same = *moved = 0;
    for (size_t i = 0; i < e->model->parameter_count; i++) {
        const struct nn_parameter *a = &e->model->parameters[i], *b = &n->model->parameters[i];
        assert_string_equal(a->name, b->name);
        ++*(memcmp(a->value, b->value, a->count * sizeof(float)) == 0 ? same : moved);
    }
    sotto_encoder_free(e);
}

/* resnet8 below its last layer: 9 convolutions (two of them shortcuts), 7 norms of 4 tensors. */
enum { CONVOLUTIONS = 9, NORM_TENSORS = 28, NORM_CHANNELS = 3 * 16 + 2 * 32 + 2 * 64, LAST_BLOCK = 3 };

static void what_is_frozen_stays_to_the_bit(void **state)
{
    (void)state;
    const struct {
        const char *freeze;
        size_t moved;
    } cases[] = {
        {"all", 0}, {"norm", CONVOLUTIONS}, {"2", LAST_BLOCK}, {"none", CONVOLUTIONS + NORM_TENSORS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int private = 0; private <= (i < 3); private ++) {
            struct sotto_train_options o = options_of(cases[i].freeze);
            struct sotto_train_privacy p = privacy_of();
            struct sotto_certificate *c = NULL;
            p.average = private ? 0.9 : 0;
            if (!private)
                o.weight_decay = 0.01;
            struct sotto_network *n = private ? train_private(&c, &o, &p) : train(&o);
            size_t same, moved;
            compare(&same, &moved, n);
            assert_int_equal(moved, cases[i].moved);
            assert_int_equal(same + moved, CONVOLUTIONS + NORM_TENSORS);
            assert_string_equal(network_fact(n, "from"), encoder_sha256);
            assert_string_equal(sotto_network_recipe(n)->freeze, cases[i].freeze);
            assert_null(sotto_network_recipe(n)->from);
            sotto_certificate_free(c);
            sotto_network_free(n);
        }
}

/* With a rate that is next to nothing the network is the encoder below a layer of zeros. */
static void the_last_layer_begins_at_zero(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("norm");
    o.lr = 1e-30;
    struct sotto_network *n = train(&o);
    float logits[2 * CLASSES];
    assert_int_equal(sotto_network_predict_data(logits, n, images, rows, 2, 1, &machine.context), SOTTO_OK);
    for (size_t i = 0; i < 2 * CLASSES; i++)
        assert_true(fabsf(logits[i]) < 1e-20f);
    sotto_network_free(n);
}

/* The network below its last layer sees what 'sotto embed' computes: padding, grey images and running statistics. */
static void a_frozen_network_is_a_head_on_embeddings(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("all");
    struct sotto_network *n = train(&o), *again = NULL;
    struct sotto_encoder *e = NULL;
    struct sotto_head *h = NULL;
    float *x = base_alloc(N * WIDTH, sizeof *x), found[N * CLASSES], expected[N * CLASSES];
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    assert_int_equal(sotto_encoder_width(e), WIDTH);
    assert_int_equal(sotto_embed(x, e, images, rows, N, &machine.context), SOTTO_OK);
    assert_int_equal(network_last_layer(&h, n), SOTTO_OK);
    assert_int_equal(sotto_head_predict(expected, h, x, N, WIDTH, 1, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_network_save(path_of("n.safetensors"), n), SOTTO_OK); /* and as its file */
    assert_int_equal(sotto_network_load(&again, path_of("n.safetensors")), SOTTO_OK);
    for (int from_file = 0; from_file < 2; from_file++) {
        assert_int_equal(
            sotto_network_predict_data(found, from_file ? again : n, images, rows, N, 1, &machine.context),
            SOTTO_OK);
        double largest = 0;
        for (size_t i = 0; i < N * CLASSES; i++) {
            assert_true(fabs((double)found[i] - (double)expected[i]) <=
                        1e-5 * (1 + fabs((double)expected[i])));
            largest = fmax(largest, fabs((double)expected[i]));
        }
        assert_true(largest > 1e-3); /* it was trained */
    }
    assert_string_equal(sotto_network_recipe(again)->freeze, "all");
    base_free(x);
    sotto_head_free(h);
    sotto_encoder_free(e);
    sotto_network_free(n);
    sotto_network_free(again);
}

/* w (CLASSES, WIDTH + 1, bias last) after such steps of full-batch gradient descent from 0 on embeddings x; clip 0: none. */
static void descend(double *w, const float *x, size_t steps, double lr, double clip)
{
    double(*sum)[WIDTH + 1] = base_alloc(CLASSES, sizeof *sum);
    for (size_t s = 0; s < steps; s++) {
        memset(sum, 0, CLASSES * sizeof *sum);
        for (size_t i = 0; i < N; i++) {
            double p[CLASSES], total = 0, ones = 0, norm = 1;
            for (size_t k = 0; k < CLASSES; k++) {
                p[k] = w[k * (WIDTH + 1) + WIDTH];
                for (size_t c = 0; c < WIDTH; c++)
                    p[k] += w[k * (WIDTH + 1) + c] * (double)x[i * WIDTH + c];
                total += p[k] = exp(p[k]);
            }
            for (size_t k = 0; k < CLASSES; k++) {
                p[k] = p[k] / total - (images->labels[rows[i]] == (int64_t)k);
                ones += p[k] * p[k];
            }
            for (size_t c = 0; c < WIDTH; c++)
                norm += (double)x[i * WIDTH + c] * (double)x[i * WIDTH + c];
            const double part = clip > 0 ? fmin(1, clip / sqrt(ones * norm)) : 1;
            for (size_t k = 0; k < CLASSES; k++)
                for (size_t c = 0; c <= WIDTH; c++)
                    sum[k][c] += part * p[k] * (c < WIDTH ? (double)x[i * WIDTH + c] : 1);
        }
        for (size_t k = 0; k < CLASSES; k++)
            for (size_t c = 0; c <= WIDTH; c++)
                w[k * (WIDTH + 1) + c] -= lr / N * sum[k][c];
    }
    base_free(sum);
}

static const float *tensor(const struct sotto_tensors *t, const char *name)
{
    const struct sotto_array *a = sotto_tensors_find(t, name);
    assert_non_null(a);
    return a->data;
}

/* Plain, and by DP-SGD at rate 1 with next to no noise: the last layer learns from standardised embeddings, and answers by
 * them, from the file too. Without the option it learns something else. */
static void a_standardised_network_is_a_head_on_standardised_embeddings(void **state)
{
    (void)state;
    const char *public_x = save_public_embeddings(public_rows);
    float *x = standardised_embeddings(), found[N * CLASSES];
    double *w = base_alloc(CLASSES, (WIDTH + 1) * sizeof *w);
    for (int private = 0; private < 2; private ++)
        for (int standardised = 1; standardised >= 0; standardised--) {
            struct sotto_train_options o = options_of("all");
            struct sotto_train_privacy p = privacy_of();
            struct sotto_certificate *c = NULL;
            struct sotto_tensors t = {0};
            struct sotto_network *again = NULL;
            o.standardise = standardised ? public_x : NULL;
            o.batch = N;
            o.epochs = 4;
            o.momentum = 0;
            p.noise_multiplier = 0.01;
            struct sotto_network *n = private ? train_private(&c, &o, &p) : train(&o);
            assert_int_equal(sotto_network_save(path_of("n.safetensors"), n), SOTTO_OK);
            assert_int_equal(sotto_network_load(&again, path_of("n.safetensors")), SOTTO_OK);
            assert_int_equal(sotto_network_predict_data(found, again, images, rows, N, 1, &machine.context),
                             SOTTO_OK);
            assert_int_equal(sotto_safetensors_load(&t, path_of("n.safetensors")), SOTTO_OK);
            const float *weight = tensor(&t, "classifier.weight"), *bias = tensor(&t, "classifier.bias");
            memset(w, 0, CLASSES * (WIDTH + 1) * sizeof *w);
            descend(w, x, o.epochs, o.lr, private ? p.max_grad_norm : 0);
            double apart = 0, largest = 0, answers = 0;
            for (size_t k = 0; k < CLASSES; k++)
                for (size_t j = 0; j <= WIDTH; j++) {
                    const double expected = w[k * (WIDTH + 1) + j];
                    apart =
                        fmax(apart, fabs((double)(j < WIDTH ? weight[k * WIDTH + j] : bias[k]) - expected));
                    largest = fmax(largest, fabs(expected));
                }
            for (size_t i = 0; i < N; i++)
                for (size_t k = 0; k < CLASSES; k++) {
                    double z = (double)bias[k];
                    for (size_t j = 0; j < WIDTH; j++)
                        z += (double)weight[k * WIDTH + j] * (double)x[i * WIDTH + j];
                    answers = fmax(answers, fabs(z - (double)found[i * CLASSES + k]));
                }
            assert_true(standardised == (apart <= 0.05 * largest));
            assert_true(standardised == (answers <= 1e-4));
            assert_true(standardised == (network_fact(again, "standardise") != NULL));
            sotto_tensors_clear(&t);
            sotto_certificate_free(c);
            sotto_network_free(n);
            sotto_network_free(again);
        }
    base_free(w);
    base_free(x);
}

/* Attacks read the last layer as a head on the encoder's own embeddings. */
static void the_last_layer_takes_the_standardisation_in(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("all");
    o.standardise = save_public_embeddings(public_rows);
    struct sotto_network *n = train(&o);
    struct sotto_head *h = NULL;
    struct sotto_encoder *e = NULL;
    float *x = base_alloc(N * WIDTH, sizeof *x), found[N * CLASSES], expected[N * CLASSES];
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    assert_int_equal(sotto_embed(x, e, images, rows, N, &machine.context), SOTTO_OK);
    assert_int_equal(network_last_layer(&h, n), SOTTO_OK);
    assert_int_equal(sotto_head_predict(found, h, x, N, WIDTH, 1, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_network_predict_data(expected, n, images, rows, N, 1, &machine.context), SOTTO_OK);
    for (size_t i = 0; i < N * CLASSES; i++)
        assert_true(fabs((double)found[i] - (double)expected[i]) <= 1e-3 * (1 + fabs((double)expected[i])));
    /* and as an encoder for another training it is what it was */
    assert_int_equal(sotto_network_save(path_of("n.safetensors"), n), SOTTO_OK);
    sotto_network_free(n);
    sotto_encoder_free(e);
    float *y = base_alloc(N * WIDTH, sizeof *y);
    assert_int_equal(sotto_encoder_load(&e, path_of("n.safetensors")), SOTTO_OK);
    assert_int_equal(sotto_embed(y, e, images, rows, N, &machine.context), SOTTO_OK);
    assert_memory_equal(x, y, N * WIDTH * sizeof *x);
    sotto_encoder_free(e);
    sotto_head_free(h);
    base_free(x);
    base_free(y);
}

/* To what the two round before their noise: the head in doubles, the network to whole steps of the lattice. */
static void assert_near(double a, double b)
{
    if (!(a > 0 && fabs(a - b) <= 1e-6 * b))
        fail_msg("epsilon %.9g, expected %.9g", a, b);
}

/* Same noise, rate, steps and delta: the same epsilon, under both relations, whether public rows standardise or not. */
static void costs_what_a_private_head_costs(const char *standardise)
{
    struct sotto_train_options o = options_of("all");
    o.standardise = standardise;
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *network = NULL, *head = NULL;
    struct sotto_network *n = train_private(&network, &o, &p);
    struct sotto_head_recipe recipe;
    struct sotto_head_privacy q = {
        .target = {.delta = 1e-3},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("head.jsonl")}};
    struct sotto_head *h = NULL;
    float *x = base_alloc(N * WIDTH, sizeof *x);
    sotto_head_defaults(&recipe);
    recipe.trainer = "dp-sgd";
    recipe.epochs = o.epochs;
    recipe.batch = o.batch;
    recipe.noise_multiplier = 1;
    recipe.max_grad_norm = 0.1;
    assert_int_equal(sotto_head_train_private(&h, &head, x, images->labels, N, WIDTH, CLASSES, &recipe, &q,
                                              &machine.context),
                     SOTTO_OK);
    const struct sotto_account *a = sotto_certificate_account(network), *b = sotto_certificate_account(head);
    assert_near(a->epsilon.upper, b->epsilon.upper);
    assert_near(a->other_epsilon.upper, b->other_epsilon.upper);
    assert_int_equal(network->dimension, WIDTH * CLASSES + CLASSES);
    assert_int_equal(network->dimension, head->dimension);
    base_free(x);
    sotto_network_free(n);
    sotto_head_free(h);
    sotto_certificate_free(network);
    sotto_certificate_free(head);
}

static void a_frozen_encoder_costs_what_a_private_head_costs(void **state)
{
    (void)state;
    costs_what_a_private_head_costs(NULL);
    costs_what_a_private_head_costs(save_public_embeddings(public_rows));
}

static void warm_up_leaves_the_encoder_and_is_charged(void **state)
{
    (void)state;
    for (int private = 0; private < 2; private ++)
        for (size_t warm_up = 5; warm_up <= 6; warm_up++) { /* of 6 steps */
            struct sotto_train_options o = options_of("norm");
            struct sotto_train_privacy p = privacy_of();
            struct sotto_certificate *c = NULL;
            o.warm_up = warm_up;
            struct sotto_network *n = private ? train_private(&c, &o, &p) : train(&o);
            size_t same, moved;
            compare(&same, &moved, n);
            assert_int_equal(moved, warm_up == 6 ? 0 : CONVOLUTIONS);
            if (private) {
                assert_int_equal(c->run->used, 6);
                assert_int_equal(c->dimension, nn_model_parameter_count(n->model, 1) - 2 * NORM_CHANNELS);
            }
            sotto_certificate_free(c);
            sotto_network_free(n);
        }
}

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t after;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)total, (void)unit;
    struct stopper *s = user;
    s->stop = done >= s->after;
}

/* Stopped before, at and after the end of the warm-up. */
static void an_interrupted_run_gives_the_same_bytes(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("1");
    o.optimizer = "adam";
    o.momentum = 0;
    o.lr = 0.01;
    o.warm_up = 3;
    struct sotto_network *whole = train(&o), *n = NULL;
    for (uint64_t after = 2; after <= 4; after++) {
        struct stopper s = {.after = after * o.batch};
        struct sotto_context ctx = machine.context;
        ctx.stop = &s.stop, ctx.progress = watch, ctx.user = &s;
        o.checkpoint = path_of("checkpoint");
        assert_int_equal(sotto_train(&n, NULL, images, rows, N, &o, &ctx), SOTTO_ESTOPPED);
        struct sotto_train_options other = o;
        other.freeze = "2";
        assert_int_equal(sotto_train(&n, NULL, images, rows, N, &other, &machine.context), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), "freeze"));
        n = train(&o);
        assert_string_equal(sotto_network_sha256(n), sotto_network_sha256(whole));
        sotto_network_free(n);
        n = NULL;
        unlink(o.checkpoint);
    }
    sotto_network_free(whole);
}

/* ---- certificates ---- */

static void a_certificate_says_what_was_trained(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("2");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL, *read = NULL;
    struct sotto_verification v = {0};
    p.encoder_by = "the test";
    struct sotto_network *n = train_private(&c, &o, &p);
    char *text = NULL, *again = NULL;
    assert_int_equal(sotto_network_save_private(path_of("m.safetensors"), n, c), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&text, c), SOTTO_OK);
    assert_non_null(strstr(text, "encoder.layer3.0.shortcut.weight, encoder.layer3.0.conv1.weight, "
                                 "encoder.layer3.0.conv2.weight, classifier.weight, classifier.bias"));
    assert_non_null(strstr(text, "public, by the test; no record that trained it is among the private ones"));
    assert_non_null(strstr(text, encoder_sha256));
    assert_int_equal(sotto_certificate_decode(&read, text), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&again, read), SOTTO_OK);
    assert_string_equal(text, again);
    assert_int_equal(sotto_verify(&v, path_of("m.safetensors"), NULL, path_of("ledger.jsonl"), NULL),
                     SOTTO_OK);
    sotto_verification_clear(&v);
    sotto_text_free(text);
    sotto_text_free(again);
    sotto_certificate_free(c);
    sotto_certificate_free(read);
    sotto_network_free(n);
}

/* The map is public by statement, and its numbers are those of the file. */
static void a_certificate_says_what_standardised(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("all");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL, *read = NULL;
    struct sotto_verification v = {0};
    char *text = NULL, *again = NULL;
    o.standardise = save_public_embeddings(public_rows);
    struct sotto_network *n = train_private(&c, &o, &p);
    assert_int_equal(sotto_network_save_private(path_of("s.safetensors"), n, c), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&text, c), SOTTO_OK);
    assert_non_null(strstr(text, "public, by the caller; no record of its rows is among the private ones"));
    assert_string_equal(c->tuning->standardise_sha256, network_fact(n, "standardise"));
    assert_int_equal(sotto_certificate_decode(&read, text), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&again, read), SOTTO_OK);
    assert_string_equal(text, again);
    assert_int_equal(sotto_verify(&v, path_of("s.safetensors"), NULL, path_of("ledger.jsonl"), NULL),
                     SOTTO_OK);
    sotto_verification_clear(&v);
    /* other moments under the certificate's name */
    c->tuning->standardise_sha256[0] ^= 1;
    assert_int_equal(sotto_network_save_private(path_of("s.safetensors"), n, c), SOTTO_OK);
    assert_int_not_equal(sotto_verify(&v, path_of("s.safetensors"), NULL, path_of("ledger.jsonl"), NULL),
                         SOTTO_OK);
    sotto_verification_clear(&v);
    sotto_text_free(text);
    sotto_text_free(again);
    sotto_certificate_free(c);
    sotto_certificate_free(read);
    sotto_network_free(n);
}

/* An encoder that was trained privately on the very same records: its epsilon is added, not forgotten, and not refused. */
static void a_certified_encoder_is_added(void **state)
{
    (void)state;
    enum { RECORDS = 24, IMAGE = 3 * 32 * 32 };
    uint8_t *pixels = base_alloc(RECORDS * IMAGE, 1);
    int64_t classes[RECORDS];
    for (size_t i = 0; i < RECORDS; i++) {
        classes[i] = (int64_t)(i % 2);
        for (size_t k = 0; k < IMAGE; k++)
            pixels[i * IMAGE + k] = (uint8_t)(31 * i + 7 * k);
    }
    struct sotto_dataset colours = {.name = "colours",
                                    .n = RECORDS,
                                    .n_train = RECORDS,
                                    .channels = 3,
                                    .height = 32,
                                    .width = 32,
                                    .images = pixels,
                                    .labels = classes,
                                    .classes = 2};
    memset(colours.sha256, 'b', 64);
    struct sotto_train_options o = options_of(NULL);
    struct sotto_train_privacy p = privacy_of();
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL, *both = NULL;
    o.from = NULL;
    o.model = "resnet8";
    o.norm = "group";
    o.batch = 12;
    p.spend.dataset_id = "colours";
    p.spend.ledger = path_of("colours.jsonl");
    p.classes = 2;
    assert_int_equal(sotto_train_private(&n, &c, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_OK);
    assert_int_equal(sotto_network_save_private(path_of("certified.safetensors"), n, c), SOTTO_OK);
    sotto_network_free(n);
    o = options_of("all");
    o.from = path_of("certified.safetensors");
    o.batch = 12;
    assert_int_equal(sotto_train_private(&n, &both, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_OK);
    char expected[96];
    snprintf(expected, sizeof expected, "with this training at most epsilon %.6g at delta 0.002",
             sotto_certificate_account(c)->epsilon.upper + sotto_certificate_account(both)->epsilon.upper);
    if (!strstr(both->tuning->encoder, expected))
        fail_msg("'%s' does not say '%s'", both->tuning->encoder, expected);
    assert_int_equal(sotto_certificate_guarantee(both), SOTTO_GUARANTEE_CONDITIONAL);
    assert_non_null(strstr(sotto_certificate_condition(both), "its own certificate adds epsilon"));
    sotto_network_free(n);
    sotto_certificate_free(both);
    n = NULL, both = NULL;
    p.adjacency = SOTTO_ZERO_OUT; /* the encoder's account has both relations */
    assert_int_equal(sotto_train_private(&n, &both, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_OK);
    snprintf(expected, sizeof expected, "certified with epsilon %.6g at",
             sotto_certificate_account(c)->other_epsilon.upper);
    assert_non_null(strstr(both->tuning->encoder, expected));
    sotto_network_free(n);
    sotto_certificate_free(both);
    n = NULL, both = NULL;
    p.spend.ledger = path_of("later.jsonl");
    assert_int_equal(unlink(path_of("certified.safetensors.certificate.json")), 0);
    assert_int_equal(sotto_train_private(&n, &both, NULL, &colours, NULL, 0, &o, &p, &machine.context),
                     SOTTO_ENOENT);
    assert_true(!file_exists(path_of("later.jsonl")));
    sotto_certificate_free(c);
    base_free(pixels);
}

/* ---- refusals ---- */

static void refuse(struct sotto_train_options o, struct sotto_train_privacy p, const char *why)
{
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    p.spend.ledger = path_of("never.jsonl");
    assert_int_not_equal(sotto_train_private(&n, &c, NULL, images, rows, N, &o, &p, &machine.context),
                         SOTTO_OK);
    if (!strstr(sotto_error_text(), why))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), why);
    assert_true(n == NULL && c == NULL && !file_exists(p.spend.ledger));
}

static void encoders_that_are_not_public_are_refused(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("all");
    int64_t one[N];
    o.from = path_of("other.safetensors");
    save_encoder(o.from, STATEMENT_NONE, public_rows);
    refuse(o, privacy_of(), "needs a public encoder");
    memcpy(one, public_rows, sizeof one);
    one[17] = rows[3];
    save_encoder(o.from, NULL, one);
    refuse(o, privacy_of(), "row 6 of 'synthetic-images-n200'");
    save_encoder(o.from, NULL, NULL);
    refuse(o, privacy_of(), "does not say which records trained it");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL;
    p.encoder_by = "its makers";
    sotto_network_free(train_private(&c, &o, &p));
    assert_non_null(strstr(c->tuning->encoder, "its makers; which records trained it is not known"));
    sotto_certificate_free(c);
}

static void rows_that_are_not_public_are_refused(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("all");
    struct sotto_train_privacy p = privacy_of();
    struct sotto_certificate *c = NULL;
    struct sotto_array x = {0};
    int64_t one[N];
    memcpy(one, public_rows, sizeof one);
    one[17] = rows[3];
    o.standardise = save_public_embeddings(one);
    refuse(o, privacy_of(), "public.npy contains row 6 of 'synthetic-images-n200', which is to be private");
    o.standardise = save_public_embeddings(NULL);
    refuse(o, privacy_of(), "does not say which records its rows are of");
    p.encoder_by = "the city";
    sotto_network_free(train_private(&c, &o, &p));
    assert_string_equal(c->tuning->standardise,
                        "public, by the city; which records its rows are of is not known");
    sotto_certificate_free(c);
    const struct {
        size_t n, width;
        float value;
        const char *why;
    } bad[] = {{N, WIDTH - 1, 1, "expected embeddings by the encoder"},
               {1, WIDTH, 1, "1 public rows; expected at least 2"},
               {N, WIDTH, NAN, "is not finite"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sotto_array_make(&x, SOTTO_F4, 2, (const size_t[]){bad[i].n, bad[i].width}),
                         SOTTO_OK);
        for (size_t k = 0; k < x.count; k++)
            ((float *)x.data)[k] = bad[i].value;
        assert_int_equal(sotto_npy_save(path_of("public.npy"), &x), SOTTO_OK);
        refuse(o, privacy_of(), bad[i].why);
        sotto_array_clear(&x);
    }
    o.standardise = path_of("none.npy");
    refuse(o, privacy_of(), "none.npy");
}

/* A resnet8 behind the normalisation of its input, as an import makes one; nothing says which records trained it. */
static void save_imported(const char *path)
{
    struct nn_model *m = NULL;
    struct sotto_encoder *e = NULL;
    const struct nn_model_config config = {.name = "resnet8", .input = {3, 32, 32}, .normalised = true};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    for (size_t i = 0; i < 3; i++)
        m->parameters[2].value[i] = 0.4f + 0.05f * (float)i, m->parameters[3].value[i] = 0.05f;
    assert_string_equal(m->parameters[2].name, "encoder.input.running_mean");
    assert_int_equal(encoder_wrap(&e, m, "resnet8"), SOTTO_OK);
    assert_int_equal(encoder_add_fact(e, ENCODER_PROVENANCE_KEY, ENCODER_STATED "public, by its makers"),
                     SOTTO_OK);
    assert_int_equal(sotto_encoder_save(path, e), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &(struct sotto_provenance){0}), SOTTO_OK);
    sotto_encoder_free(e);
}

/* The normalisation goes into the network, is never trained, and is in its file; the statement goes into the certificate. */
static void an_imported_encoder_is_trained_and_certified(void **state)
{
    (void)state;
    const char *kept = from;
    static char imported[128], model[128];
    snprintf(imported, sizeof imported, "%s", path_of("imported.safetensors"));
    snprintf(model, sizeof model, "%s", path_of("imported-model.safetensors"));
    save_imported(from = imported);
    struct sotto_train_options o = options_of("none");
    struct sotto_network *n = train(&o), *again = NULL;
    struct sotto_encoder *e = NULL;
    float before[CLASSES], after[CLASSES];
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    for (size_t i = 0; i < 6; i++) { /* four tensors of the input, then the first weights */
        const struct nn_parameter *a = &e->model->parameters[i], *b = &n->model->parameters[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(memcmp(a->value, b->value, a->count * sizeof(float)) == 0, i < 4);
    }
    assert_int_equal(sotto_network_save(model, n), SOTTO_OK);
    assert_int_equal(sotto_network_load(&again, model), SOTTO_OK);
    assert_int_equal(sotto_network_predict_data(before, n, images, rows, 1, 1, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_network_predict_data(after, again, images, rows, 1, 1, &machine.context),
                     SOTTO_OK);
    assert_memory_equal(before, after, sizeof before);
    sotto_network_free(n);
    sotto_network_free(again);
    sotto_encoder_free(e);
    if (machine.type == NN_F32) {
        struct sotto_train_privacy p = privacy_of();
        struct sotto_certificate *c = NULL;
        struct sotto_verification v = {0};
        o = options_of("norm");
        o.epochs = 1;
        p.spend.ledger = path_of("imported.jsonl");
        n = train_private(&c, &o, &p);
        assert_non_null(
            strstr(c->tuning->encoder, "public, by its makers; which records trained it is not known"));
        assert_int_equal(sotto_network_save_private(model, n, c), SOTTO_OK);
        assert_int_equal(sotto_verify(&v, model, NULL, p.spend.ledger, NULL), SOTTO_OK);
        sotto_verification_clear(&v);
        sotto_certificate_free(c);
        sotto_network_free(n);
    }
    from = kept;
}

static void options_that_do_not_go_together_are_refused(void **state)
{
    (void)state;
    struct sotto_train_options o = options_of("none");
    refuse(o, privacy_of(), "batch norm computes with the mean of the whole batch");
    o = options_of("4");
    refuse(o, privacy_of(), "has 3 blocks");
    o = options_of("some");
    refuse(o, privacy_of(), "freeze 'some' is unknown");
    o = options_of("norm");
    o.from = NULL;
    refuse(o, privacy_of(), "needs a pre-trained encoder");
    o = options_of(NULL);
    o.from = NULL;
    o.warm_up = 1;
    refuse(o, privacy_of(), "warm_up needs a pre-trained encoder");
    o = options_of(NULL);
    o.from = NULL;
    o.standardise = from;
    refuse(o, privacy_of(), "standardise needs a pre-trained encoder");
    o = options_of("norm");
    o.warm_up = 7;
    refuse(o, privacy_of(), "warm_up: 7 steps are more than the 6");
    o = options_of("norm");
    o.warm_up = 1;
    o.weight_decay = 0.1;
    refuse(o, privacy_of(), "weight decay would move it");
    o = options_of("norm");
    o.model = "resnet18";
    refuse(o, privacy_of(), "which is resnet8");
    o = options_of("norm");
    o.residual.members = 2;
    refuse(o, privacy_of(), "cannot be combined with residual perturbation");
    o = options_of("norm");
    o.from = path_of("absent.safetensors");
    refuse(o, privacy_of(), "absent.safetensors");
}

int main(void)
{
    machine_set(NN_F32);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_frozen_stays_to_the_bit),
        cmocka_unit_test(the_last_layer_begins_at_zero),
        cmocka_unit_test(a_frozen_network_is_a_head_on_embeddings),
        cmocka_unit_test(a_standardised_network_is_a_head_on_standardised_embeddings),
        cmocka_unit_test(the_last_layer_takes_the_standardisation_in),
        cmocka_unit_test(a_frozen_encoder_costs_what_a_private_head_costs),
        cmocka_unit_test(warm_up_leaves_the_encoder_and_is_charged),
        cmocka_unit_test(an_interrupted_run_gives_the_same_bytes),
        cmocka_unit_test(a_certificate_says_what_was_trained),
        cmocka_unit_test(a_certificate_says_what_standardised),
        cmocka_unit_test(a_certified_encoder_is_added),
        cmocka_unit_test(encoders_that_are_not_public_are_refused),
        cmocka_unit_test(rows_that_are_not_public_are_refused),
        cmocka_unit_test(an_imported_encoder_is_trained_and_certified),
        cmocka_unit_test(options_that_do_not_go_together_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
