/* Convolutions of stride 2 by minimal filtering along rows against the definition in double precision: on small whole
 * numbers, where nothing is rounded on the way, all passes, kernels, padding and finishes; on random numbers, their error
 * beside that of direct sums; what threads, other images and the batch may not change; which shapes are refused. bf16, at
 * the level v4bf16; two threads unless said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NN_REAL double
#include "nn/ref/ref_conv.c"
#undef NN_REAL

#include "nn/conv/bf16_kernels.h"
#include "nn/conv/conv_bf16.h"
#include "nn/conv/conv_stride2.h"
#include "nn/kernel/bf16.h"
#include "par/par.h"
#include "rng/rng.h"
#include <math.h>
#include <string.h>

/* Of the error of direct sums, the most that minimal filtering may have. */
static const double COARSER = 1.5;

struct shape {
    size_t batch, height, width, C, K, kernel_height, pad;
};
static const struct shape SHAPES[] = {{3, 15, 15, 128, 128, 3, 0},
                                      {2, 7, 7, 64, 64, 3, 0},
                                      {5, 11, 12, 16, 32, 3, 1},
                                      {1, 47, 23, 32, 16, 3, 0},
                                      {2, 16, 16, 64, 80, 3, 1},
                                      {41, 6, 10, 16, 16, 3, 1},
                                      {3, 3, 9, 48, 128, 1, 0},
                                      {2, 8, 10, 32, 64, 5, 2},
                                      {300, 5, 5, 16, 64, 3, 0},
                                      {1, 9, 30, 96, 48, 2, 0},
                                      /* 16 parts of the batch, which are not equal */
                                      {70, 16, 16, 16, 96, 3, 1},
                                      {150, 9, 10, 32, 64, 3, 1}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static struct conv_desc describe(const struct shape *s, bool finished)
{
    return (struct conv_desc){.batch = s->batch,
                              .src = {s->C, s->height, s->width},
                              .dst = {s->K, (s->height + 2 * s->pad - s->kernel_height) / 2 + 1,
                                      (s->width + 2 * s->pad - 3) / 2 + 1},
                              .kernel_height = s->kernel_height,
                              .kernel_width = 3,
                              .stride = 2,
                              .pad = s->pad,
                              .src_dtype = NN_BF16,
                              .dst_dtype = finished ? NN_F32 : NN_BF16,
                              .bias = finished,
                              .relu = finished,
                              .mask_src = finished,
                              .training = 1,
                              .diff_src = 1,
                              .threads = 2};
}

static void need_kernels(void)
{
    struct conv_desc d = describe(&SHAPES[0], false);
    if (!conv_stride2_fits(&d)) {
        print_message("skipped: no AVX512-BF16\n");
        skip();
    }
}

/* Numbers, and what bf16 makes of them. */
struct tensor {
    size_t n;
    float *values;
    uint16_t *bits;
};
enum name { SRC, DIFF_DST, WEIGHTS, BIAS, TENSORS };
enum pass { FORWARD, DATA, GRADIENT, PASSES };
struct tensors {
    struct tensor of[TENSORS];
    size_t counts[PASSES];
    void *dst, *diff_src; /* f32, or bf16 where the plan says so */
    float *diff_weights;
};

static struct tensor tensor_make(size_t n, bool whole, struct rng *r)
{
    struct tensor t = {n, base_alloc(n, sizeof *t.values), base_alloc(n, sizeof *t.bits)};
    for (size_t i = 0; i < n; i++) {
        t.values[i] = whole ? (float)rng_below(r, 9) - 4 : (float)rng_normal(r);
        t.bits[i] = bf16_from_float(t.values[i]);
    }
    return t;
}

/* Every result is NaN until it is written. */
static void tensors_make(struct tensors *t, const struct conv_desc *d, bool whole, struct rng *r)
{
    size_t src = d->batch * d->src.height * d->src.width * d->src.channels,
           dst = d->batch * d->dst.height * d->dst.width * d->dst.channels,
           weights = d->dst.channels * d->kernel_height * 3 * d->src.channels;
    *t = (struct tensors){.of = {tensor_make(src, whole, r), tensor_make(dst, whole, r),
                                 tensor_make(weights, whole, r), tensor_make(d->dst.channels, whole, r)},
                          .counts = {dst, src, weights},
                          .dst = base_alloc(dst, sizeof(float)),
                          .diff_src = base_alloc(src, sizeof(uint16_t)),
                          .diff_weights = base_alloc(weights, sizeof(float))};
    memset(t->dst, 0xff, dst * sizeof(float));
    memset(t->diff_src, 0xff, src * sizeof(uint16_t));
    memset(t->diff_weights, 0xff, weights * sizeof(float));
}

static void tensors_free(struct tensors *t)
{
    for (size_t i = 0; i < TENSORS; i++) {
        base_free(t->of[i].values);
        base_free(t->of[i].bits);
    }
    base_free(t->dst);
    base_free(t->diff_src);
    base_free(t->diff_weights);
}

/* All passes; results of the first `images` only. */
static void filtered(const struct conv_desc *d, size_t images, struct tensors *t)
{
    struct conv_stride2 *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_true(conv_stride2_fits(d));
    assert_int_equal(conv_stride2_create(&c, d), SOTTO_OK);
    conv_stride2_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_stride2_layout(c, &scratch);
    conv_stride2_forward(c, images, t->dst, t->of[SRC].bits, t->of[WEIGHTS].values,
                         d->bias ? t->of[BIAS].values : NULL);
    conv_stride2_backward_data(c, images, t->diff_src, t->of[DIFF_DST].bits, t->of[SRC].bits,
                               t->of[WEIGHTS].values);
    conv_stride2_weights(c, t->diff_weights, t->of[DIFF_DST].bits, t->of[SRC].bits);
    conv_stride2_free(c);
    arena_clear(&scratch);
    par_set_threads(par_threads(NULL));
}

static void direct(const struct conv_desc *d, struct tensors *t)
{
    struct conv_bf16 *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_int_equal(conv_bf16_create(&c, d), SOTTO_OK);
    conv_bf16_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_bf16_layout(c, &scratch);
    conv_bf16_forward(c, d->batch, t->dst, t->of[SRC].bits, t->of[WEIGHTS].values,
                      d->bias ? t->of[BIAS].values : NULL);
    conv_bf16_backward_data(c, d->batch, t->diff_src, t->of[DIFF_DST].bits, t->of[SRC].bits,
                            t->of[WEIGHTS].values);
    conv_bf16_weights(c, t->diff_weights, t->of[DIFF_DST].bits, t->of[SRC].bits);
    conv_bf16_free(c);
    arena_clear(&scratch);
    par_set_threads(par_threads(NULL));
}

static double *widened(const struct tensor *t)
{
    double *x = base_alloc(t->n, sizeof *x);
    for (size_t i = 0; i < t->n; i++)
        x[i] = (double)t->values[i];
    return x;
}

/* By the definition, on the numbers before bf16. */
static void define(double *of[PASSES], const struct conv_desc *d, const struct tensors *t)
{
    struct ref_conv_shape z = {d->batch,        d->src.height,    d->src.width,    d->src.channels,
                               d->dst.channels, d->kernel_height, d->kernel_width, d->dst.height,
                               d->dst.width,    d->stride,        d->pad,          NULL};
    double *in[TENSORS];
    for (size_t i = 0; i < TENSORS; i++)
        in[i] = widened(&t->of[i]);
    for (size_t i = 0; i < PASSES; i++)
        of[i] = base_alloc(t->counts[i], sizeof **of);
    ref_conv_forward_in_double(of[FORWARD], in[SRC], in[WEIGHTS], d->bias ? in[BIAS] : NULL, &z);
    for (size_t i = 0; d->relu && i < t->counts[FORWARD]; i++)
        of[FORWARD][i] = fmax(of[FORWARD][i], 0);
    ref_conv_backward_data_in_double(of[DATA], in[DIFF_DST], in[WEIGHTS], &z);
    for (size_t i = 0; d->mask_src && i < t->counts[DATA]; i++)
        of[DATA][i] = in[SRC][i] > 0 ? of[DATA][i] : 0;
    ref_conv_backward_weights_in_double(of[GRADIENT], NULL, in[DIFF_DST], in[SRC], &z);
    for (size_t i = 0; i < TENSORS; i++)
        base_free(in[i]);
}

static float found(const struct conv_desc *d, const struct tensors *t, enum pass pass, size_t i)
{
    if (pass == GRADIENT)
        return t->diff_weights[i];
    if (pass == DATA)
        return bf16_to_float(((const uint16_t *)t->diff_src)[i]);
    return d->dst_dtype == NN_BF16 ? bf16_to_float(((const uint16_t *)t->dst)[i])
                                   : ((const float *)t->dst)[i];
}

static bool is_narrow(const struct conv_desc *d, enum pass pass)
{
    return pass == DATA || (pass == FORWARD && d->dst_dtype == NN_BF16);
}

/* Of whole numbers from -4 to 4 all differences, sums and products are exact; only results are rounded, once. */
static void whole_numbers_come_out_exactly(void **state)
{
    (void)state;
    need_kernels();
    struct rng r = rng_stream(9, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        for (int finished = 0; finished < 2; finished++) {
            struct conv_desc d = describe(&SHAPES[s], finished);
            struct tensors t;
            double *expected[PASSES];
            tensors_make(&t, &d, true, &r);
            filtered(&d, d.batch, &t);
            define(expected, &d, &t);
            for (enum pass pass = FORWARD; pass < PASSES; pass++)
                for (size_t i = 0; i < t.counts[pass]; i++) {
                    float x = (float)expected[pass][i];
                    if (is_narrow(&d, pass))
                        x = bf16_to_float(bf16_from_float(x));
                    if (!(found(&d, &t, pass, i) == x))
                        fail_msg("shape %zu, finished %d, pass %d, value %zu: %g, expected %g", s, finished,
                                 pass, i, (double)found(&d, &t, pass, i), (double)x);
                }
            for (size_t i = 0; i < PASSES; i++)
                base_free(expected[i]);
            tensors_free(&t);
        }
}

/* Root mean square of the difference over that of the expected values. */
static double distance(const struct conv_desc *d, const struct tensors *t, enum pass pass,
                       const double *expected)
{
    double gap = 0, size = 0;
    for (size_t i = 0; i < t->counts[pass]; i++) {
        double off = (double)found(d, t, pass, i) - expected[i];
        gap += off * off;
        size += expected[i] * expected[i];
    }
    return sqrt(gap / size);
}

/* Normal numbers which are rounded on the way in, as both ways do it. */
static void errors_are_near_those_of_direct_sums(void **state)
{
    (void)state;
    need_kernels();
    struct rng r = rng_stream(10, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true); /* results in f32: no rounding hides the rest */
        struct tensors t;
        double *expected[PASSES], by_sum[PASSES];
        tensors_make(&t, &d, false, &r);
        define(expected, &d, &t);
        direct(&d, &t);
        for (enum pass pass = FORWARD; pass < PASSES; pass++)
            by_sum[pass] = distance(&d, &t, pass, expected[pass]);
        filtered(&d, d.batch, &t);
        for (enum pass pass = FORWARD; pass < PASSES; pass++) {
            double off = distance(&d, &t, pass, expected[pass]);
            if (!(off <= COARSER * by_sum[pass]))
                fail_msg("shape %zu, pass %d: off by %g, direct sums by %g", s, pass, off, by_sum[pass]);
            base_free(expected[pass]);
        }
        tensors_free(&t);
    }
}

static void same_results(const struct tensors *a, const struct tensors *b)
{
    assert_memory_equal(a->dst, b->dst, a->counts[FORWARD] * sizeof(float));
    assert_memory_equal(a->diff_src, b->diff_src, a->counts[DATA] * sizeof(uint16_t));
}

/* 1 and 3 threads; and of a batch of one more image, the results of the others. */
static void threads_and_other_images_change_no_bit(void **state)
{
    (void)state;
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct tensors a, b, c;
        struct shape larger = SHAPES[s];
        struct rng r = rng_stream(11, RNG_TEST, s, 0), same = r, third = r;
        struct conv_desc d = describe(&SHAPES[s], true);
        tensors_make(&a, &d, false, &r);
        tensors_make(&b, &d, false, &same);
        d.threads = 1;
        filtered(&d, d.batch, &a);
        d.threads = 3;
        filtered(&d, d.batch, &b);
        same_results(&a, &b);
        assert_memory_equal(a.diff_weights, b.diff_weights, a.counts[GRADIENT] * sizeof(float));
        larger.batch++;
        struct conv_desc e = describe(&larger, true);
        tensors_make(&c, &e, false, &third);
        for (size_t i = 0; i < TENSORS; i++) {
            memcpy(c.of[i].bits, a.of[i].bits, a.of[i].n * sizeof(uint16_t));
            memcpy(c.of[i].values, a.of[i].values, a.of[i].n * sizeof(float));
        }
        filtered(&e, d.batch, &c);
        same_results(&a, &c);
        for (size_t k = a.counts[DATA]; k < c.counts[DATA]; k++) /* the image that was not asked for */
            assert_int_equal(((uint16_t *)c.diff_src)[k], 0xffff);
        tensors_free(&a), tensors_free(&b), tensors_free(&c);
    }
}

