/* Talos: what reaches the encoder is the gradient of L_contrastive - lambda L_C, against the network written
 * out in double; losses against their formulas; whose turn it is; resume = uninterrupted run, bit for bit;
 * refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "nn/bf16.h"
#include "nn/checkpoint.h"
#include "nn/kernels.h"
#include "nn/model.h"
#include "oracle.h"
#include "rng/rng.h"
#include "ssl/talos.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a small network, written out in double ---- */

enum { BATCH = 6, INPUT = 5, WIDTH = 7, PROJECTION = 4, VALUES = 3, INNER = 6 };
/* encoder, projector, three layers of the adversary: weight (out, in) and bias of each */
enum { LAYERS = 5 };
static const size_t layer_in[LAYERS] = {INPUT, WIDTH, WIDTH, INNER, INNER},
                    layer_out[LAYERS] = {WIDTH, PROJECTION, INNER, INNER, VALUES};

struct written_out {
    double weight[LAYERS][WIDTH * WIDTH], bias[LAYERS][WIDTH];
    double input[BATCH * INPUT], slope[BATCH * PROJECTION];
    int64_t attribute[BATCH];
};

static void dense(double *out, const struct written_out *w, int layer, const double *in, int relu)
{
    for (size_t o = 0; o < layer_out[layer]; o++) {
        double sum = w->bias[layer][o];
        for (size_t i = 0; i < layer_in[layer]; i++)
            sum += w->weight[layer][o * layer_in[layer] + i] * in[i];
        out[o] = relu && sum < 0 ? 0 : sum;
    }
}

/* A linear loss on the projection, and the mean cross-entropy of the adversary. */
static void losses(double *task, double *adversary, const struct written_out *w)
{
    *task = *adversary = 0;
    for (size_t i = 0; i < BATCH; i++) {
        double h[WIDTH], z[PROJECTION], a[INNER], b[INNER], c[VALUES], sum = 0;
        dense(h, w, 0, w->input + i * INPUT, 1);
        dense(z, w, 1, h, 0);
        dense(a, w, 2, h, 1);
        dense(b, w, 3, a, 1);
        dense(c, w, 4, b, 0);
        for (size_t k = 0; k < PROJECTION; k++)
            *task += w->slope[i * PROJECTION + k] * z[k];
        for (size_t k = 0; k < VALUES; k++)
            sum += exp(c[k]);
        *adversary += (log(sum) - c[w->attribute[i]]) / BATCH;
    }
}

/* What a layer is to follow: task - lambda adversary below the reversal, its own loss above. */
static double objective(const struct written_out *w, int layer, double lambda)
{
    double task, adversary;
    losses(&task, &adversary, w);
    return layer == 0 ? task - lambda * adversary : layer == 1 ? task : adversary;
}

static double difference(struct written_out *w, double *x, int layer, double lambda)
{
    const double h = 1e-6, keep = *x;
    *x = keep + h;
    double above = objective(w, layer, lambda);
    *x = keep - h;
    double below = objective(w, layer, lambda);
    *x = keep;
    return (above - below) / (2 * h);
}

static struct nn_model *small_model(double lambda)
{
    struct nn_model *m = NULL;
    struct nn_model_config config = {
        .name = "mlp",
        .input = {INPUT, 1, 1},
        .hidden = {WIDTH},
        .hidden_count = 1,
        .projector = {PROJECTION},
        .projector_count = 1,
        .adversary = {.values = VALUES, .hidden = {INNER, INNER}, .hidden_count = 2, .reversal = lambda}};
    assert_int_equal(nn_model_create(&m, &config, 4), SOTTO_OK);
    return m;
}

static struct nn_plan *small_plan(struct nn_model *m, const char *backend)
{
    struct nn_plan *p = NULL;
    struct nn_plan_config config = {.batch = BATCH, .training = 1};
    assert_int_equal(nn_backend_find(&config.backend, backend), SOTTO_OK);
    assert_int_equal(nn_plan_create(&p, m, &config), SOTTO_OK);
    return p;
}

