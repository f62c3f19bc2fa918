/* A step in leaves: the gradient of one plan of all records, up to rounding; the same bits on any number of threads, noise and
 * filled-up leaves included; noise that differs from leaf to leaf; which orders there are. */
#include "support/test.h"
#include "support/machine.h"
#include "support/worse.h"
#include "nn/model/model.h"
#include "nn/plan/leaves.h"
#include "rng/rng.h"

#include <math.h>

enum { RECORDS = 7, LEAF = 2, SIDE = 32, INPUTS = 3 * SIDE * SIDE };

static const struct nn_model_config networks[] = {
    {.name = "keras-simclr", .input = {3, SIDE, SIDE}, .projector = {16, 8}, .projector_count = 2},
    {.name = "resnet8", .norm = "group", .input = {3, SIDE, SIDE}, .classes = 5},
    {.name = "resnet8",
     .norm = "group",
     .input = {3, SIDE, SIDE},
     .classes = 5,
     .noise = {.kind = NN_NOISE_ADDITIVE, .gamma = 0.1},
     .input_noise = 0.1},
    {.name = "cnn", .input = {3, SIDE, SIDE}, .classes = 5, .hidden = {8, 16, 16}, .hidden_count = 3},
    {.name = "keras-simclr", .input = {3, SIDE, SIDE}, .classes = 5, .freeze = {.blocks = 2}},
    {.name = "resnet8",
     .input = {3, SIDE, SIDE},
     .projector = {16, 8},
     .projector_count = 2}, /* batch norm */
    {.name = "resnet18", .input = {3, SIDE, SIDE}, .classes = 5, .freeze = {.blocks = 2}},
    /* a leaf's numbers are whole chunks of the noise here, so one plan of all records draws the same */
    {.name = "resnet8",
     .norm = "group",
     .input = {3, SIDE, SIDE},
     .classes = 5,
     .noise = {.kind = NN_NOISE_ADDITIVE, .gamma = 0.3, .relative = 1}},
    {.name = "resnet8",
     .input = {3, SIDE, SIDE},
     .classes = 5,
     .noise = {.kind = NN_NOISE_ADDITIVE, .gamma = 0.3, .relative = 1}}, /* batch norm too */
};
enum {
    NETWORKS = sizeof networks / sizeof *networks,
    NOISY = 2,
    BATCH_NORM = 5,
    LARGEST = 6,
    RELATIVE = 7,
    SEEDS = 3,
    STATISTICS = 16384
};

static size_t views_of(size_t network)
{
    return network == 0 || network == BATCH_NORM ? 2 : 1;
}

struct world {
    struct nn_model *model;
    struct leaves *leaves;
    size_t views, width;
    uint64_t seed; /* of the records */
    bool alike;    /* all records are the same */
};

/* View v of record i of the step, wherever it lies. */
static sotto_status fill(float *input, void *state, const struct leaf *leaf)
{
    const struct world *w = state;
    for (size_t v = 0; v < w->views; v++)
        for (size_t i = 0; i < leaf->count; i++) {
            struct rng r = rng_stream(w->seed, RNG_TEST, v, w->alike ? 0 : leaf->first + i);
            for (size_t k = 0; k < INPUTS; k++)
                input[(v * leaf->room + i) * INPUTS + k] = rng_unit_f(&r);
        }
    return SOTTO_OK;
}

/* The same first values each time, which are drawn once: there are 11 million in the largest network. */
static struct nn_model *make_model(const struct nn_model_config *config)
{
    static struct nn_model *first[NETWORKS];
    const size_t k = (size_t)(config - networks);
    struct nn_model *m = NULL;
    if (!first[k])
        assert_int_equal(nn_model_create(&first[k], config, 2), SOTTO_OK);
    assert_int_equal(nn_model_create_blank(&m, config), SOTTO_OK);
    memcpy(m->values, first[k]->values, m->trainable * sizeof *m->values);
    return m;
}

static void open_world(struct world *w, const struct nn_model_config *config, const char *order, int threads)
{
    struct leaves_config c = {.records = RECORDS,
                              .views = w->views,
                              .dtype = machine.type,
                              .backend = machine.kernels,
                              .threads = threads};
    w->model = make_model(config);
    assert_int_equal(leaf_order_resolve(&c.order, order, strcmp(order, "exact") == 0 ? LEAF : 0, config,
                                        RECORDS, w->views),
                     SOTTO_OK);
    assert_int_equal(leaves_create(&w->leaves, w->model, &c), SOTTO_OK);
    w->width = nn_model_output_width(w->model);
}

static void close_world(struct world *w)
{
    leaves_free(w->leaves);
    nn_model_free(w->model);
}

