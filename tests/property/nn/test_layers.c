/* Norm, pooling and dropout layers against their definitions in double: values, and gradients against central
 * differences of the definition; every shape with the tails that vector code gets wrong; bf16 against f32. */
#include "support/test.h"
#include "support/layer_bench.h"
#include "support/machine.h"
#include "io/array/tensors.h"
#include "nn/kernel/kernels.h"
#include "nn/model/model.h"
#include "support/oracle.h"
#include "rng/rng.h"

#include <float.h>
#include <string.h>

/* ---- definitions ---- */

struct definition {
    const struct bench *bench;
    double *dst;
};

/** Group of values that share their moments: (image, group) or channel. */
static size_t moment_group(const struct bench *b, size_t i)
{
    struct nn_shape s = b->src.shape;
    size_t c = i % s.channels;
    if (b->spec.layer == &layer_batch_norm)
        return c;
    return i / shape_count(s) * b->spec.groups + c / (s.channels / b->spec.groups);
}

static void define_norm(double *dst, const double *x, const double *weight, const double *bias,
                        const struct bench *b)
{
    enum { GROUPS_MAX = 128 };
    double mean[GROUPS_MAX] = {0}, square[GROUPS_MAX] = {0}, count[GROUPS_MAX] = {0};
    for (size_t i = 0; i < b->src.count; i++) {
        mean[moment_group(b, i)] += x[i];
        count[moment_group(b, i)]++;
    }
    for (size_t g = 0; g < GROUPS_MAX; g++)
        mean[g] /= count[g];
    for (size_t i = 0; i < b->src.count; i++)
        square[moment_group(b, i)] += pow(x[i] - mean[moment_group(b, i)], 2);
    for (size_t i = 0; i < b->src.count; i++) {
        size_t g = moment_group(b, i), c = i % b->src.shape.channels;
        dst[i] = (x[i] - mean[g]) / sqrt(square[g] / count[g] + 1e-5) * weight[c] + bias[c];
    }
}

static void define_running_norm(double *dst, const double *x, const double *weight, const double *bias,
                                const struct bench *b)
{
    for (size_t i = 0; i < b->src.count; i++) {
        size_t c = i % b->src.shape.channels;
        double mean = (double)b->parameters[2].value[c], variance = (double)b->parameters[3].value[c];
        dst[i] = (x[i] - mean) / sqrt(variance + 1e-5) * weight[c] + bias[c];
    }
}

static void define_pool(double *dst, const double *x, const struct bench *b)
{
    struct nn_shape s = b->src.shape, d = b->dst.shape;
    int global = b->spec.layer == &layer_global_pool, largest = b->spec.layer == &layer_max_pool;
    size_t kernel = b->spec.kernel, stride = b->spec.stride;
    long pad = (long)b->spec.pad;
    for (size_t i = 0; i < b->dst.count; i++) {
        size_t c = i % d.channels, q = i / d.channels % d.width, p = i / d.channels / d.width % d.height,
               n = i / shape_count(d);
        double sum = 0, top = -INFINITY;
        for (long h = 0; h < (long)(global ? s.height : kernel); h++)
            for (long w = 0; w < (long)(global ? s.width : kernel); w++) {
                long y = h + (global ? 0 : (long)(p * stride) - pad),
                     z = w + (global ? 0 : (long)(q * stride) - pad);
                if (y < 0 || z < 0 || y >= (long)s.height || z >= (long)s.width)
                    continue;
                double v = x[((n * s.height + (size_t)y) * s.width + (size_t)z) * s.channels + c];
                sum += v;
                top = fmax(top, v);
            }
        dst[i] = largest ? top : sum / (double)(global ? s.height * s.width : kernel * kernel);
    }
}