/* Random numbers into the plan, the same ones as doubles into w. */
static void fill(struct written_out *w, struct nn_model *m, struct nn_plan *p)
{
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    const struct tensor_list *all = nn_model_tensors(m);
    assert_int_equal(all->count, 2 * LAYERS);
    for (size_t t = 0; t < all->count; t++)
        for (size_t i = 0; i < all->items[t].count; i++) {
            all->items[t].value[i] = (float)(0.7 * rng_normal(&r));
            (t % 2 ? w->bias[t / 2] : w->weight[t / 2])[i] = (double)all->items[t].value[i];
        }
    for (size_t i = 0; i < BATCH * INPUT; i++) {
        nn_plan_input(p)[i] = (float)rng_normal(&r);
        w->input[i] = (double)nn_plan_input(p)[i];
    }
    for (size_t i = 0; i < BATCH * PROJECTION; i++)
        w->slope[i] = (double)(float)rng_normal(&r);
    for (size_t i = 0; i < BATCH; i++)
        w->attribute[i] = (int64_t)(i % VALUES);
}

static void check_gradients(double lambda, const char *backend)
{
    struct written_out w;
    struct nn_model *m = small_model(lambda);
    struct nn_plan *p = small_plan(m, backend);
    const struct tensor_list *all = nn_model_tensors(m);
    double task, adversary;
    fill(&w, m, p);
    nn_plan_forward(p, 1, 0, 0);
    for (size_t i = 0; i < BATCH * PROJECTION; i++)
        nn_plan_diff_output(p)[i] = (float)w.slope[i];
    losses(&task, &adversary, &w);
    double found = loss_softmax_cross_entropy(nn_plan_adversary_diff(p), nn_plan_adversary_output(p),
                                              w.attribute, BATCH, VALUES);
    assert_true(fabs(found - adversary) < 1e-5 * adversary);
    nn_plan_backward(p);
    for (size_t t = 0; t < all->count; t++) {
        double expected[WIDTH * WIDTH];
        for (size_t i = 0; i < all->items[t].count; i++)
            expected[i] = difference(&w, (t % 2 ? w.bias[t / 2] : w.weight[t / 2]) + i, (int)(t / 2), lambda);
        double distance = oracle_distance(all->items[t].grad, expected, all->items[t].count);
        if (!(distance < 2e-5))
            fail_msg("lambda %g, %s: relative distance %g", lambda, all->items[t].name, distance);
    }
    nn_plan_free(p);
    nn_model_free(m);
}

/* Also that a reversal without its sign, or without its scale, would be far outside: the encoder's gradient
 * moves with lambda by as much as the adversary's part weighs. */
static void the_encoder_descends_on_task_minus_lambda_adversary(void **state)
{
    (void)state;
    static const double lambdas[] = {0, 0.5, 1, 7};
    static const char *const backends[] = {"ref", "auto"};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++)
            check_gradients(lambdas[i], backends[k]);
}

static void reversal_is_the_identity_forwards_and_minus_lambda_backwards(void **state)
{
    (void)state;
    struct layer_spec spec = {.layer = &layer_reverse, .rate = 2.5};
    float x[3] = {1, -2, 3}, y[3], dy[3] = {4, 0, -6}, dx[3] = {9, 9, 9};
    bf16 hx[3], hy[3], hdy[3], hdx[3];
    struct activation src = {.dtype = NN_F32, .count = 3, .data = x, .diff = dx},
                      dst = {.dtype = NN_F32, .count = 3, .data = y, .diff = dy};
    struct layer_run run = {.spec = &spec, .batch = 1, .need_diff_src = 1, .src = &src, .dst = &dst};
    layer_reverse.forward(&run, NULL);
    layer_reverse.backward(&run, NULL);
    assert_memory_equal(x, y, sizeof x);
    assert_true(dx[0] == -10 && dx[1] == 0 && dx[2] == 15);
    run.need_diff_src = 0, dx[0] = 1;
    layer_reverse.backward(&run, NULL);
    assert_true(dx[0] == 1);
    for (int i = 0; i < 3; i++)
        hx[i] = bf16_from_float(x[i]), hdy[i] = bf16_from_float(dy[i]);
    src = (struct activation){.dtype = NN_BF16, .count = 3, .data = hx, .diff = hdx};
    dst = (struct activation){.dtype = NN_BF16, .count = 3, .data = hy, .diff = hdy};
    run.need_diff_src = 1;
    layer_reverse.forward(&run, NULL);
    layer_reverse.backward(&run, NULL);
    assert_memory_equal(hx, hy, sizeof hx);
    assert_true(bf16_to_float(hdx[0]) == -10 && bf16_to_float(hdx[2]) == 15);
}

