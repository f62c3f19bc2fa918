/* Work inside a layer and a loss asks whether to go on (support/stop_questions.h): how often, and that nothing more is
 * computed once the answer was yes. */
#include "support/test.h"

#include "nn/conv/conv_image.h"
#include "nn/conv/conv_taps.h"
#include "nn/conv/conv_weights.h"
#include "nn/conv/conv_winograd.h"
#include "nn/plan/plan.h"
#include "support/stop_questions.h"

#include <stdio.h>

enum { BATCH = 6, NUMBERS = 1 << 17, TENSORS = 6 };

static struct par_stop own, *latch = &own;
static float *tensor[TENSORS]; /* (NUMBERS) each */

/* Runs `work` whole, where it asks at least `least` questions, then to its last question: that is a stop too. */
static void asks(const char *name, void (*work)(void *), void *arg, size_t least)
{
    reset(0);
    par_stop_set(latch, &context);
    work(arg);
    size_t all = asked;
    if (all < least)
        fail_msg("%s asks %zu times; expected %zu or more", name, all, least);
    assert_int_equal(par_check(latch, "stopped"), SOTTO_OK);
    for (size_t at = 1; at <= all; at += all > 9 ? all / 9 : 1) {
        reset(at);
        par_stop_set(latch, &context);
        work(arg);
        if (asked != at)
            fail_msg("%s, stopped at question %zu of %zu: asked %zu times", name, at, all, asked);
        reset(0); /* the wish is gone, but what was left out is still missing */
        if (par_check(latch, "stopped") != SOTTO_ESTOPPED)
            fail_msg("%s forgot that it was stopped at question %zu of %zu", name, at, all);
    }
}

/* --- convolutions, by each of their ways --- */

struct conv_pass {
    const struct nn_backend *backend;
    struct conv *conv;
    bool bias, weights, backward;
};

static void run_pass(void *arg)
{
    const struct conv_pass *p = arg;
    if (p->backward)
        p->backend->conv_backward(p->conv, tensor[0], p->weights ? tensor[1] : NULL,
                                  p->bias ? tensor[2] : NULL, tensor[3], tensor[4], tensor[5]);
    else
        p->backend->conv_forward(p->conv, tensor[3], tensor[4], tensor[5], p->bias ? tensor[2] : NULL);
}

static void conv_asks(const char *name, const char *backend, const struct conv_desc *d, size_t forward,
                      size_t backward)
{
    char what[64];
    struct arena keep = {0}, scratch = {0};
    struct conv_pass p = {.bias = d->bias, .weights = !d->single_examples};
    if (nn_backend_find(&p.backend, backend) != SOTTO_OK)
        return;
    par_set_threads(1);
    assert_int_equal(p.backend->conv_create(&p.conv, d), SOTTO_OK);
    for (int round = 0; round < 2 && p.backend->conv_layout; round++) {
        p.backend->conv_layout(p.conv, &keep, &scratch);
        if (round == 0) {
            assert_int_equal(arena_reserve(&keep, "test"), SOTTO_OK);
            assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
        }
    }
    for (int turn = 0; turn < 2; turn++) {
        p.backward = turn;
        snprintf(what, sizeof what, "%s, %s", name, turn ? "backward" : "forward");
        asks(what, run_pass, &p, turn ? backward : forward);
    }
    p.backend->conv_free(p.conv);
    arena_clear(&keep);
    arena_clear(&scratch);
}

static struct conv_desc describe(size_t channels, size_t side, size_t outputs, size_t kernel, size_t stride,
                                 int bias)
{
    const size_t pad = kernel / 2, result = (side + 2 * pad - kernel) / stride + 1;
    return (struct conv_desc){.batch = BATCH,
                              .src = {channels, side, side},
                              .dst = {outputs, result, result},
                              .kernel_height = kernel,
                              .kernel_width = kernel,
                              .stride = stride,
                              .pad = pad,
                              .bias = bias,
                              .training = 1,
                              .diff_src = 1,
                              .threads = 1,
                              .stop = &own};
}

TEST(convolutions_ask)
{
    struct conv_desc d = describe(16, 16, 16, 3, 1, 0);
    conv_asks("direct sums", "dnnl", &d, 0, 2); /* between the gradients of weights and of the source */
    conv_asks("reference", "ref", &d, BATCH * 16, 2 * BATCH * 16); /* each line of an image */
    if (conv_winograd_fits(
            &d)) /* blocks of 32 tiles of 4x4 pixels, of which both backward passes take one at a time */
        conv_asks("winograd", "winograd", &d, BATCH * 16 / 32, BATCH * 16 / 32 + 16);
    d = describe(16, 16, 16, 3, 2, 1);
    if (conv_weights_fits(&d))
        conv_asks("our weights", "dnnl", &d, 0, 2 + BATCH + 1); /* images */
    d = describe(16, 8, 16, 3, 1, 0);
    if (conv_taps_fits(&d))
        conv_asks("taps", "dnnl", &d, 9 + 1, 9 + 1 + 1);
    d = describe(3, 16, 16, 3, 1, 1);
    d.diff_src = 0;
    if (conv_image_fits(&d))
        conv_asks("images", "dnnl", &d, BATCH, BATCH + 1);
    d = describe(5, 4, 7, 3, 1, 0);
    conv_asks("columns", "dnnl", &d, BATCH, BATCH);
    d = describe(5, 4, 7, 1, 1, 0);
    d.single_examples = 1;
    conv_asks("rows", "dnnl", &d, BATCH * 16 / 32, BATCH * 16 / 32);
}