/* Gradients of 16 MiB and more are written past the caches, those of a few images are not. */
static void large_gradients_have_the_same_bits(void **state)
{
    (void)state;
    need_kernels();
    const struct shape many = {34, 63, 63, 64, 64, 3, 0};
    struct shape few = many;
    few.batch = 2;
    struct conv_desc d = describe(&many, true), e = describe(&few, true);
    struct rng r = rng_stream(12, RNG_TEST, 0, 0), same = r;
    struct tensors a, b;
    assert_true(bf16_streams(NULL, d.batch, d.src) && !bf16_streams(NULL, e.batch, e.src));
    tensors_make(&a, &d, true, &r);
    tensors_make(&b, &e, true, &same);
    memcpy(b.of[DIFF_DST].bits, a.of[DIFF_DST].bits, b.counts[FORWARD] * sizeof(uint16_t));
    memcpy(b.of[WEIGHTS].values, a.of[WEIGHTS].values, b.counts[GRADIENT] * sizeof(float));
    for (int by_sum = 0; by_sum < 2; by_sum++) {
        memset(a.diff_src, 0xff, a.counts[DATA] * sizeof(uint16_t));
        if (by_sum) {
            direct(&d, &a);
            direct(&e, &b);
        } else {
            filtered(&d, d.batch, &a);
            filtered(&e, e.batch, &b);
        }
        assert_memory_equal(a.diff_src, b.diff_src, b.counts[DATA] * sizeof(uint16_t));
        for (size_t i = 0; i < a.counts[DATA]; i++) /* NaN: not written */
            assert_int_not_equal(((const uint16_t *)a.diff_src)[i], 0xffff);
    }
    tensors_free(&a), tensors_free(&b);
}