/* The gradient by outputs is a function of the outputs, so that errors of either way show. */
static void step(struct world *w, uint64_t number)
{
    assert_int_equal(leaves_forward(w->leaves, 1, 4, number, fill, w), SOTTO_OK);
    float *diff = leaves_diff_output(w->leaves);
    const float *output = leaves_output(w->leaves);
    for (size_t i = 0; i < w->views * RECORDS * w->width; i++)
        diff[i] = output[i] - 0.1f * (float)(i % 3);
    assert_int_equal(leaves_backward(w->leaves), SOTTO_OK);
}

static double distance(const float *a, const float *b, size_t n)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        error += pow((double)a[i] - (double)b[i], 2);
        size += pow((double)b[i], 2);
    }
    return sqrt(error / size);
}

/* How far outputs and gradients in leaves are from those of one plan, whichever is more. */
static double difference(size_t network, uint64_t seed)
{
    struct world whole = {.views = views_of(network), .seed = seed}, cut = whole;
    double most = 0;
    open_world(&whole, &networks[network], "fast", 1);
    open_world(&cut, &networks[network], "exact", 2);
    assert_int_equal(leaves_count(cut.leaves), (RECORDS + LEAF - 1) / LEAF);
    for (uint64_t s = 0; s < 2; s++) {
        step(&whole, s);
        step(&cut, s);
        most = worse(most, distance(cut.model->diffs, whole.model->diffs, whole.model->trainable));
        most = worse(most, distance(leaves_output(cut.leaves), leaves_output(whole.leaves),
                                    whole.views * RECORDS * whole.width));
        if (whole.model->statistic_count)
            most = worse(
                most, distance(cut.model->statistics, whole.model->statistics, whole.model->statistic_count));
    }
    close_world(&whole);
    close_world(&cut);
    return most;
}

/* The least of three: a number so near the threshold of a ReLU that rounding takes it to the other side moves a gradient by a
 * part of its own. In bf16 rounding does so in deep networks with batch norm, whatever the records are. */
TEST(leaves_give_the_gradient_of_all_records)
{
    const double tolerance = machine.type == NN_BF16 ? 0.02 : 2e-5;
    for (size_t k = 0; k < NETWORKS; k++) {
        if (k == NOISY || (k > BATCH_NORM && k != RELATIVE && machine.type == NN_BF16))
            continue; /* NOISY: other draws */
        double least = INFINITY;
        for (uint64_t seed = 1; seed <= SEEDS && !(least < tolerance); seed++)
            least = fmin(least, difference(k, seed));
        if (!(least < tolerance))
            fail_msg("%s %zu: differs by %g", networks[k].name, k, least);
    }
}

static void threads_change_no_bit(size_t first, size_t end)
{
    for (size_t k = first; k < end; k++) {
        struct world one = {.views = views_of(k)};
        char kernels[LEAVES_MACHINE], others[LEAVES_MACHINE];
        static float start[STATISTICS];
        open_world(&one, &networks[k], "exact", 1);
        const size_t size = one.model->statistic_count * sizeof(float);
        memcpy(start, one.model->statistics, size);
        assert_int_equal(leaves_machine(kernels, one.leaves), SOTTO_OK);
        assert_memory_equal(one.model->statistics, start, size);
        step(&one, 5);
        for (int threads = 2; threads <= 5; threads += threads == 2 ? 1 : 2) {
            struct world many = {.views = one.views};
            open_world(&many, &networks[k], "exact", threads);
            assert_int_equal(leaves_machine(others, many.leaves), SOTTO_OK);
            assert_string_equal(others, kernels);
            step(&many, 4); /* what a step leaves behind must not show in the next */
            memcpy(many.model->statistics, start, size);
            step(&many, 5);
            assert_memory_equal(many.model->statistics, one.model->statistics, size);
            assert_memory_equal(many.model->diffs, one.model->diffs, one.model->trainable * sizeof(float));
            assert_memory_equal(leaves_output(many.leaves), leaves_output(one.leaves),
                                one.views * RECORDS * one.width * sizeof(float));
            close_world(&many);
        }
        close_world(&one);
    }
}

TEST(threads_change_no_bit_without_batch_norm)
{
    threads_change_no_bit(0, BATCH_NORM);
}

TEST(threads_change_no_bit_with_batch_norm)
{
    threads_change_no_bit(BATCH_NORM, LARGEST);
}

TEST(threads_change_no_bit_in_the_largest_network)
{
    threads_change_no_bit(LARGEST, RELATIVE);
}

TEST(threads_change_no_bit_with_noise_relative_to_values)
{
    threads_change_no_bit(RELATIVE, NETWORKS);
}

static void take_weights(struct world *to, const struct world *from)
{
    memcpy(to->model->values, from->model->values, from->model->trainable * sizeof(float));
}

