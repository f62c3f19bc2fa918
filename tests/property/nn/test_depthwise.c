/* Depthwise convolution against its definition in double, both gradients included: kernels, strides, paddings
 * and channel counts with the tails that vector code gets wrong; bf16 against f32. */
#include "support/test.h"

#include "base/cpu.h"
#include "support/layer_bench.h"
#include "support/machine.h"
#include "nn/model/model.h"
#include "support/oracle.h"

#include <stdlib.h>

enum { MAX = 16384, BATCH = 3 };

struct answer {
    double dst[MAX], diff_src[MAX], diff_weight[MAX];
};

/* Every (result, tap) pair that meets a pixel, once, in the three sums it belongs to. */
static void define(struct answer *out, const struct bench *b)
{
    const struct layer_spec *s = &b->spec;
    struct nn_shape in = b->src.shape, to = b->dst.shape;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < b->dst.count; i++) {
        size_t c = i % to.channels, q = i / to.channels % to.width,
               p = i / to.channels / to.width % to.height, image = i / shape_count(to);
        for (size_t tap = 0; tap < s->kernel * s->kernel; tap++) {
            long h = (long)(p * s->stride + tap / s->kernel) - (long)s->pad,
                 w = (long)(q * s->stride + tap % s->kernel) - (long)s->pad;
            if (h < 0 || w < 0 || h >= (long)in.height || w >= (long)in.width)
                continue;
            size_t at = ((image * in.height + (size_t)h) * in.width + (size_t)w) * in.channels + c,
                   weight = c * s->kernel * s->kernel + tap;
            double x = value_of(&b->src, b->src.data, at), g = value_of(&b->dst, b->dst.diff, i);
            out->dst[i] += (double)b->parameters[0].value[weight] * x;
            out->diff_src[at] += (double)b->parameters[0].value[weight] * g;
            out->diff_weight[weight] += x * g;
        }
    }
}

static void check(struct layer_spec spec, struct nn_shape shape, enum nn_dtype dtype, double tolerance)
{
    static struct answer expected;
    static float found[MAX];
    struct bench b;
    spec.layer = &layer_depthwise;
    spec.no_bias = 1;
    open_bench(&b, spec, shape, BATCH, dtype, 0.3);
    assert_true(b.src.count <= MAX && b.dst.count <= MAX);
    define(&expected, &b);
    spec.layer->forward(&b.run, &b.pass);
    narrow(found, &b.dst, b.dst.data);
    assert_true(oracle_distance(found, expected.dst, b.dst.count) < tolerance);
    spec.layer->backward(&b.run, &b.pass);
    narrow(found, &b.src, b.src.diff);
    assert_true(oracle_distance(found, expected.diff_src, b.src.count) < tolerance);
    assert_true(oracle_distance(b.parameters[0].diff, expected.diff_weight, b.parameters[0].count) <
                tolerance);
    close_bench(&b);
}

static const struct layer_spec kernels[] = {
    {.path = "d", .kernel = 3, .stride = 1, .pad = 1}, {.path = "d", .kernel = 3, .stride = 2, .pad = 1},
    {.path = "d", .kernel = 3, .stride = 1},           {.path = "d", .kernel = 3, .stride = 3, .pad = 2},
    {.path = "d", .kernel = 5, .stride = 1, .pad = 2}, {.path = "d", .kernel = 5, .stride = 2, .pad = 2},
    {.path = "d", .kernel = 1, .stride = 2},           {.path = "d", .kernel = 2, .stride = 3, .pad = 1},
    {.path = "d", .kernel = 7, .stride = 1, .pad = 3}};
static const struct nn_shape shapes[] = {{1, 7, 7},  {3, 9, 8},  {16, 7, 10},
                                         {18, 8, 7}, {40, 7, 7}, {48, 4, 5}};

TEST(depthwise_matches_its_definition)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            check(kernels[k], shapes[s], NN_F32, 1e-6);
}

TEST(bf16_rounds_and_no_more)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t s = 2; s < 4; s++)
            check(kernels[k], shapes[s], NN_BF16, 4e-3);
}

/* The values of `from` with one channel more, which holds 1. */
static void widen(struct activation *to, void *out, const struct activation *from, const void *in)
{
    const size_t channels = from->shape.channels;
    for (size_t i = 0; i < to->count; i++) {
        const size_t c = i % (channels + 1), at = i / (channels + 1) * channels + c;
        set_value(to, out, i, c < channels ? value_of(from, in, at) : 1);
    }
}