/** x: source, then weight, then bias. Returns <dst, diff_dst>. */
static double define(const double *x, void *arg)
{
    const struct definition *d = arg;
    const struct bench *b = d->bench;
    const double *weight = x + b->src.count, *bias = weight + b->src.shape.channels;
    if (b->spec.layer == &layer_tanh)
        for (size_t i = 0; i < b->src.count; i++)
            d->dst[i] = tanh(x[i]);
    else if (b->parameter_count == 0)
        define_pool(d->dst, x, b);
    else if (b->spec.layer == &layer_batch_norm && !b->pass.training)
        define_running_norm(d->dst, x, weight, bias, b);
    else
        define_norm(d->dst, x, weight, bias, b);
    double sum = 0;
    for (size_t i = 0; i < b->dst.count; i++) {
        if (b->spec.relu)
            d->dst[i] = fmin(fmax(d->dst[i], 0), b->spec.cap > 0 ? b->spec.cap : INFINITY);
        sum += d->dst[i] * value_of(&b->dst, b->dst.diff, i);
    }
    return sum;
}

/* ---- checks ---- */

static void check(const struct layer_spec spec, struct nn_shape shape, size_t batch, int training,
                  double offset, double tolerance)
{
    enum { MAX = 8192 };
    static double x[MAX], dst[MAX], numeric[MAX];
    static float found[MAX];
    struct bench b;
    open_bench(&b, spec, shape, batch, NN_F32, offset);
    b.pass.training = training;
    size_t channels = shape.channels, count = b.src.count + (b.parameter_count ? 2 * channels : 0);
    assert_true(count <= MAX && b.dst.count <= MAX);
    for (size_t i = 0; i < b.src.count; i++)
        x[i] = value_of(&b.src, b.src.data, i);
    for (size_t c = 0; c < channels && b.parameter_count; c++) {
        x[b.src.count + c] = (double)b.parameters[0].value[c];
        x[b.src.count + channels + c] = (double)b.parameters[1].value[c];
    }
    struct definition d = {&b, dst};
    b.spec.relu = 0;
    define(x, &d);
    for (size_t i = 0; i < b.dst.count;
         i++) /* no loss on values at a kink of the ReLU, where it has no slope */
        if (fabs(dst[i]) < 1e-4 || fabs(dst[i] - spec.cap) < 1e-4)
            set_value(&b.dst, b.dst.diff, i, 0);
    b.spec.relu = spec.relu;
    define(x, &d); /* before forward moves the running moments */
    oracle_gradient(numeric, define, x, count, 1e-6, &d);
    define(x, &d);
    spec.layer->forward(&b.run, &b.pass);
    narrow(found, &b.dst, b.dst.data);
    if (!(oracle_distance(found, dst, b.dst.count) < tolerance))
        fail_msg("%s: forward differs by %g", spec.layer->name, oracle_distance(found, dst, b.dst.count));
    for (size_t i = 0; spec.relu && !spec.layer->applies_own_relu_mask && i < b.dst.count;
         i++) /* the plan's part */
        if (dst[i] <= 0)
            ((float *)b.dst.diff)[i] = 0;
    spec.layer->backward(&b.run, &b.pass);
    narrow(found, &b.src, b.src.diff);
    if (!(oracle_distance(found, numeric, b.src.count) < 5 * tolerance))
        fail_msg("%s (%zu channels, relu %d): diff_src differs by %g", spec.layer->name, shape.channels,
                 spec.relu, oracle_distance(found, numeric, b.src.count));
    for (size_t p = 0; p < 2 && b.parameter_count; p++)
        if (!(oracle_distance(b.parameters[p].diff, numeric + b.src.count + p * channels, channels) <
              5 * tolerance))
            fail_msg("%s: gradient of %s is off", spec.layer->name, b.parameters[p].name);
    close_bench(&b);
}

static const struct nn_shape norm_shapes[] = {{1, 3, 3},  {3, 2, 5},  {16, 3, 2},
                                              {18, 3, 3}, {40, 2, 2}, {64, 1, 1}};
enum { NORM_SHAPES = sizeof norm_shapes / sizeof *norm_shapes };