static void the_adversary_can_learn_alone(void **state)
{
    (void)state;
    struct written_out w;
    struct nn_model *m = small_model(1);
    struct nn_plan *p = small_plan(m, "ref");
    struct tensor_list task = model_task_tensors(m), adversary = model_adversary_tensors(m);
    float *whole[6];
    assert_int_equal(task.count * 10 + adversary.count, 46);
    assert_string_equal(adversary.items[0].name, "adversary.0.weight");
    fill(&w, m, p);
    nn_plan_forward(p, 1, 0, 0);
    memset(nn_plan_diff_output(p), 0, BATCH * PROJECTION * sizeof(float));
    loss_softmax_cross_entropy(nn_plan_adversary_diff(p), nn_plan_adversary_output(p), w.attribute, BATCH,
                               VALUES);
    nn_plan_backward(p);
    for (size_t t = 0; t < 6; t++) {
        whole[t] = base_alloc(adversary.items[t].count, sizeof(float));
        memcpy(whole[t], adversary.items[t].grad, adversary.items[t].count * sizeof(float));
        memset(adversary.items[t].grad, 0, adversary.items[t].count * sizeof(float));
    }
    for (size_t t = 0; t < task.count; t++)
        task.items[t].grad[0] = 77;
    nn_plan_forward(p, 1, 0, 0);
    loss_softmax_cross_entropy(nn_plan_adversary_diff(p), nn_plan_adversary_output(p), w.attribute, BATCH,
                               VALUES);
    nn_plan_backward_adversary(p);
    for (size_t t = 0; t < 6; t++) {
        assert_memory_equal(whole[t], adversary.items[t].grad, adversary.items[t].count * sizeof(float));
        base_free(whole[t]);
    }
    for (size_t t = 0; t < task.count; t++)
        assert_true(task.items[t].grad[0] == 77);
    nn_plan_free(p);
    nn_model_free(m);
}

static void plans_know_when_there_is_no_adversary(void **state)
{
    (void)state;
    struct nn_model *m = small_model(1), *plain = NULL;
    struct nn_plan *p = NULL;
    struct nn_model_config config = {
        .name = "mlp", .input = {INPUT, 1, 1}, .projector = {2}, .projector_count = 1};
    struct nn_plan_config stop = {.batch = 2, .embedding_only = 1},
                          views = {.batch = 2, .training = 1, .views = 1};
    assert_int_equal(nn_backend_find(&stop.backend, "ref"), SOTTO_OK);
    views.backend = stop.backend;
    assert_int_equal(nn_plan_create(&p, m, &stop), SOTTO_OK);
    assert_null(nn_plan_adversary_output(p));
    assert_null(nn_plan_adversary_diff(p));
    nn_plan_free(p);
    assert_int_equal(nn_model_output_width(m), PROJECTION);
    assert_int_equal(nn_plan_create(&p, m, &views), SOTTO_EINVAL);
    config.adversary = (struct nn_adversary){.values = 2};
    assert_int_equal(nn_model_create(&plain, &config, 1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "adversary: this model has no encoder to stand on");
    config.hidden[0] = 3, config.hidden_count = 1, config.adversary.values = 1;
    assert_int_equal(nn_model_create(&plain, &config, 1), SOTTO_EINVAL);
    nn_model_free(m);
}

/* ---- losses and turns ---- */

/* (7): the mean over both views of every image, with the image's attribute. */
static void the_classifiers_loss_is_the_mean_over_both_views(void **state)
{
    (void)state;
    const int64_t attribute[8] = {2, 0, 1, 1, 0, 2, 0, 1}, rows[3] = {5, 1, 2};
    struct written_out w;
    struct nn_model *m = small_model(1);
    struct nn_plan *p = small_plan(m, "ref");
    struct talos *t = NULL;
    struct talos_setup setup = {.on = true, .attribute = attribute, .values = VALUES};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    assert_int_equal(talos_create(&t, &setup, m, p, &adam, 3, 2), SOTTO_OK);
    fill(&w, m, p);
    nn_plan_forward(p, 1, 0, 0);
    const float *c = nn_plan_adversary_output(p);
    double expected = 0, hits = 0;
    for (int k = 0; k < 3; k++)
        for (int view = 0; view < 2; view++) {
            const float *logit = c + (view * 3 + k) * VALUES;
            int64_t s = attribute[rows[k]];
            double sum = 0;
            int right = 1;
            for (int v = 0; v < VALUES; v++) {
                sum += exp((double)logit[v]);
                right &= v == s || logit[v] < logit[s];
            }
            expected += (log(sum) - (double)logit[s]) / 6;
            hits += right / 6.0;
        }
    assert_int_equal(talos_loss(t, rows), SOTTO_OK);
    assert_true(fabs(talos_state(t)->loss_sum - expected) < 1e-6 * expected);
    assert_true(fabs(talos_state(t)->accuracy_sum - hits) < 1e-12);
    nn_model_tensors(m)->items[9].value[0] = NAN;
    nn_plan_forward(p, 1, 0, 0);
    assert_int_equal(talos_loss(t, rows), SOTTO_EDIVERGED);
    assert_string_equal(sotto_error_text(), "talos: the adversary's loss became NaN");
    talos_free(t);
    nn_plan_free(p);
    nn_model_free(m);
}

static void turns_are_as_published_or_as_released(void **state)
{
    (void)state;
    const struct talos_setup published = {.on = true}, released = {.on = true, .two_pass = true};
    assert_int_equal(talos_passes(&published), 1);
    assert_int_equal(talos_passes(&released), 2);
    for (uint64_t epoch = 1; epoch <= 4; epoch++) {
        assert_int_equal(talos_teaches_adversary(&published, epoch - 1), epoch % 2 == 1);
        assert_int_equal(talos_teaches_adversary(&released, 2 * (epoch - 1)), 0);
        assert_int_equal(talos_teaches_adversary(&released, 2 * (epoch - 1) + 1), 1);
    }
}

/* ---- whole runs ---- */

enum { PATH = 96 };
static char folder[] = "/tmp/sotto-test-XXXXXX";
static struct sotto_dataset *images;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    return sotto_dataset_open(&images, "synthetic-faces-n14", NULL) == SOTTO_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_dataset_free(images);
    return rmdir(folder);
}