/* --- passes of a network --- */

static struct nn_plan *plan;

static void forward_row(void *row)
{
    plan->runs[*(const size_t *)row].spec->layer->forward(&plan->runs[*(const size_t *)row], &plan->pass);
}
static void backward_row(void *row)
{
    plan_backward_row(plan, *(const size_t *)row);
}

static void rows_ask(const struct nn_model_config *config)
{
    struct nn_model *model = NULL;
    const struct nn_backend *backend = NULL;
    par_set_threads(1);
    assert_int_equal(nn_backend_find(&backend, "ref"), SOTTO_OK);
    assert_int_equal(nn_model_create(&model, config, 1), SOTTO_OK);
    assert_int_equal(
        nn_plan_create(&plan, model,
                       &(struct nn_plan_config){.batch = BATCH, .backend = backend, .training = 1}),
        SOTTO_OK);
    assert_int_equal(nn_plan_forward(plan, 1, 1, 1), SOTTO_OK);
    latch = &plan->stop;
    for (size_t i = 0; i < plan->row_count; i++) {
        const struct layer_run *run = &plan->runs[i];
        const bool small = run->spec->layer == &layer_dense || run->dst->shape.height == 1;
        asks(run->spec->path, forward_row, &i, 1);
        if (!small)
            asks(run->spec->path, backward_row, &i, 1);
    }
    latch = &own;
    nn_plan_free(plan);
    nn_model_free(model);
}

TEST(layers_ask)
{
    rows_ask(&(struct nn_model_config){.name = "resnet8", .input = {3, 16, 16}, .classes = 2});
    rows_ask(
        &(struct nn_model_config){.name = "resnet8", .input = {3, 16, 16}, .classes = 2, .norm = "group"});
    rows_ask(&(struct nn_model_config){.name = "keras-simclr", .input = {3, 32, 32}, .classes = 2});
}

/* A pass that was stopped says so, although the wish to stop is gone when the layer returns. */
TEST(a_pass_says_that_it_was_stopped)
{
    struct nn_model *model = NULL;
    const struct nn_backend *backend = NULL;
    struct nn_model_config config = {.name = "resnet8", .input = {3, 16, 16}, .classes = 2};
    par_set_threads(1);
    assert_int_equal(nn_backend_find(&backend, "ref"), SOTTO_OK);
    assert_int_equal(nn_model_create(&model, &config, 1), SOTTO_OK);
    assert_int_equal(
        nn_plan_create(&plan, model,
                       &(struct nn_plan_config){.batch = BATCH, .backend = backend, .training = 1}),
        SOTTO_OK);
    nn_plan_set_context(plan, &context);
    reset(0);
    assert_int_equal(nn_plan_forward(plan, 1, 1, 1), SOTTO_OK);
    size_t forward = asked;
    assert_int_equal(nn_plan_backward(plan), SOTTO_OK);
    size_t all = asked;
    for (size_t at = 1; at <= all; at += all / 40) {
        reset(at);
        sotto_status status = nn_plan_forward(plan, 1, 1, 1);
        assert_int_equal(status, at <= forward ? SOTTO_ESTOPPED : SOTTO_OK);
        if (at > forward)
            assert_int_equal(nn_plan_backward(plan), SOTTO_ESTOPPED);
        stop = 0; /* what was left out is missing all the same */
        assert_int_equal(nn_plan_backward(plan), SOTTO_ESTOPPED);
        nn_plan_set_context(plan, &context);
    }
    reset(0);
    assert_int_equal(nn_plan_forward(plan, 1, 1, 1), SOTTO_OK);
    nn_plan_free(plan);
    nn_model_free(model);
}

/* --- the contrastive loss --- */

static struct ntxent *loss;
static void run_loss(void *arg)
{
    (void)arg;
    (void)ntxent_run(loss, tensor[0], NULL, tensor[1], .5f);
}

TEST(the_contrastive_loss_asks)
{
    enum {
        N = 64,
        D = 8,
        LEAF = 16,
        BLOCKS = 2 * N / LEAF,
        LOOPS = 4
    }; /* over rows, twice over leaves, over rows */
    const struct nn_backend *backend = NULL;
    assert_int_equal(nn_backend_find(&backend, "ref"), SOTTO_OK);
    par_set_threads(1);
    assert_int_equal(ntxent_create(&loss, NTXENT_KERAS, N, D, LEAF, backend), SOTTO_OK);
    ntxent_set_stop(loss, latch);
    asks("keras", run_loss, NULL, LOOPS * BLOCKS);
    ntxent_free(loss);
    assert_int_equal(ntxent_create(&loss, NTXENT_SIMCLR, N, D, LEAF, backend), SOTTO_OK);
    ntxent_set_stop(loss, latch);
    asks("simclr", run_loss, NULL, LOOPS * BLOCKS);
    ntxent_free(loss);
}

static int set_up(void **state)
{
    (void)state;
    for (size_t t = 0; t < TENSORS; t++) {
        tensor[t] = base_alloc(NUMBERS, sizeof(float));
        if (!tensor[t])
            return -1;
        for (size_t i = 0; i < NUMBERS; i++)
            tensor[t][i] = (float)(i * 37 % 64) / 32 - 1;
    }
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    for (size_t t = 0; t < TENSORS; t++)
        base_free(tensor[t]);
    return 0;
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down)
