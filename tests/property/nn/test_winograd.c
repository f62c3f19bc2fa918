/* Minimal filtering against the definition in double precision: all passes, every tile size and finish, images
 * in f32 and in bf16; what the thread count and the level may change; and which shapes are refused. Two threads
 * unless said otherwise; at every level of this CPU from v3 (AVX2: f32 only) on. */
#include "support/test.h"
#include "support/conv_reference.h"

#include "base/cpu.h"
#include "nn/conv/conv_winograd.h"
#include "nn/kernel/bf16.h"
#include "par/par.h"
#include "rng/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Twice the largest error that conv_winograd.h states: of the root mean square of what is compared. */
static const double TOLERANCE = 2.4e-6;
/* What rounding a result to the 8 bits of bf16 adds at most. */
static const double ROUNDING = 0x1p-9;

static struct conv_desc describe(size_t batch, size_t height, size_t width, size_t C, size_t K, int finished)
{
    return (struct conv_desc){.batch = batch,
                              .src = {C, height, width},
                              .dst = {K, height, width},
                              .kernel_height = 3,
                              .kernel_width = 3,
                              .stride = 1,
                              .pad = 1,
                              .bias = finished,
                              .relu = finished,
                              .mask_src = finished,
                              .training = 1,
                              .diff_src = 1,
                              .threads = 2};
}

/* AVX2 for f32, AVX-512 for bf16. */
static bool has_kernels(enum nn_dtype dtype)
{
    return cpu_best_isa() >= (dtype == NN_BF16 ? CPU_V4 : CPU_V3);
}

static void need_kernels(enum nn_dtype dtype)
{
    if (!has_kernels(dtype)) {
        print_message("skipped: no %s\n", dtype == NN_BF16 ? "AVX-512" : "AVX2");
        skip();
    }
}

struct tensors {
    size_t src_count, dst_count, weights_count, bias_count;
    float *src, *weights, *bias, *diff_dst; /* random */
    float *dst, *diff_src, *diff_weights;   /* found */
};

