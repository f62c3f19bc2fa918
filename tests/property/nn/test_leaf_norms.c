/* Norm scope "leaf": leaves that know nothing of each other. The gradient is the sum of gradients of networks that see one leaf each,
 * and the running moments are the mean of theirs; the same bits on any number of threads, a last leaf that is not full included. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/model/epoch_moments.h"
#include "nn/model/model.h"
#include "nn/plan/leaves.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { LEAF = 2, VIEWS = 2, SIDE = 16, INPUTS = 3 * SIDE * SIDE, STEPS = 3, EPOCHS = 2, MOST = 8 };

static const struct nn_model_config network = {
    .name = "resnet8", .input = {3, SIDE, SIDE}, .projector = {16, 8}, .projector_count = 2};

struct world {
    struct nn_model *model;
    struct leaves *leaves;
    struct epoch_moments *moments; /* NULL: norm scope "batch" */
    size_t first, records, width;  /* of the step: the first record that it sees, and how many */
    uint64_t step;
};

static sotto_status fill(float *input, void *state, const struct leaf *leaf)
{
    const struct world *w = state;
    for (size_t v = 0; v < VIEWS; v++)
        for (size_t i = 0; i < leaf->count; i++) {
            struct rng r = rng_stream(7, RNG_TEST, w->step * VIEWS + v, w->first + leaf->first + i);
            for (size_t k = 0; k < INPUTS; k++)
                input[(v * leaf->room + i) * INPUTS + k] = rng_unit_f(&r);
        }
    return SOTTO_OK;
}

static void open_world(struct world *w, const char *scope, int threads)
{
    struct leaves_config c = {.records = w->records,
                              .views = VIEWS,
                              .dtype = machine.type,
                              .backend = machine.kernels,
                              .threads = threads};
    assert_int_equal(nn_model_create(&w->model, &network, 2), SOTTO_OK);
    const size_t leaf = w->records < LEAF ? w->records : LEAF;
    assert_int_equal(leaf_order_resolve(&c.order, "exact", leaf, &network, w->records, VIEWS), SOTTO_OK);
    assert_int_equal(leaf_order_norms(&c.order, scope, leaf, &network, w->records, VIEWS), SOTTO_OK);
    if (c.order.leaf_norms)
        assert_int_equal(epoch_moments_create(&w->moments, w->model, STEPS, NULL), SOTTO_OK);
    c.moments = w->moments;
    assert_int_equal(leaves_create(&w->leaves, w->model, &c), SOTTO_OK);
    w->width = nn_model_output_width(w->model);
}

static void close_world(struct world *w)
{
    leaves_free(w->leaves);
    epoch_moments_free(w->moments);
    nn_model_free(w->model);
}

static void take_step(struct world *w, uint64_t number)
{
    w->step = number;
    assert_int_equal(leaves_forward(w->leaves, 1, 4, number, fill, w), SOTTO_OK);
    float *diff = leaves_diff_output(w->leaves);
    const float *output = leaves_output(w->leaves);
    for (size_t i = 0; i < VIEWS * w->records * w->width; i++)
        diff[i] = output[i] - 0.1f * (float)(i % w->width % 3);
    assert_int_equal(leaves_backward(w->leaves), SOTTO_OK);
    leaves_keep_moments(w->leaves);
    if (w->moments && number % STEPS == STEPS - 1)
        assert_int_equal(epoch_moments_finish(w->moments), SOTTO_OK);
}

static double distance(const float *a, const double *b, size_t n)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        error += pow((double)a[i] - b[i], 2);
        size += b[i] * b[i];
    }
    return sqrt(error / size);
}