static struct sotto_talos talos = {.lambda = 2};

static struct sotto_pretrain_options tiny(const char *alternation)
{
    struct sotto_pretrain_options o;
    talos = (struct sotto_talos){.lambda = 2, .alternation = alternation};
    sotto_pretrain_defaults(&o);
    o.talos = &talos;
    o.epochs = 2;
    o.batch = 4; /* 14 images: 3 steps a pass */
    o.seed = 5;
    return o;
}

static void train(char sha256[65], struct sotto_pretrain_result *result,
                  const struct sotto_pretrain_options *o)
{
    struct sotto_context ctx = {.threads = 2};
    struct sotto_encoder *e = NULL;
    if (sotto_pretrain(&e, result, images, NULL, 0, o, &ctx) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    strcpy(sha256, sotto_encoder_sha256(e));
    sotto_encoder_free(e);
}

static void an_odd_epoch_leaves_the_encoder_alone(void **state)
{
    (void)state;
    static const char *const encoders[] = {"keras-simclr", "resnet8"}; /* the second has running statistics */
    for (int k = 0; k < 2; k++) {
        char untouched[65], after[4][65];
        struct sotto_encoder *e = NULL;
        struct sotto_pretrain_options o = tiny("odd-even");
        o.encoder = encoders[k];
        assert_int_equal(sotto_encoder_random(&e, images, encoders[k], o.seed), SOTTO_OK);
        strcpy(untouched, sotto_encoder_sha256(e));
        sotto_encoder_free(e);
        for (size_t epochs = 1; epochs <= 3; epochs++) {
            o.epochs = epochs;
            train(after[epochs], NULL, &o);
        }
        assert_string_equal(after[1], untouched);
        assert_string_not_equal(after[2], untouched);
        assert_string_equal(after[3], after[2]);
        o = tiny("two-pass");
        o.encoder = encoders[k], o.epochs = 1;
        train(after[0], NULL, &o);
        assert_string_not_equal(after[0], untouched);
    }
}

/* In the released order the first pass is a plain epoch, if lambda is 0. */
static void lambda_zero_is_plain_simclr(void **state)
{
    (void)state;
    char plain[65], censored[65], zero[65];
    struct sotto_pretrain_options o = tiny("two-pass");
    o.epochs = 1;
    talos.lambda = 0;
    train(zero, NULL, &o);
    talos.lambda = 2;
    train(censored, NULL, &o);
    o.talos = NULL;
    train(plain, NULL, &o);
    assert_string_equal(zero, plain);
    assert_string_not_equal(censored, plain);
}

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t stop_after;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct stopper *s = user;
    (void)stage, (void)total, (void)unit;
    if (done >= s->stop_after)
        s->stop = 1;
}