TEST(batch_norm_matches_its_definition)
{
    for (size_t i = 0; i < NORM_SHAPES; i++)
        for (int relu = 0; relu < 3; relu++)
            for (int training = 0; training < 2; training++)
                check((struct layer_spec){.layer = &layer_batch_norm,
                                          .path = "bn",
                                          .relu = relu > 0,
                                          .cap = relu > 1 ? 0.8 : 0},
                      norm_shapes[i], 5, training, 0.3, 1e-6);
}

/** A batch norm adds a residual source before its ReLU, with the bits of three passes; backward takes a gradient that was
 * masked by the sum. f32, 2 threads. */
TEST(batch_norm_adds_before_its_relu)
{
    struct bench sum, plain;
    struct layer_spec spec = {.layer = &layer_batch_norm, .path = "bn", .relu = 1};
    struct nn_shape shape = {40, 9, 11};
    open_bench(&sum, spec, shape, 6, NN_F32, 0.5);
    spec.relu = 0;
    open_bench(&plain, spec, shape, 6, NN_F32, 0.5);
    sum.run.residual = &plain.src;
    layer_batch_norm.forward(&sum.run, &sum.pass);
    layer_batch_norm.forward(&plain.run, &plain.pass);
    const float *more = plain.src.data, *found = sum.dst.data;
    float *expected = plain.dst.data;
    for (size_t i = 0; i < plain.dst.count; i++) {
        expected[i] += more[i];
        expected[i] = expected[i] > 0 ? expected[i] : 0;
    }
    assert_memory_equal(found, expected, plain.dst.count * sizeof *found);
    layer_batch_norm.backward(&sum.run, &sum.pass);
    layer_batch_norm.backward(&plain.run, &plain.pass);
    assert_memory_equal(sum.src.diff, plain.src.diff, plain.src.count * sizeof *found);
    for (size_t p = 0; p < 2; p++)
        assert_memory_equal(sum.parameters[p].diff, plain.parameters[p].diff,
                            plain.parameters[p].count * sizeof *found);
    close_bench(&sum);
    close_bench(&plain);
}

/** A mean 1000 times the deviation costs f32 three digits in the source itself, and no more than that. */
TEST(norms_survive_large_means)
{
    check((struct layer_spec){.layer = &layer_batch_norm, .path = "bn"}, (struct nn_shape){18, 4, 4}, 6, 1,
          1000, 2e-4);
    check((struct layer_spec){.layer = &layer_group_norm, .path = "gn", .groups = 6},
          (struct nn_shape){18, 4, 4}, 6, 1, 1000, 2e-4);
}