/* How far the last gradient and the running moments are from those of networks that see one leaf each. */
static void compare(double *gradient, double *moments, const char *scope, size_t records)
{
    struct world cut = {.records = records}, alone[MOST / LEAF];
    const size_t leaves = (records + LEAF - 1) / LEAF;
    open_world(&cut, scope, 2);
    const size_t n = cut.model->trainable, s = cut.model->statistic_count;
    double *sum = base_alloc(n, sizeof *sum), *mean = base_alloc(s, sizeof *mean);
    assert_true(sum && mean);
    for (size_t i = 0; i < leaves; i++) {
        const size_t left = records - i * LEAF;
        alone[i] = (struct world){.first = i * LEAF, .records = left < LEAF ? left : LEAF};
        open_world(&alone[i], "batch", 1);
    }
    for (uint64_t k = 0; k < EPOCHS * STEPS; k++) {
        take_step(&cut, k);
        for (size_t i = 0; i < leaves; i++)
            take_step(&alone[i], k);
    }
    for (size_t i = 0; i < leaves; i++) {
        for (size_t k = 0; k < n; k++)
            sum[k] += (double)alone[i].model->diffs[k];
        for (size_t k = 0; k < s; k++)
            mean[k] += (double)alone[i].model->statistics[k] * (double)alone[i].records / (double)records;
        close_world(&alone[i]);
    }
    *gradient = distance(cut.model->diffs, sum, n);
    *moments = distance(cut.model->statistics, mean, s);
    base_free(sum);
    base_free(mean);
    close_world(&cut);
}

/* Full leaves have the shape of the networks alone, so that only the order of sums differs. */
TEST(leaves_know_nothing_of_each_other)
{
    double gradient, moments;
    compare(&gradient, &moments, "leaf", 8);
    if (!(gradient < 1e-5) || !(moments < 1e-6))
        fail_msg("gradient %g, moments %g", gradient, moments);
    compare(&gradient, &moments, "leaf", 7); /* the last leaf is half full */
    if (!(moments < (machine.type == NN_BF16 ? 1e-2 : 1e-5)))
        fail_msg("moments %g", moments);
    compare(&gradient, &moments, "batch", 8); /* so that this test can fail */
    assert_true(gradient > 1e-2);
}

TEST(threads_change_no_bit)
{
    struct world one = {.records = 7}, more;
    open_world(&one, "leaf", 1);
    for (uint64_t k = 0; k < STEPS; k++)
        take_step(&one, k);
    for (int threads = 2; threads <= 3; threads++) {
        more = (struct world){.records = 7};
        open_world(&more, "leaf", threads);
        for (uint64_t k = 0; k < STEPS; k++)
            take_step(&more, k);
        assert_memory_equal(more.model->diffs, one.model->diffs, one.model->trainable * sizeof(float));
        assert_memory_equal(more.model->statistics, one.model->statistics,
                            one.model->statistic_count * sizeof(float));
        close_world(&more);
    }
    close_world(&one);
}

TEST(what_cannot_be_is_refused)
{
    const struct nn_model_config group = {
        .name = "resnet8", .norm = "group", .input = {3, SIDE, SIDE}, .classes = 5};
    const struct {
        const char *scope;
        const struct nn_model_config *model;
        bool exact;
        size_t records, views;
        const char *text;
    } cases[] = {
        {"rank", &network, true, 8, 2, "norm_scope 'rank' is unknown; expected batch or leaf"},
        {"leaf", &network, false, 8, 2, "norm_scope leaf cannot be given with order fast; give order exact"},
        {"leaf", &group, true, 8, 2,
         "norm_scope leaf: the network has no batch normalisation that is trained"},
        {"leaf", &network, true, 7, 1, "leaves 1 record for the last one, which has no deviation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct leaf_order o = {.exact = cases[i].exact, .leaf = LEAF};
        assert_int_equal(
            leaf_order_norms(&o, cases[i].scope, LEAF, cases[i].model, cases[i].records, cases[i].views),
            SOTTO_EINVAL);
        if (!strstr(sotto_error_text(), cases[i].text))
            fail_msg("case %zu: %s", i, sotto_error_text());
    }
    struct leaf_order o = {.exact = true, .leaf = LEAF};
    assert_int_equal(leaf_order_norms(&o, NULL, 0, &group, 7, 1), SOTTO_OK);
    assert_false(o.leaf_norms);
    assert_string_equal(leaf_order_asked("auto", "leaf"), "exact");
    assert_string_equal(leaf_order_asked("fast", "leaf"), "fast");
    assert_string_equal(leaf_order_asked("auto", "batch"), "auto");
}

TEST_GROUP(.next = machine_next)