static void other_shapes_are_refused(void **state)
{
    (void)state;
    need_kernels(); /* without them every shape is refused */
    struct conv_desc good = describe(&SHAPES[0], false), d = good;
    d = good, d.stride = 1;
    assert_false(conv_stride2_fits(&d));
    d = good, d.kernel_width = 2;
    assert_false(conv_stride2_fits(&d));
    d = good, d.src_dtype = NN_F32;
    assert_false(conv_stride2_fits(&d));
    d = good, d.src.channels = 24;
    assert_false(conv_stride2_fits(&d));
    d = good, d.dst.channels = 24;
    assert_false(conv_stride2_fits(&d));
    d = good, d.single_examples = 1;
    assert_false(conv_stride2_fits(&d));
    struct shape narrow = {2, 3, 3, 16, 16, 3, 0}; /* one result in a row: no pair */
    d = describe(&narrow, false);
    assert_false(conv_stride2_fits(&d));
    narrow = (struct shape){2, 8, 8, 16, 16, 3, 1}; /* one pair among four */
    d = describe(&narrow, false);
    assert_false(conv_stride2_fits(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers_come_out_exactly),
                                       cmocka_unit_test(errors_are_near_those_of_direct_sums),
                                       cmocka_unit_test(threads_and_other_images_change_no_bit),
                                       cmocka_unit_test(large_gradients_have_the_same_bits),
                                       cmocka_unit_test(other_shapes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