TEST(group_norm_matches_its_definition)
{
    static const struct {
        struct nn_shape shape;
        size_t groups;
    } cases[] = {{{16, 3, 2}, 8}, {{16, 3, 3}, 1}, {{18, 2, 3}, 6}, {{40, 2, 2}, 8}, {{5, 4, 4}, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int relu = 0; relu < 3; relu++)
            check((struct layer_spec){.layer = &layer_group_norm,
                                      .path = "gn",
                                      .relu = relu > 0,
                                      .cap = relu > 1 ? 0.8 : 0,
                                      .groups = cases[i].groups},
                  cases[i].shape, 3, 1, 0.3, 2e-6);
}

TEST(pools_match_their_definition)
{
    static const struct {
        size_t kernel, stride, pad;
    } windows[] = {{2, 2, 0}, {2, 1, 0}, {3, 2, 0}, {3, 2, 1}, {3, 1, 1}, {2, 3, 0}, {1, 1, 0}};
    const struct layer *const layers[] = {&layer_max_pool, &layer_average_pool};
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
            check((struct layer_spec){.layer = layers[l],
                                      .path = "pool",
                                      .kernel = windows[i].kernel,
                                      .stride = windows[i].stride,
                                      .pad = windows[i].pad},
                  (struct nn_shape){5, 7, 6}, 3, 1, 0, 1e-6);
    check((struct layer_spec){.layer = &layer_max_pool, .path = "pool", .kernel = 2, .stride = 2},
          (struct nn_shape){70, 4, 4}, 3, 1, 0, 1e-6); /* more channels than a block of backward */
    check((struct layer_spec){.layer = &layer_global_pool, .path = "pool"}, (struct nn_shape){5, 7, 6}, 3, 1,
          0, 1e-6);
}

TEST(tanh_matches_its_definition)
{
    static const struct nn_shape shapes[] = {{1, 1, 1}, {3, 2, 5}, {16, 3, 2}, {18, 3, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int offset = -2; offset <= 2; offset += 2)
            check((struct layer_spec){.layer = &layer_tanh, .path = "t"}, shapes[i], 3, 1, offset, 1e-6);
}

/** Ends, zeros and what is no number; absolute error elsewhere, sign included, as kernels.h promises. */
TEST(tanh_holds_at_the_ends)
{
    const struct kernels *k = kernels_best();
    const float x[] = {0, -0.0f, INFINITY, -INFINITY, 100, -100, FLT_MAX, FLT_MIN, -FLT_MIN, NAN};
    enum { ENDS = sizeof x / sizeof *x, STEPS = 20001 };
    static float grid[STEPS], y[STEPS];
    k->tanh[NN_F32](y, x, ENDS);
    for (size_t i = 0; i + 1 < ENDS; i++) {
        assert_true(fabs((double)y[i] - tanh((double)x[i])) < 3e-7);
        assert_int_equal(signbit(y[i]) != 0, signbit(x[i]) != 0);
    }
    assert_true(isnan(y[ENDS - 1]));
    for (size_t i = 0; i < STEPS; i++)
        grid[i] = ((float)i - STEPS / 2) * 1e-3f;
    k->tanh[NN_F32](y, grid, STEPS);
    for (size_t i = 0; i < STEPS; i++)
        if (!(fabs((double)y[i] - tanh((double)grid[i])) < 3e-7))
            fail_msg("tanh(%.9g) = %.9g", (double)grid[i], (double)y[i]);
}

/** torch.nn.BatchNorm2d keeps 0.9 of the old and 0.1 of the new moments, the variance divided by M - 1. */
TEST(running_moments_move_by_a_tenth)
{
    struct bench b;
    open_bench(&b, (struct layer_spec){.layer = &layer_batch_norm, .path = "bn"}, (struct nn_shape){1, 1, 2},
               2, NN_F32, 0);
    const float source[4] = {1, 2, 3, 6}; /* mean 3, sum of squares around it 14 */
    memcpy(b.src.data, source, sizeof source);
    b.parameters[2].value[0] = 1;
    b.parameters[3].value[0] = 2;
    b.spec.layer->forward(&b.run, &b.pass);
    assert_true(fabsf(b.parameters[2].value[0] - 1.2f) < 1e-6f);
    assert_true(fabsf(b.parameters[3].value[0] - (1.8f + 0.1f * 14 / 3)) < 1e-6f);
    b.pass.training = 0;
    b.spec.layer->forward(&b.run, &b.pass);
    assert_true(fabsf(b.parameters[2].value[0] - 1.2f) < 1e-6f); /* evaluation moves nothing */
    close_bench(&b);
}

TEST(batch_norm_refuses_a_batch_of_one)
{
    struct nn_model *m = NULL;
    struct nn_plan *p = NULL;
    struct nn_model_config config = {.name = "resnet8", .input = {3, 8, 8}, .classes = 10};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    assert_int_equal(
        nn_plan_create(&p, m,
                       &(struct nn_plan_config){.batch = 1, .backend = machine.kernels, .training = 1}),
        SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "encoder.layer1.0.bn1: batch normalisation cannot train on a "
                                            "batch of 1; use a batch of at least 2, or group normalisation");
    assert_int_equal(nn_plan_create(&p, m, &(struct nn_plan_config){.batch = 1, .backend = machine.kernels}),
                     SOTTO_OK);
    nn_plan_free(p);
    nn_model_free(m);
}

/** Values kept and dropped, their share, the same mask backward, another one at another step, none in
 * evaluation. */
TEST(dropout_drops_a_keyed_share)
{
    struct bench b;
    struct nn_shape shape = {40, 25, 25};
    open_bench(&b, (struct layer_spec){.layer = &layer_dropout, .path = "drop", .rate = 0.3}, shape, 4,
               NN_F32, 5);
    float *src = b.src.data, *dst = b.dst.data, *diff_dst = b.dst.diff, *diff_src = b.src.diff;
    static unsigned char mask[100000];
    size_t n = b.src.count, dropped = 0, agree = 0;
    assert_int_equal(n, sizeof mask);
    b.spec.layer->forward(&b.run, &b.pass);
    b.spec.layer->backward(&b.run, &b.pass);
    for (size_t i = 0; i < n; i++) {
        mask[i] = dst[i] == 0;
        dropped += mask[i];
        assert_true(mask[i] || fabsf(dst[i] - src[i] / 0.7f) < 1e-5f);
        assert_true(mask[i] ? diff_src[i] == 0 : fabsf(diff_src[i] - diff_dst[i] / 0.7f) < 1e-5f);
    }
    assert_true(fabs((double)dropped / (double)n - 0.3) <
                6 * sqrt(0.3 * 0.7 / (double)n)); /* 6 standard errors */
    b.pass.step++;
    b.run.threads = 1;
    b.spec.layer->forward(&b.run, &b.pass);
    for (size_t i = 0; i < n; i++)
        agree += mask[i] == (dst[i] == 0);
    assert_true(fabs((double)agree / (double)n - 0.58) < 0.01); /* independent masks agree on .3^2 + .7^2 */
    b.pass.step--;
    b.spec.layer->forward(&b.run, &b.pass);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(mask[i], dst[i] == 0);
    b.pass.training = 0;
    b.spec.layer->forward(&b.run, &b.pass);
    assert_memory_equal(src, dst, n * sizeof *src);
    close_bench(&b);
}

/** The same numbers in bf16 (8 bits of mantissa): results within 1 % of the f32 layer, the norm of the error
 * within. */
TEST(bf16_follows_f32)
{
    static const struct layer_spec specs[] = {
        {.layer = &layer_batch_norm, .path = "a", .relu = 1},
        {.layer = &layer_group_norm, .path = "b", .groups = 4},
        {.layer = &layer_max_pool, .path = "c", .kernel = 2, .stride = 2},
        {.layer = &layer_global_pool, .path = "d"},
        {.layer = &layer_dropout, .path = "e", .rate = 0.5},
        {.layer = &layer_tanh, .path = "f"},
    };
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        struct bench half, full;
        struct nn_shape shape = {20, 6, 6};
        open_bench(&half, specs[s], shape, 4, NN_BF16, 0.5);
        open_bench(&full, specs[s], shape, 4, NN_F32, 0.5);
        for (size_t i = 0; i < full.src.count; i++) /* start from the rounded numbers */
            set_value(&full.src, full.src.data, i, value_of(&half.src, half.src.data, i));
        for (size_t i = 0; i < full.dst.count; i++)
            set_value(&full.dst, full.dst.diff, i, value_of(&half.dst, half.dst.diff, i));
        struct bench *const both[] = {&half, &full};
        for (size_t k = 0; k < 2; k++) {
            specs[s].layer->forward(&both[k]->run, &both[k]->pass);
            specs[s].layer->backward(&both[k]->run, &both[k]->pass);
        }
        double error[2] = {0}, size[2] = {0};
        for (size_t i = 0; i < full.dst.count; i++) {
            error[0] += pow(value_of(&half.dst, half.dst.data, i) - value_of(&full.dst, full.dst.data, i), 2);
            size[0] += pow(value_of(&full.dst, full.dst.data, i), 2);
        }
        for (size_t i = 0; i < full.src.count; i++) {
            error[1] += pow(value_of(&half.src, half.src.diff, i) - value_of(&full.src, full.src.diff, i), 2);
            size[1] += pow(value_of(&full.src, full.src.diff, i), 2);
        }
        for (size_t k = 0; k < 2; k++)
            if (!(sqrt(error[k]) <= 0.01 * sqrt(size[k])))
                fail_msg("%s: bf16 differs by %g", specs[s].layer->name, sqrt(error[k] / size[k]));
        close_bench(&half);
        close_bench(&full);
    }
}

/** Chunks are fixed and merged in order: one thread or three, the same bits. */
TEST(norms_do_not_depend_on_threads)
{
    static const struct layer_spec specs[] = {
        {.layer = &layer_batch_norm, .path = "a", .relu = 1},
        {.layer = &layer_group_norm, .path = "b", .relu = 1, .groups = 4}};
    for (size_t s = 0; s < 2; s++) {
        struct bench one, three;
        struct nn_shape shape = {20, 30, 30}; /* several chunks */
        open_bench(&one, specs[s], shape, 6, NN_F32, 0.5);
        open_bench(&three, specs[s], shape, 6, NN_F32, 0.5);
        one.run.threads = 1;
        three.run.threads = 3;
        struct bench *const both[] = {&one, &three};
        for (size_t k = 0; k < 2; k++) {
            specs[s].layer->forward(&both[k]->run, &both[k]->pass);
            specs[s].layer->backward(&both[k]->run, &both[k]->pass);
        }
        assert_memory_equal(one.dst.data, three.dst.data, one.dst.count * sizeof(float));
        assert_memory_equal(one.src.diff, three.src.diff, one.src.count * sizeof(float));
        for (size_t p = 0; p < one.parameter_count; p++) {
            size_t bytes = one.parameters[p].count * sizeof(float);
            assert_memory_equal(one.parameters[p].value, three.parameters[p].value, bytes);
            assert_memory_equal(one.parameters[p].diff, three.parameters[p].diff, bytes);
        }
        close_bench(&one);
        close_bench(&three);
    }
}

/** Whatever allocation fails while a residual network is planned, the answer is ENOMEM; and a step allocates
 * nothing. */
TEST(plans_of_resnets_fail_cleanly_and_steps_allocate_nothing)
{
    static const char *const norms[] = {"batch", "group"};
    for (size_t k = 0; k < 2; k++) {
        struct nn_model_config config = {
            .name = "resnet8", .input = {3, 8, 8}, .classes = 3, .norm = norms[k]};
        for (long n = 0;; n++) {
            struct nn_model *m = NULL;
            struct nn_plan *p = NULL;
            assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
            base_alloc_fail_after(n);
            sotto_status status = nn_plan_create(
                &p, m, &(struct nn_plan_config){.batch = 3, .backend = machine.kernels, .training = 1});
            base_alloc_fail_after(-1);
            assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
            assert_true((status == SOTTO_OK) == (p != NULL));
            if (p) {
                nn_plan_forward(p, 1, 1, 0);
                nn_plan_backward(p);
                uint64_t before = base_alloc_count();
                nn_plan_forward(p, 1, 1, 1);
                nn_plan_backward(p);
                assert_int_equal(base_alloc_count(), before);
            }
            nn_plan_free(p);
            nn_model_free(m);
            if (status == SOTTO_OK) {
                assert_true(n > 10);
                break;
            }
        }
    }
}

TEST(impossible_layers_are_refused)
{
    struct nn_shape out, in = {6, 4, 4};
    static const struct {
        struct layer_spec spec;
        const char *text;
    } cases[] = {
        {{.layer = &layer_group_norm, .path = "g", .groups = 4},
         "g: 6 channels cannot be divided into 4 equal groups"},
        {{.layer = &layer_group_norm, .path = "g"}, "g: 6 channels cannot be divided into 0 equal groups"},
        {{.layer = &layer_dropout, .path = "d", .rate = 1}, "d: dropout rate must be in [0, 1) (got 1)"},
        {{.layer = &layer_max_pool, .path = "m", .kernel = 5, .stride = 1},
         "m: its source (4x4) is smaller than the 5x5 window"},
        {{.layer = &layer_max_pool, .path = "m", .kernel = 2}, "m: kernel and stride must be > 0"},
        {{.layer = &layer_average_pool, .path = "m", .kernel = 3, .stride = 1, .pad = 2},
         "m: padding 2 is more than half of the 3x3 window"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cases[i].spec.layer->shape(&out, &cases[i].spec, in), SOTTO_EINVAL);
        assert_string_equal(sotto_error_text(), cases[i].text);
    }
    struct nn_model *m = NULL;
    struct nn_model_config config = {.name = "resnet18", .input = {3, 32, 32}, .norm = "layer"};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "norm 'layer' is unknown; expected batch or group");
}

