/* Talos: what reaches the encoder is the gradient of L_contrastive - lambda L_C, against the network written
 * out in double; losses against their formulas; turns. The bounded form: test_talos_bounded.c; whole runs: test_talos_runs.c. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/kernel/bf16.h"
#include "nn/loop/checkpoint.h"
#include "nn/kernel/kernels.h"
#include "nn/model/model.h"
#include "support/oracle.h"
#include "rng/rng.h"
#include "talos/talos_part.h"

#include <math.h>
#include <string.h>

static const struct pretrain_part *const part = &pretrain_part_talos;

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
    int relu_logits;
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
        dense(c, w, 4, b, w->relu_logits);
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

static struct nn_model *model_with(double lambda, int relu_logits)
{
    struct nn_model *m = NULL;
    struct nn_model_config config = {.name = "mlp",
                                     .input = {INPUT, 1, 1},
                                     .hidden = {WIDTH},
                                     .hidden_count = 1,
                                     .projector = {PROJECTION},
                                     .projector_count = 1,
                                     .adversary = {.values = VALUES,
                                                   .hidden = {INNER, INNER},
                                                   .hidden_count = 2,
                                                   .reversal = lambda,
                                                   .relu_logits = relu_logits}};
    assert_int_equal(nn_model_create(&m, &config, 4), SOTTO_OK);
    return m;
}

static struct nn_model *small_model(double lambda)
{
    return model_with(lambda, 0);
}

/* In order fast, a plan of `rows` rows of each of `images` images. */
static struct leaves *small_leaves(struct nn_model *m, size_t images, size_t rows)
{
    struct leaves *l = NULL;
    struct leaves_config config = {.order = {false, images}, .records = images, .views = rows, .threads = 1};
    assert_int_equal(nn_backend_find(&config.backend, "ref"), SOTTO_OK);
    assert_int_equal(leaves_create(&l, m, &config), SOTTO_OK);
    return l;
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

static void check_gradients(double lambda, int relu_logits, const char *backend)
{
    struct written_out w;
    struct nn_model *m = model_with(lambda, relu_logits);
    struct nn_plan *p = small_plan(m, backend);
    const struct tensor_list *all = nn_model_tensors(m);
    double task, adversary;
    fill(&w, m, p);
    w.relu_logits = relu_logits;
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
TEST(the_encoder_descends_on_task_minus_lambda_adversary)
{
    static const double lambdas[] = {0, 0.5, 1, 7};
    const char *const backends[] = {"ref", machine.backend};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++)
            for (int relu_logits = 0; relu_logits < 2; relu_logits++)
                check_gradients(lambdas[i], relu_logits, backends[k]);
}

TEST(reversal_is_the_identity_forwards_and_minus_lambda_backwards)
{
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

TEST(the_adversary_can_learn_alone)
{
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

TEST(plans_know_when_there_is_no_adversary)
{
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
    assert_string_equal(sotto_error_text(),
                        "adversary: this model has no encoder, which the adversary needs");
    config.hidden[0] = 3, config.hidden_count = 1, config.adversary.values = 1;
    assert_int_equal(nn_model_create(&plain, &config, 1), SOTTO_EINVAL);
    nn_model_free(m);
}

/* ---- losses and turns ---- */

/* (7): the mean over both views of every image, with the image's attribute. */
TEST(the_classifiers_loss_is_the_mean_over_both_views)
{
    const int64_t attribute[8] = {2, 0, 1, 1, 0, 2, 0, 1}, rows[3] = {5, 1, 2};
    struct written_out w;
    struct nn_model *m = small_model(1);
    struct leaves *l = small_leaves(m, 3, 2);
    struct nn_plan *p = leaves_plan(l);
    void *t = NULL;
    struct talos_setup setup = {.attribute = attribute, .values = VALUES};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    assert_int_equal(part->create(&t, &setup, m, l, &adam, 3, 2), SOTTO_OK);
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
    assert_int_equal(part->loss(t, rows), SOTTO_OK);
    part->update(t, 0, 0); /* nothing moves; the step is counted */
    assert_true(fabs(part->checkpoint(t)->loss_sum - expected) < 1e-6 * expected);
    assert_true(fabs(part->checkpoint(t)->accuracy_sum - hits) < 1e-12);
    nn_model_tensors(m)->items[9].value[0] = NAN;
    nn_plan_forward(p, 1, 0, 0);
    assert_int_equal(part->loss(t, rows), SOTTO_EDIVERGED);
    assert_string_equal(sotto_error_text(), "talos: the adversary's loss became NaN");
    part->release(t);
    leaves_free(l);
    nn_model_free(m);
}

/* Two images of two views and themselves: of which rows L_C is, and nothing for the others. */
static void check_reading(int of_images)
{
    const int64_t attribute[4] = {2, 0, 1, 1}, rows[2] = {2, 0};
    struct written_out w;
    struct nn_model *m = small_model(1);
    struct leaves *l = small_leaves(m, 2, 3);
    struct nn_plan *p = leaves_plan(l);
    void *t = NULL;
    struct talos_setup setup = {
        .images = true, .of_images = of_images, .attribute = attribute, .values = VALUES};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    float only[2 * 2 * VALUES];
    int64_t labels[4];
    int first = of_images ? 4 : 0, read = of_images ? 2 : 4;
    assert_int_equal(part->create(&t, &setup, m, l, &adam, 2, 2), SOTTO_OK);
    fill(&w, m, p);
    nn_plan_forward(p, 1, 0, 0);
    for (int i = 0; i < read; i++)
        labels[i] = attribute[rows[i % 2]];
    double expected = loss_softmax_cross_entropy(only, nn_plan_adversary_output(p) + first * VALUES, labels,
                                                 (size_t)read, VALUES);
    assert_int_equal(part->loss(t, rows), SOTTO_OK);
    part->update(t, 0, 0);
    assert_true(part->checkpoint(t)->loss_sum == expected);
    for (int i = 0; i < BATCH; i++)
        for (int v = 0; v < VALUES; v++) {
            int inside = i >= first && i < first + read;
            float slope = nn_plan_adversary_diff(p)[i * VALUES + v];
            assert_true(slope == (inside ? only[(i - first) * VALUES + v] : 0));
        }
    part->release(t);
    leaves_free(l);
    nn_model_free(m);
}

TEST(the_classifier_reads_what_it_is_to_read)
{
    check_reading(0);
    check_reading(1);
}

TEST(turns_are_as_published_or_as_released)
{
    const struct talos_setup published = {0}, released = {.two_pass = true}, joint = {.joint = true};
    assert_int_equal(part->passes(&published), 1);
    assert_int_equal(part->passes(&released), 2);
    assert_int_equal(part->passes(&joint), 1);
    for (uint64_t epoch = 1; epoch <= 4; epoch++) {
        assert_int_equal(part->turn(&published, epoch - 1), epoch % 2 == 1 ? TURN_BRANCH : TURN_ENCODER);
        assert_int_equal(part->turn(&released, 2 * (epoch - 1)), TURN_ENCODER);
        assert_int_equal(part->turn(&released, 2 * (epoch - 1) + 1), TURN_BRANCH);
        assert_int_equal(part->turn(&joint, epoch - 1), TURN_ENCODER | TURN_BRANCH);
    }
}

enum { LAST = 9, LAST_SIZE = VALUES }; /* the adversary's last bias, in the list of tensors */

/* Its last bias after `calls` turns on one batch, `steps` steps each, learnt beside an encoder that
 * bounds. */
static void teach(float out[LAST_SIZE], size_t calls, size_t steps, double share)
{
    const int64_t attribute[BATCH] = {2, 0, 1, 1, 0, 2}, rows[3] = {5, 1, 2};
    struct written_out w;
    struct nn_model *m = small_model(1);
    struct leaves *l = small_leaves(m, 3, 2);
    struct nn_plan *p = leaves_plan(l);
    void *t = NULL;
    struct talos_setup setup = {
        .bounded = true, .adversary_steps = steps, .attribute = attribute, .values = VALUES};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    for (int v = 0; v < VALUES; v++)
        setup.share[v] = share;
    assert_int_equal(part->create(&t, &setup, m, l, &adam, 3, 2), SOTTO_OK);
    fill(&w, m, p);
    for (size_t i = 0; i < calls; i++) {
        nn_plan_forward(p, 1, 0, 0);
        assert_int_equal(part->loss(t, rows), SOTTO_OK);
        part->update(t, 1e-2, TURN_BRANCH);
    }
    memcpy(out, nn_model_tensors(m)->items[LAST].value, LAST_SIZE * sizeof *out);
    part->release(t);
    leaves_free(l);
    nn_model_free(m);
}

TEST(several_steps_are_several_turns_and_nothing_bounds_them)
{
    float one[LAST_SIZE], three[LAST_SIZE], at_once[LAST_SIZE], bounded[LAST_SIZE];
    teach(one, 1, 1, 0);
    teach(three, 3, 1, 0);
    teach(at_once, 1, 3, 0);
    teach(bounded, 1, 3, 1); /* no record counts for the encoder */
    assert_memory_equal(three, at_once, sizeof three);
    assert_memory_not_equal(one, three, sizeof one);
    assert_memory_equal(bounded, at_once, sizeof bounded);
}

/* ---- in leaves ---- */

enum { IMAGES = BATCH / 2 };

/* Row v IMAGES + i of what is written out is view v of image i. */
static sotto_status copy_rows(float *input, void *state, const struct leaf *leaf)
{
    const struct written_out *w = state;
    for (size_t v = 0; v < 2; v++)
        for (size_t i = 0; i < leaf->count; i++)
            for (size_t k = 0; k < INPUT; k++)
                input[(v * leaf->room + i) * INPUT + k] =
                    (float)w->input[(v * IMAGES + leaf->first + i) * INPUT + k];
    return SOTTO_OK;
}

/* Writes to rows that hold no record, too, whose gradient must be 0 all the same. */
static double soil(float *diff, const float *logits, void *state, const struct leaf *leaf)
{
    (void)logits, (void)state;
    for (size_t i = 0; i < 2 * leaf->room * VALUES; i++)
        diff[i] = 7;
    return 0;
}

static void expect_gradient(struct written_out *w, const struct nn_model *m, size_t first, double lambda)
{
    const struct tensor_list *all = nn_model_tensors(m);
    for (size_t t = first; t < all->count; t++) {
        double expected[WIDTH * WIDTH];
        for (size_t i = 0; i < all->items[t].count; i++)
            expected[i] =
                difference(w, (t % 2 ? w->bias[t / 2] : w->weight[t / 2]) + i, (int)(t / 2), lambda);
        double distance = oracle_distance(all->items[t].grad, expected, all->items[t].count);
        if (!(distance < 2e-5))
            fail_msg("in leaves, %s: relative distance %g", all->items[t].name, distance);
    }
}

/* Two leaves of two images, the second one half empty: both gradients of a joint step, against what is written out; their bits,
 * and the weights after three steps of the adversary, to `gradient` and `moved`. */
static void step_in_leaves(float *gradient, float *moved, int threads)
{
    const double lambda = 2;
    const int64_t attribute[IMAGES] = {0, 1, 2}, rows[IMAGES] = {0, 1, 2};
    struct written_out w;
    struct nn_model *m = small_model(lambda);
    struct nn_plan *p = small_plan(m, "ref");
    struct leaves *l = NULL;
    void *t = NULL;
    struct talos_setup setup = {
        .adversary_steps = 1, .attribute = attribute, .values = VALUES, .lambda = lambda};
    struct leaves_config config = {.order = {true, 2}, .records = IMAGES, .views = 2, .threads = threads};
    struct nn_optimizer_config adam = {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
    double task, adversary;
    assert_int_equal(nn_backend_find(&config.backend, "ref"), SOTTO_OK);
    assert_int_equal(leaves_create(&l, m, &config), SOTTO_OK);
    assert_int_equal(part->create(&t, &setup, m, l, &adam, IMAGES, 2), SOTTO_OK);
    fill(&w, m, p);
    w.relu_logits = 0;
    assert_int_equal(leaves_forward(l, 1, 0, 0, copy_rows, &w), SOTTO_OK);
    for (size_t i = 0; i < BATCH * PROJECTION; i++)
        leaves_diff_output(l)[i] = (float)w.slope[i];
    leaves_sum_adversary(l, soil, NULL);
    assert_int_equal(part->loss(t, rows), SOTTO_OK);
    assert_int_equal(leaves_backward(l), SOTTO_OK);
    expect_gradient(&w, m, 0, lambda);
    memcpy(gradient, m->diffs, m->trainable * sizeof *gradient);
    nn_model_tensors(m)->items[0].grad[0] = 77;
    assert_int_equal(part->update(t, 0, TURN_BRANCH), SOTTO_OK); /* a rate of 0: nothing moves */
    expect_gradient(&w, m, 4, lambda);
    assert_true(nn_model_tensors(m)->items[0].grad[0] == 77);
    losses(&task, &adversary, &w);
    assert_true(fabs(part->checkpoint(t)->loss_sum - adversary) < 1e-5 * adversary);
    setup.adversary_steps = 3;
    assert_int_equal(part->update(t, 1e-2, TURN_BRANCH), SOTTO_OK);
    memcpy(moved, m->values, m->trainable * sizeof *moved);
    part->release(t);
    leaves_free(l);
    nn_plan_free(p);
    nn_model_free(m);
}

TEST(leaves_descend_as_the_whole_step_does)
{
    enum { ROOM = 1024 };
    static float gradient[2][ROOM], moved[2][ROOM];
    struct nn_model *m = small_model(1);
    assert_true(m->trainable < ROOM);
    nn_model_free(m);
    for (int threads = 1; threads <= 2; threads++)
        step_in_leaves(gradient[threads - 1], moved[threads - 1], threads);
    assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
    assert_memory_equal(moved[0], moved[1], sizeof moved[0]);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