static void move_weights(struct world *w)
{
    for (size_t i = 0; i < w->model->trainable; i++)
        w->model->values[i] *= 1.25f;
}

/* What was made of weights before they moved is made anew, in training and in use, whatever the number of the step. */
TEST(weights_that_moved_are_seen)
{
    static const size_t tried[] = {0, 1, 3, BATCH_NORM};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        const size_t k = tried[i];
        struct world used = {.views = views_of(k)}, fresh = used;
        open_world(&used, &networks[k], "exact", 2);
        open_world(&fresh, &networks[k], "exact", 2);
        const size_t bytes = used.views * RECORDS * used.width * sizeof(float);
        step(&used, 5);
        move_weights(&used);
        step(&used, 5);
        take_weights(&fresh, &used);
        step(&fresh, 5);
        assert_memory_equal(leaves_output(used.leaves), leaves_output(fresh.leaves), bytes);
        assert_memory_equal(used.model->diffs, fresh.model->diffs, used.model->trainable * sizeof(float));
        move_weights(&used);
        assert_int_equal(leaves_forward(used.leaves, 0, 4, 5, fill, &used), SOTTO_OK);
        close_world(&fresh);
        open_world(&fresh, &networks[k], "exact", 2);
        take_weights(&fresh, &used);
        memcpy(fresh.model->statistics, used.model->statistics, used.model->statistic_count * sizeof(float));
        assert_int_equal(leaves_forward(fresh.leaves, 0, 4, 5, fill, &fresh), SOTTO_OK);
        assert_memory_equal(leaves_output(used.leaves), leaves_output(fresh.leaves), bytes);
        close_world(&used);
        close_world(&fresh);
    }
}