TEST(networks_have_their_published_sizes)
{
    static const struct {
        struct nn_model_config config;
        size_t parameters, embedding;
    } cases[] = {
        {{.name = "resnet8", .input = {3, 32, 32}, .classes = 10}, 77850, 64},
        {{.name = "tanh-cnn", .input = {3, 32, 32}, .classes = 10}, 550570, 128},
        {{.name = "tanh-small", .input = {1, 28, 28}, .classes = 10}, 26010, 32},
        {{.name = "resnet8", .input = {3, 32, 32}, .classes = 10, .norm = "group"}, 77850, 64},
        {{.name = "resnet8", .input = {3, 50, 50}, .classes = 2}, 77330, 64},
        {{.name = "resnet18", .input = {3, 32, 32}, .classes = 10}, 11173962, 512},
        {{.name = "resnet18", .input = {3, 32, 32}, .classes = 100}, 11220132, 512},
        /* torchvision's counts */
        {{.name = "resnet18-imagenet", .input = {3, 96, 96}, .classes = 1000}, 11689512, 512},
        {{.name = "resnet50-imagenet", .input = {3, 96, 96}, .classes = 1000}, 25557032, 2048},
        {{.name = "mobilenetv2-imagenet", .input = {3, 96, 96}, .classes = 1000}, 3504872, 1280},
        /* the same without 7x7 (9,408) and with 3x3 (1,728) first kernels */
        {{.name = "resnet50", .input = {3, 32, 32}, .classes = 1000}, 25557032 - 9408 + 1728, 2048},
        {{.name = "mobilenetv2", .input = {3, 32, 32}, .classes = 1000}, 3504872, 1280},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nn_model *m = NULL;
        assert_int_equal(nn_model_create_blank(&m, &cases[i].config), SOTTO_OK);
        assert_int_equal(nn_model_parameter_count(m, 1), cases[i].parameters);
        assert_int_equal(nn_model_embedding_width(m), cases[i].embedding);
        nn_model_free(m);
    }
}

/** Running statistics travel with the model's file. */
TEST(running_statistics_are_saved_and_loaded)
{
    struct nn_model *m = NULL, *other = NULL;
    struct nn_model_config config = {.name = "resnet8", .input = {3, 8, 8}, .classes = 3};
    struct sotto_tensors file = {0};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    assert_int_equal(nn_model_create(&other, &config, 2), SOTTO_OK);
    size_t statistics = 0;
    for (size_t p = 0; p < m->parameter_count; p++)
        if (m->parameters[p].statistic) {
            statistics++;
            m->parameters[p].value[0] = 7;
        }
    assert_int_equal(statistics, 2 * 7);
    assert_int_equal(nn_model_export(&file, m, "", 1), SOTTO_OK);
    assert_non_null(tensors_find(&file, "encoder.layer2.0.bn1.running_var"));
    assert_int_equal(nn_model_import(other, &file, "", 1), SOTTO_OK);
    for (size_t p = 0; p < m->parameter_count; p++)
        assert_memory_equal(m->parameters[p].value, other->parameters[p].value,
                            m->parameters[p].count * sizeof(float));
    sotto_tensors_clear(&file);
    nn_model_free(m);
    nn_model_free(other);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix long")
