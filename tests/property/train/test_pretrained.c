/* Training that starts from a pre-trained encoder: what is frozen stays to the bit, the last layer begins at 0, a wholly
 * frozen encoder costs what a private head on its embeddings costs, and warm-up is charged. What certificates say of it, and
 * what is refused: test_pretrained_certificates.c. */
#include "support/test.h"
#include "support/pretrained_world.h"
#include "support/worse.h"
#include "base/memory.h"
#include "dp/certificate/certificate.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "nn/model/model.h"
#include "sotto/lab/head.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

/* x (N, WIDTH): what 'sotto embed --standardise' writes for the private rows. */
static float *standardised_embeddings(void)
{
    struct sotto_encoder *e = NULL;
    struct sotto_array p = {0};
    float *x = base_alloc(N * WIDTH, sizeof *x);
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    assert_int_equal(sotto_embed(x, e, images, rows, N, &machine.context), SOTTO_OK);
    assert_int_equal(npy_load(&p, path_of("public.npy")), SOTTO_OK);
    assert_int_equal(sotto_standardise(x, N, WIDTH, p.data, N), SOTTO_OK);
    sotto_array_clear(&p);
    sotto_encoder_free(e);
    return x;
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

TEST(what_is_frozen_stays_to_the_bit)
{
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
TEST(the_last_layer_begins_at_zero)
{
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
TEST(a_frozen_network_is_a_head_on_embeddings)
{
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
    const struct sotto_array *a = tensors_find(t, name);
    assert_non_null(a);
    return a->data;
}

/* Plain, and by DP-SGD at rate 1 with next to no noise: the last layer learns from standardised embeddings, and answers by
 * them, from the file too. Without the option it learns something else. */
TEST(a_standardised_network_is_a_head_on_standardised_embeddings)
{
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
            assert_int_equal(safetensors_load(&t, path_of("n.safetensors")), SOTTO_OK);
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
                    answers = worse(answers, fabs(z - (double)found[i * CLASSES + k]));
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
TEST(the_last_layer_takes_the_standardisation_in)
{
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

TEST(a_frozen_encoder_costs_what_a_private_head_costs)
{
    costs_what_a_private_head_costs(NULL);
    costs_what_a_private_head_costs(save_public_embeddings(public_rows));
}

TEST(warm_up_leaves_the_encoder_and_is_charged)
{
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
TEST(an_interrupted_run_gives_the_same_bytes)
{
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

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = machine_f32, .tags = "matrix")