/* expected has one channel more. */
static void same_channels(const struct activation *rows, const void *found, const void *expected)
{
    const size_t channels = rows->shape.channels, size = dtype_size(rows->dtype);
    for (size_t i = 0; i < rows->count; i += channels)
        assert_memory_equal((const char *)found + i * size,
                            (const char *)expected + i / channels * (channels + 1) * size, channels * size);
}

static void compare_bits(struct layer_spec spec, struct nn_shape shape, enum nn_dtype dtype)
{
    struct bench rows, pixels;
    const size_t taps = spec.kernel * spec.kernel;
    spec.layer = &layer_depthwise;
    spec.no_bias = 1;
    open_bench(&rows, spec, shape, BATCH, dtype, 0.3);
    shape.channels++;
    open_bench(&pixels, spec, shape, BATCH, dtype, 0.3);
    widen(&pixels.src, pixels.src.data, &rows.src, rows.src.data);
    widen(&pixels.dst, pixels.dst.diff, &rows.dst, rows.dst.diff);
    memcpy(pixels.parameters[0].value, rows.parameters[0].value,
           rows.parameters[0].count * sizeof *rows.parameters[0].value);
    for (struct bench *b = &rows; b; b = b == &rows ? &pixels : NULL) {
        spec.layer->forward(&b->run, &b->pass);
        spec.layer->backward(&b->run, &b->pass);
    }
    same_channels(&rows.dst, rows.dst.data, pixels.dst.data);
    same_channels(&rows.src, rows.src.diff, pixels.src.diff);
    assert_memory_equal(rows.parameters[0].diff, pixels.parameters[0].diff,
                        (shape.channels - 1) * taps * sizeof *rows.parameters[0].diff);
    close_bench(&rows);
    close_bench(&pixels);
}

/* 16 n channels go row by row, other numbers of them pixel by pixel: f32 and bf16, v2 to the best level, two threads. */
TEST(rows_have_the_bits_of_pixels)
{
    static const struct nn_shape wide[] = {{16, 7, 10}, {16, 1, 3}, {48, 4, 4}, {32, 5, 3}, {80, 2, 5}};
    const int best = cpu_best_isa();
    for (int level = 0; level <= best; level++) {
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
        for (size_t stride = 1; stride <= 2; stride++)
            for (size_t s = 0; s < sizeof wide / sizeof *wide; s++)
                for (int half = 0; half < 2; half++)
                    compare_bits((struct layer_spec){.path = "d", .kernel = 3, .stride = stride, .pad = 1},
                                 wide[s], half ? NN_BF16 : NN_F32);
    }
}

TEST(what_does_not_fit_is_refused)
{
    struct nn_shape out, in = {4, 4, 4};
    struct layer_spec s = {.layer = &layer_depthwise, .path = "d", .kernel = 9, .stride = 1, .no_bias = 1};
    assert_int_equal(s.layer->shape(&out, &s, in), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "d: the kernel is too wide; expected at most 7");
    s.kernel = 5;
    assert_int_equal(s.layer->shape(&out, &s, in), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "d: its source (4x4) is smaller than the 5x5 kernel");
    s.kernel = 3;
    s.no_bias = 0;
    assert_int_equal(s.layer->shape(&out, &s, in), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "d: a bias is not supported here, as normalisation follows");
}

/* DP-SGD needs gradients of single records. */
TEST(single_records_are_refused)
{
    struct nn_model *m = NULL;
    struct nn_plan *p = NULL;
    struct nn_model_config config = {
        .name = "mobilenetv2", .input = {3, 32, 32}, .classes = 2, .norm = "group"};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    struct nn_plan_config plan = {.batch = 2, .backend = machine.kernels, .training = 1, .views = 1};
    assert_int_equal(nn_plan_create(&p, m, &plan), SOTTO_ENOTSUP);
    assert_string_equal(
        sotto_error_text(),
        "encoder.features.1.conv.0.0: has no gradient of a single example; its gradients of single records "
        "are not worked out; use a network of plain convolutions (resnet8, resnet18 with norm: group)");
    nn_model_free(m);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