static void resume_gives_the_bits_of_an_uninterrupted_run(void **state)
{
    (void)state;
    char checkpoint[PATH], whole[65], resumed[65];
    struct sotto_pretrain_result one, two;
    snprintf(checkpoint, sizeof checkpoint, "%s/c.safetensors", folder);
    static const struct {
        const char *alternation, *encoder;
        size_t stride;
    } cases[] = {{"odd-even", "keras-simclr", 1}, {"two-pass", "resnet8", 5}};
    for (size_t i = 0; i < 2; i++) {
        struct sotto_pretrain_options o = tiny(cases[i].alternation);
        o.encoder = cases[i].encoder;
        train(whole, &one, &o);
        assert_int_equal(one.steps, i ? 12 : 6);
        o.checkpoint = checkpoint;
        for (size_t stop = 1; stop < one.steps; stop += cases[i].stride) {
            struct stopper s = {0, stop * o.batch};
            struct sotto_context ctx = {.threads = 2, .stop = &s.stop, .progress = watch, .user = &s};
            struct sotto_encoder *e = NULL;
            assert_int_equal(sotto_pretrain(&e, NULL, images, NULL, 0, &o, &ctx), SOTTO_ESTOPPED);
            train(resumed, &two, &o);
            assert_string_equal(resumed, whole);
            assert_true(one.loss == two.loss && one.adversary_loss == two.adversary_loss &&
                        one.adversary_accuracy == two.adversary_accuracy);
            unlink(checkpoint);
        }
    }
}

static void expect_error(const struct sotto_pretrain_options *o, sotto_status expected, const char *text)
{
    struct sotto_encoder *e = NULL;
    sotto_status status = sotto_pretrain(&e, NULL, images, NULL, 0, o, NULL);
    if (status != expected || !strstr(sotto_error_text(), text))
        fail_msg("expected %s '%s', got %s '%s'", sotto_status_name(expected), text,
                 sotto_status_name(status), sotto_error_text());
    assert_null(e);
}