static float *random_floats(size_t n, struct rng *r)
{
    float *x = base_alloc(n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(r);
    return x;
}

static void tensors_make(struct tensors *t, const struct conv_desc *d, struct rng *r)
{
    size_t pixels = d->batch * d->src.height * d->src.width, C = d->src.channels, K = d->dst.channels;
    *t = (struct tensors){
        .src_count = pixels * C, .dst_count = pixels * K, .weights_count = K * 9 * C, .bias_count = K};
    t->src = random_floats(t->src_count, r), t->diff_src = random_floats(t->src_count, r);
    t->dst = random_floats(t->dst_count, r), t->diff_dst = random_floats(t->dst_count, r);
    t->weights = random_floats(t->weights_count, r), t->diff_weights = random_floats(t->weights_count, r);
    t->bias = random_floats(K, r);
}

static void tensors_free(struct tensors *t)
{
    float *all[] = {t->src, t->weights, t->bias, t->diff_dst, t->dst, t->diff_src, t->diff_weights};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        base_free(all[i]);
}

static uint16_t *narrowed(const float *x, size_t n)
{
    uint16_t *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = bf16_from_float(x[i]);
    return y;
}

static void widen_into(float *x, uint16_t *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = bf16_to_float(y[i]);
    base_free(y);
}

typedef void passes(const struct conv_desc *d, struct tensors *t, void *dst, const void *src, void *diff_src,
                    const void *diff_dst);

static void filtered(const struct conv_desc *d, struct tensors *t, void *dst, const void *src, void *diff_src,
                     const void *diff_dst)
{
    struct conv_winograd *w = NULL;
    struct arena scratch = {0};
    assert_int_equal(conv_winograd_create(&w, d), SOTTO_OK);
    conv_winograd_layout(w, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_winograd_layout(w, &scratch);
    conv_winograd_forward(w, dst, src, t->weights, d->bias ? t->bias : NULL);
    conv_winograd_backward(w, diff_src, t->diff_weights, diff_dst, src, t->weights);
    conv_winograd_free(w);
    arena_clear(&scratch);
}

/* By the backend for direct sums. */
static void direct(const struct conv_desc *d, struct tensors *t, void *dst, const void *src, void *diff_src,
                   const void *diff_dst)
{
    const struct nn_backend *b;
    struct conv *c = NULL;
    struct arena keep = {0}, scratch = {0};
    assert_int_equal(nn_backend_find(&b, "dnnl"), SOTTO_OK);
    assert_int_equal(b->conv_create(&c, d), SOTTO_OK);
    b->conv_layout(c, &keep, &scratch);
    assert_int_equal(arena_reserve(&keep, "test"), SOTTO_OK);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    b->conv_layout(c, &keep, &scratch);
    b->conv_forward(c, dst, src, t->weights, d->bias ? t->bias : NULL);
    b->conv_backward(c, diff_src, t->diff_weights, NULL, diff_dst, src, t->weights);
    b->conv_free(c);
    arena_clear(&keep);
    arena_clear(&scratch);
}

/* Images of the tensors are rounded on the way in where they are bf16, and widened on the way out. */
static void run_by(passes *by, const struct conv_desc *d, struct tensors *t)
{
    par_set_threads(d->threads);
    if (d->src_dtype == NN_BF16) {
        uint16_t *src = narrowed(t->src, t->src_count), *diff_dst = narrowed(t->diff_dst, t->dst_count),
                 *dst = narrowed(t->dst, t->dst_count), *diff_src = narrowed(t->diff_src, t->src_count);
        by(d, t, dst, src, diff_src, diff_dst);
        widen_into(t->dst, dst, t->dst_count);
        widen_into(t->diff_src, diff_src, t->src_count);
        base_free(src);
        base_free(diff_dst);
    } else
        by(d, t, t->dst, t->src, t->diff_src, t->diff_dst);
    par_set_threads(par_threads(NULL));
}

static void run(const struct conv_desc *d, struct tensors *t)
{
    run_by(filtered, d, t);
}

static double *widened(const float *x, size_t n)
{
    double *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = (double)x[i];
    return y;
}

/* Root mean square of the difference over that of the expected values. */
static double distance(const float *found, const double *expected, size_t n)
{
    double gap = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        gap += ((double)found[i] - expected[i]) * ((double)found[i] - expected[i]);
        size += expected[i] * expected[i];
    }
    return sqrt(gap / size);
}

enum { FORWARD, BACKWARD_DATA, BACKWARD_WEIGHTS, PASSES };

/* How far the results of the tensors are from the definition on what its images hold. */
static void measure(double gaps[PASSES], const struct conv_desc *d, const struct tensors *t)
{
    struct ref_conv_shape z = {d->batch,
                               d->src.height,
                               d->src.width,
                               d->src.channels,
                               d->dst.channels,
                               3,
                               3,
                               d->src.height,
                               d->src.width,
                               1,
                               1,
                               NULL};
    double *src = widened(t->src, t->src_count), *weights = widened(t->weights, t->weights_count),
           *bias = widened(t->bias, t->bias_count), *diff_dst = widened(t->diff_dst, t->dst_count);
    double *dst = base_alloc(t->dst_count, sizeof(double)),
           *diff_src = base_alloc(t->src_count, sizeof(double)),
           *diff_weights = base_alloc(t->weights_count, sizeof(double));
    ref_conv_forward_in_double(dst, src, weights, d->bias ? bias : NULL, &z);
    for (size_t i = 0; d->relu && i < t->dst_count; i++)
        dst[i] = fmax(dst[i], 0);
    ref_conv_backward_data_in_double(diff_src, diff_dst, weights, &z);
    for (size_t i = 0; d->mask_src && i < t->src_count; i++)
        diff_src[i] = src[i] > 0 ? diff_src[i] : 0;
    ref_conv_backward_weights_in_double(diff_weights, NULL, diff_dst, src, &z);
    gaps[FORWARD] = distance(t->dst, dst, t->dst_count);
    gaps[BACKWARD_DATA] = distance(t->diff_src, diff_src, t->src_count);
    gaps[BACKWARD_WEIGHTS] = distance(t->diff_weights, diff_weights, t->weights_count);
    double *doubles[] = {src, weights, bias, diff_dst, dst, diff_src, diff_weights};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        base_free(doubles[i]);
}

static void check(const struct conv_desc *d, struct rng *r)
{
    struct tensors t;
    double gaps[PASSES];
    bool narrow = d->src_dtype == NN_BF16;
    tensors_make(&t, d, r);
    if (narrow) { /* the definition shall see what the images hold */
        widen_into(t.src, narrowed(t.src, t.src_count), t.src_count);
        widen_into(t.diff_dst, narrowed(t.diff_dst, t.dst_count), t.dst_count);
    }
    run(d, &t);
    measure(gaps, d, &t);
    for (size_t i = 0; i < PASSES; i++)
        if (!(gaps[i] < TOLERANCE + (narrow && i != BACKWARD_WEIGHTS ? ROUNDING : 0)))
            fail_msg("%s, %zux%zux%zu, %zu to %zu channels, pass %zu: off by %g", narrow ? "bf16" : "f32",
                     d->batch, d->src.height, d->src.width, d->src.channels, d->dst.channels, i, gaps[i]);
    tensors_free(&t);
}

TEST(agrees_with_the_definition)
{
    need_kernels(NN_F32);
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    const size_t shapes[][5] = {
        /* batch, height, width, C, K */
        {1, 1, 1, 16, 16},  {2, 4, 4, 64, 48},
        {3, 5, 7, 16, 80},  {1, 3, 13, 112, 32},
        {9, 8, 8, 32, 64},  {5, 12, 16, 48, 16},
        {3, 2, 6, 16, 128}, {1, 9, 4, 96, 16},
        {2, 2, 2, 32, 32},  {150, 3, 4, 144, 128} /* two blocks of 128 tiles, shared by threads */,
        {9, 5, 3, 160, 192} /* a part of one */};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int finished = 0; finished < 2; finished++)
            for (int narrow = 0; narrow < (has_kernels(NN_BF16) ? 2 : 1); narrow++) {
                const size_t *s = shapes[i];
                struct conv_desc d = describe(s[0], s[1], s[2], s[3], s[4], finished);
                d.src_dtype = d.dst_dtype = narrow ? NN_BF16 : NN_F32;
                assert_true(conv_winograd_fits(&d));
                check(&d, &r);
            }
}