/* By their place in the step, not in the leaf: equal records get unequal noise. */
TEST(every_leaf_has_noise_of_its_own)
{
    struct world w = {.views = 1, .alike = true};
    open_world(&w, &networks[NOISY], "exact", 1);
    step(&w, 1);
    const float *output = leaves_output(w.leaves);
    for (size_t i = 0; i < RECORDS; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(output + i * w.width, output + j * w.width, w.width * sizeof *output);
    close_world(&w);
    open_world(&w, &networks[NOISY - 1], "exact", 1); /* without noise they are equal: the check can fail */
    step(&w, 1);
    output = leaves_output(w.leaves);
    for (size_t i = 1; i < RECORDS; i++)
        assert_memory_equal(output + i * w.width, output, w.width * sizeof *output);
    close_world(&w);
}

/* One deviation for all leaves, in use as in training. */
TEST(in_use_relative_noise_is_that_of_the_step)
{
    struct world whole = {.views = 1, .seed = 1}, cut = whole;
    open_world(&whole, &networks[RELATIVE + 1], "fast", 1);
    open_world(&cut, &networks[RELATIVE + 1], "exact", 2);
    step(&whole, 1); /* moves running moments */
    memcpy(cut.model->statistics, whole.model->statistics, whole.model->statistic_count * sizeof(float));
    assert_int_equal(leaves_forward(whole.leaves, 0, 4, 3, fill, &whole), SOTTO_OK);
    assert_int_equal(leaves_forward(cut.leaves, 0, 4, 3, fill, &cut), SOTTO_OK);
    const double far =
        distance(leaves_output(cut.leaves), leaves_output(whole.leaves), RECORDS * whole.width);
    if (!(far < (machine.type == NN_BF16 ? 0.02 : 2e-5)))
        fail_msg("differs by %g", far);
    close_world(&whole);
    close_world(&cut);
}

TEST(sums_go_by_leaves)
{
    struct leaf_order o;
    static const struct {
        size_t records, leaf;
    } expected[] = {{1, 1}, {2, 2}, {7, 3}, {8, 2}, {64, 8}, {100, 13}, {250, 32}, {256, 32}, {1000, 33}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(leaf_order_resolve(&o, "exact", 0, &networks[0], expected[i].records, 2), SOTTO_OK);
        assert_true(o.exact && o.leaf == expected[i].leaf);
    }
    assert_int_equal(leaf_order_resolve(&o, NULL, 0, &networks[0], 256, 2), SOTTO_OK);
    assert_true(o.exact && o.leaf == 32);
    assert_int_equal(leaf_order_resolve(&o, "auto", 0, &networks[0], 4, 2), SOTTO_OK);
    assert_true(!o.exact && o.leaf == 4); /* two leaves of two would cost too much */
}

/* Batch norm, relative noise, an adversary: on request. Frozen, its moments are constants. */
TEST(auto_does_not_wait_for_moments)
{
    struct leaf_order o;
    struct nn_model_config batch = networks[BATCH_NORM];
    assert_int_equal(leaf_order_resolve(&o, "exact", 0, &batch, 256, 2), SOTTO_OK);
    assert_true(o.exact && o.leaf == 32);
    assert_int_equal(leaf_order_resolve(&o, "auto", 0, &batch, 256, 2), SOTTO_OK);
    assert_true(!o.exact && o.leaf == 256);
    assert_int_equal(leaf_order_resolve(&o, "exact", 1, &batch, 256, 1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "leaf: batch normalisation needs leaves of at least 2 records (got 1)");
    assert_int_equal(leaf_order_resolve(&o, "exact", 1, &batch, 256, 2), SOTTO_OK);
    assert_int_equal(leaf_order_resolve(&o, "exact", 1, &networks[RELATIVE], 256, 1), SOTTO_OK);
    assert_true(o.exact && o.leaf == 1);
    assert_int_equal(leaf_order_resolve(&o, "auto", 0, &networks[RELATIVE], 256, 1), SOTTO_OK);
    assert_true(!o.exact && o.leaf == 256);
    struct nn_model_config censored = networks[0];
    censored.adversary = (struct nn_adversary){.values = 2};
    assert_int_equal(leaf_order_resolve(&o, "auto", 0, &censored, 256, 2), SOTTO_OK);
    assert_true(!o.exact && o.leaf == 256);
    assert_int_equal(leaf_order_resolve(&o, "exact", 0, &censored, 256, 2), SOTTO_OK);
    assert_true(o.exact && o.leaf == 32);
    batch.freeze.norms = 1;
    assert_int_equal(leaf_order_resolve(&o, "auto", 0, &batch, 256, 2), SOTTO_OK);
    assert_true(o.exact);
}

TEST(what_is_no_order_is_refused)
{
    struct leaf_order o;
    assert_int_equal(leaf_order_resolve(&o, "quick", 0, &networks[0], 64, 1), SOTTO_EINVAL);
    assert_int_equal(leaf_order_resolve(&o, "exact", 65, &networks[0], 64, 1), SOTTO_EINVAL);
    assert_int_equal(leaf_order_resolve(&o, "fast", 8, &networks[0], 64, 1), SOTTO_EINVAL);
}

/* All leaves together need less than one plan of all records: gradients of activations are of one leaf at a time. */
TEST(leaves_need_no_more_memory)
{
    static const size_t tried[] = {0, 1, BATCH_NORM};
    for (size_t i = 0; i < 3; i++) {
        const size_t k = tried[i];
        struct leaves_config c = {
            .records = 128, .views = 2, .dtype = machine.type, .backend = machine.kernels, .threads = 2};
        struct leaves *whole = NULL, *cut = NULL;
        struct nn_model *m = NULL;
        assert_int_equal(nn_model_create_blank(&m, &networks[k]), SOTTO_OK);
        assert_int_equal(leaf_order_resolve(&c.order, "fast", 0, &networks[k], 128, 2), SOTTO_OK);
        assert_int_equal(leaves_create(&whole, m, &c), SOTTO_OK);
        assert_int_equal(leaf_order_resolve(&c.order, "exact", 0, &networks[k], 128, 2), SOTTO_OK);
        assert_int_equal(leaves_create(&cut, m, &c), SOTTO_OK);
        if (!((double)leaves_bytes(cut) <= 1.1 * (double)leaves_bytes(whole)))
            fail_msg("%s: %zu bytes, as one plan %zu", networks[k].name, leaves_bytes(cut),
                     leaves_bytes(whole));
        leaves_free(whole);
        leaves_free(cut);
        nn_model_free(m);
    }
}

static sotto_status create_without_memory(const struct nn_model_config *network, long allocations)
{
    struct leaves_config c = {.order = {true, 2},
                              .records = 5,
                              .views = 1,
                              .dtype = machine.type,
                              .backend = machine.kernels,
                              .threads = 2};
    struct leaves *l = NULL;
    struct nn_model *m = NULL;
    assert_int_equal(nn_model_create_blank(&m, network), SOTTO_OK);
    base_alloc_fail_after(allocations);
    sotto_status status = leaves_create(&l, m, &c);
    base_alloc_fail_after(-1);
    leaves_free(l);
    nn_model_free(m);
    return status;
}

TEST(no_memory_is_an_error)
{
    static const size_t tried[] = {3, BATCH_NORM, RELATIVE + 1};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        long n = 0;
        sotto_status status;
        while ((status = create_without_memory(&networks[tried[i]], n)) == SOTTO_ENOMEM)
            n += 3;
        assert_int_equal(status, SOTTO_OK);
        assert_true(n > 15);
    }
}

TEST_GROUP(.shards = 5, .next = machine_next, .tags = "matrix matrix-dtype")