static void bad_input_is_one_clear_line(void **state)
{
    (void)state;
    int64_t same[14], wrong[14] = {0, 1, 2, 0, -1};
    struct sotto_dataset *plain = NULL;
    struct sotto_encoder *e = NULL;
    for (int i = 0; i < 14; i++)
        same[i] = 3;
    struct sotto_pretrain_options o = tiny("odd-even");
    talos.attribute = same;
    expect_error(&o, SOTTO_EINVAL, "talos: every image has attribute 3; there is nothing to hide");
    talos.attribute = wrong;
    expect_error(&o, SOTTO_EINVAL, "talos: row 4 has attribute -1; expected 0 to 999");
    wrong[4] = 1000;
    expect_error(&o, SOTTO_EINVAL, "talos: row 4 has attribute 1000; expected 0 to 999");
    o = tiny("odd-even"), talos.lambda = -1;
    expect_error(&o, SOTTO_EINVAL, "lambda must be finite and >= 0 (got -1)");
    talos.lambda = NAN;
    expect_error(&o, SOTTO_EINVAL, "lambda must be finite and >= 0 (got nan)");
    o = tiny("even-odd");
    expect_error(&o, SOTTO_EINVAL, "alternation 'even-odd' is unknown; expected one of: odd-even, two-pass");
    o = tiny(NULL), o.method = "rotation";
    expect_error(&o, SOTTO_EINVAL, "talos goes with method simclr (got 'rotation')");
    o = tiny(NULL);
    assert_int_equal(sotto_dataset_open(&plain, "synthetic-images-n14", NULL), SOTTO_OK);
    assert_int_equal(sotto_pretrain(&e, NULL, plain, NULL, 0, &o, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "talos: data set 'synthetic-images-n14' has no attribute to hide");
    sotto_dataset_free(plain);
}

static void another_runs_checkpoint_is_refused(void **state)
{
    (void)state;
    char checkpoint[PATH], sha256[65];
    int64_t other[14] = {0, 1};
    snprintf(checkpoint, sizeof checkpoint, "%s/c.safetensors", folder);
    struct sotto_pretrain_options o = tiny("odd-even");
    o.epochs = 1;
    o.checkpoint = checkpoint;
    train(sha256, NULL, &o);
    talos.lambda = 3;
    expect_error(&o, SOTTO_EINVAL, "made with lambda 2, now lambda is 3");
    talos.lambda = 2, talos.attribute = other;
    expect_error(&o, SOTTO_EINVAL, "made with attribute ");
    talos.attribute = NULL;
    o.talos = NULL;
    expect_error(&o, SOTTO_EINVAL, "it cannot be continued");
    unlink(checkpoint);
}

static size_t count_text(const char *path, const char *text)
{
    unsigned char *data;
    size_t size, n = 0;
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    for (const char *at = (const char *)data; (at = strstr(at, text)); at++)
        n++;
    base_free(data);
    return n;
}

static void the_classifier_is_logged_every_epoch(void **state)
{
    (void)state;
    char metrics[PATH], sha256[65];
    snprintf(metrics, sizeof metrics, "%s/metrics.jsonl", folder);
    for (int i = 0; i < 2; i++) {
        struct sotto_pretrain_options o = tiny(i ? "two-pass" : "odd-even");
        o.metrics = metrics;
        train(sha256, NULL, &o);
        assert_int_equal(count_text(metrics, "\"name\":\"adversary_accuracy\""), 2);
        assert_int_equal(count_text(metrics, "\"name\":\"adversary_loss\""), 2);
        assert_int_equal(count_text(metrics, i ? "{\"step\":12," : "{\"step\":6,"), 6);
        unlink(metrics);
    }
}

/* Pictures that are black or white, and views that stay so: a classifier that learns at all tells them apart.
 */
static void the_classifier_learns(void **state)
{
    (void)state;
    static uint8_t pixels[32 * 28 * 28];
    int64_t attribute[32];
    for (size_t i = 0; i < 32; i++) {
        attribute[i] = (int64_t)(i % 2);
        memset(pixels + i * 28 * 28, i % 2 ? 250 : 5, 28 * 28);
    }
    struct sotto_dataset set = {
        .name = "tones", .n = 32, .n_train = 32, .channels = 1, .height = 28, .width = 28, .images = pixels};
    struct sotto_pretrain_options o = tiny("odd-even");
    struct sotto_pretrain_result result;
    struct sotto_encoder *e = NULL;
    talos.attribute = attribute;
    talos.lambda = 0;
    o.epochs = 9, o.batch = 16, o.brightness = 0.05, o.jitter = 0;
    assert_int_equal(sotto_pretrain(&e, &result, &set, NULL, 0, &o, NULL), SOTTO_OK);
    assert_true(result.adversary_accuracy > 0.99);
    sotto_encoder_free(e);
}

static void steps_allocate_nothing_and_failures_are_reported(void **state)
{
    (void)state;
    uint64_t used[2];
    char sha256[65];
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        struct sotto_pretrain_options o = tiny("two-pass");
        o.epochs = i ? 2 : 1;
        uint64_t before = base_alloc_count();
        train(sha256, NULL, &o);
        used[i] = base_alloc_count() - before;
    }
    assert_true(used[0] == used[1]);
    for (long n = 0; n < 200; n += 2) {
        struct sotto_pretrain_options o = tiny("two-pass");
        struct sotto_encoder *e = NULL;
        o.epochs = 1, o.batch = 2;
        base_alloc_fail_after(n);
        sotto_status status = sotto_pretrain(&e, NULL, images, (const int64_t[]){0, 1, 2, 3}, 4, &o, NULL);
        base_alloc_fail_after(-1);
        sotto_encoder_free(e);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        failed++;
    }
    assert_true(failed > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reversal_is_the_identity_forwards_and_minus_lambda_backwards),
        cmocka_unit_test(the_encoder_descends_on_task_minus_lambda_adversary),
        cmocka_unit_test(the_adversary_can_learn_alone),
        cmocka_unit_test(plans_know_when_there_is_no_adversary),
        cmocka_unit_test(the_classifiers_loss_is_the_mean_over_both_views),
        cmocka_unit_test(turns_are_as_published_or_as_released),
        cmocka_unit_test(an_odd_epoch_leaves_the_encoder_alone),
        cmocka_unit_test(lambda_zero_is_plain_simclr),
        cmocka_unit_test(resume_gives_the_bits_of_an_uninterrupted_run),
        cmocka_unit_test(bad_input_is_one_clear_line),
        cmocka_unit_test(another_runs_checkpoint_is_refused),
        cmocka_unit_test(the_classifier_is_logged_every_epoch),
        cmocka_unit_test(the_classifier_learns),
        cmocka_unit_test(steps_allocate_nothing_and_failures_are_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