/* With tiles of 4x4 and points rounded to bf16, products in bf16 would be off by 3.8 to 5 times as much as the
 * direct sum in bf16, with tiles of 2x2 by 1.5 to 2 times; so points and products are f32, and what is left is
 * the rounding of the images, which the direct sum has too. It also rounds the weights. */
TEST(bf16_is_no_coarser_than_its_direct_sum)
{
    need_kernels(NN_BF16);
    const struct nn_backend *backend;
    if (nn_backend_find(&backend, "dnnl") != SOTTO_OK || !nn_backend_supports_bf16(backend)) {
        print_message("skipped: no oneDNN with bf16\n");
        skip();
    }
    struct rng r = rng_stream(7, RNG_TEST, 0, 0);
    const size_t shapes[][5] = {{2, 8, 8, 64, 64}, {3, 5, 7, 16, 80}, {4, 4, 4, 144, 128}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const size_t *s = shapes[i];
        struct conv_desc d = describe(s[0], s[1], s[2], s[3], s[4], 0);
        struct tensors t;
        double by_filter[PASSES], by_sum[PASSES];
        d.src_dtype = d.dst_dtype = NN_BF16;
        tensors_make(&t, &d, &r);
        run_by(direct, &d, &t);
        measure(by_sum, &d, &t);
        run_by(filtered, &d, &t);
        measure(by_filter, &d, &t);
        for (size_t pass = 0; pass < PASSES; pass++)
            if (!(by_filter[pass] <= 1.001 * by_sum[pass]))
                fail_msg("shape %zu, pass %zu: off by %g, the direct sum by %g", i, pass, by_filter[pass],
                         by_sum[pass]);
        tensors_free(&t);
    }
}

/* Into `t`, at the given level. */
static void run_at(const char *level, const struct conv_desc *d, struct tensors *t)
{
    char *before = getenv("SOTTO_ISA"), *kept = before ? strdup(before) : NULL;
    setenv("SOTTO_ISA", level, 1);
    run(d, t);
    if (kept)
        setenv("SOTTO_ISA", kept, 1);
    else
        unsetenv("SOTTO_ISA");
    free(kept);
}

/* Every result is one chain of the same operations, whatever the width of a vector, so v3 and v4 agree. In bf16
 * v4 rounds by whole numbers, v4bf16 by an instruction. */
static void lower_level_gives_the_same_bits(enum nn_dtype dtype, const char *lower)
{
    struct rng one = rng_stream(8, RNG_TEST, 0, 0), other = one;
    struct conv_desc d = describe(3, 5, 7, 32, 144, 0);
    d.src_dtype = d.dst_dtype = dtype;
    struct tensors a, b;
    tensors_make(&a, &d, &one);
    tensors_make(&b, &d, &other);
    a.src[5] = b.src[5] = INFINITY; /* and NaNs, in all that see it: inf - inf */
    run(&d, &a);
    run_at(lower, &d, &b);
    size_t numbers = 0;
    for (size_t i = 0; i < a.dst_count; i++) {
        assert_int_equal(isnan(a.dst[i]), isnan(b.dst[i]));
        numbers += !isnan(a.dst[i]);
        if (!isnan(a.dst[i]))
            assert_memory_equal(&a.dst[i], &b.dst[i], sizeof a.dst[i]);
    }
    assert_true(numbers > 0 && numbers < a.dst_count);
    assert_memory_equal(a.diff_src, b.diff_src, a.src_count * sizeof(float));
    a.src[5] = b.src[5] = 1;
    run(&d, &a);
    run_at(lower, &d, &b);
    assert_memory_equal(a.dst, b.dst, a.dst_count * sizeof(float));
    assert_memory_equal(a.diff_weights, b.diff_weights, a.weights_count * sizeof(float));
    tensors_free(&a);
    tensors_free(&b);
}

TEST(levels_do_not_change_bits)
{
    need_kernels(NN_BF16); /* at v3 there is nothing to compare with */
    lower_level_gives_the_same_bits(NN_F32, "v3");
    lower_level_gives_the_same_bits(NN_BF16, "v4");
}

static void threads_change_only_the_weights_sums_of(enum nn_dtype dtype)
{
    struct rng one = rng_stream(6, RNG_TEST, 0, 0), other = one;
    struct conv_desc d = describe(7, 12, 9, 32, 16, 1);
    d.src_dtype = d.dst_dtype = dtype;
    struct tensors a, b;
    tensors_make(&a, &d, &one);
    tensors_make(&b, &d, &other);
    run(&d, &a);
    d.threads = 1;
    run(&d, &b);
    assert_memory_equal(a.dst, b.dst, a.dst_count * sizeof(float));
    assert_memory_equal(a.diff_src, b.diff_src, a.src_count * sizeof(float));
    d.threads = 2;
    float *first = a.diff_weights;
    a.diff_weights = b.diff_weights;
    run(&d, &a); /* again: the same bits */
    assert_memory_equal(a.diff_weights, first, a.weights_count * sizeof(float));
    a.diff_weights = first;
    tensors_free(&a);
    tensors_free(&b);
}

/* Threads that share a block change nothing at all: of several blocks, and of less than one. */
static void shared_blocks_have_the_same_bits(enum nn_dtype dtype, size_t batch)
{
    struct rng one = rng_stream(7, RNG_TEST, batch, 0), other = one;
    struct conv_desc d = describe(batch, 4, 5, 256, 192, 1);
    d.src_dtype = d.dst_dtype = dtype;
    struct tensors a, b;
    tensors_make(&a, &d, &one);
    tensors_make(&b, &d, &other);
    d.threads = 1;
    run(&d, &a);
    for (d.threads = 3; d.threads < 24; d.threads += 17) { /* 20 are more than there are lines and pieces */
        run(&d, &b);
        assert_memory_equal(a.dst, b.dst, a.dst_count * sizeof(float));
        assert_memory_equal(a.diff_src, b.diff_src, a.src_count * sizeof(float));
        assert_memory_equal(a.diff_weights, b.diff_weights, a.weights_count * sizeof(float));
    }
    tensors_free(&a);
    tensors_free(&b);
}

TEST(threads_change_only_the_weights_sums)
{
    need_kernels(NN_F32);
    for (enum nn_dtype dtype = NN_F32; dtype <= NN_BF16; dtype++) {
        if (!has_kernels(dtype))
            continue;
        threads_change_only_the_weights_sums_of(dtype);
        shared_blocks_have_the_same_bits(dtype, 5);
        shared_blocks_have_the_same_bits(dtype, 70);
    }
}

TEST(other_shapes_are_refused)
{
    struct conv_desc good = describe(1, 8, 8, 16, 16, 0), d = good;
    assert_int_equal(conv_winograd_fits(&good), has_kernels(NN_F32)); /* v2 has none */
    d = good, d.src_dtype = d.dst_dtype = NN_BF16;
    assert_int_equal(conv_winograd_fits(&d), has_kernels(NN_BF16));
    d = good, d.stride = 2;
    assert_false(conv_winograd_fits(&d));
    d = good, d.pad = 0;
    assert_false(conv_winograd_fits(&d));
    d = good, d.kernel_width = 1;
    assert_false(conv_winograd_fits(&d));
    d = good, d.src.channels = 3;
    assert_false(conv_winograd_fits(&d));
    d = good, d.dst.channels = 24;
    assert_false(conv_winograd_fits(&d));
    d = good, d.src_dtype = NN_BF16; /* results in f32: the last layer */
    assert_false(conv_winograd_fits(&d));
    d = good, d.src.channels = 528, d.dst.channels = 512;
    assert_false(conv_winograd_fits(&d));
}

/* The best level first: oneDNN keeps the limit of its first use, and bf16_is_no_coarser_than_its_direct_sum, the
 * only test to use it, is for that level. */

/* At every level of this CPU, the best first. */
static int level_next(void)
{
    static int level = -2; /* none yet */
    level = level == -2 ? (int)cpu_best_isa() : level - 1;
    if (level < 0)
        return 0;
    setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
    printf("level %s: %s, 2 threads and 1\n", cpu_isa_name((enum cpu_isa)level),
           has_kernels(NN_BF16)  ? "f32 and bf16"
           : has_kernels(NN_F32) ? "f32"
                                 : "no kernels");
    return 1;
}

TEST_GROUP(.shards = 2, .next = level_next, .tags = "matrix")
