/* Convolutions by pairs of bf16 against the definition in double precision: all passes, kernels, strides, padding
 * and finishes; what threads, other images and the batch may not change; which shapes are refused. bf16, at the level
 * v4bf16; two threads unless said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NN_REAL double
#include "nn/ref/ref_conv.c"
#undef NN_REAL

#include "nn/conv/conv_bf16.h"
#include "nn/kernel/bf16.h"
#include "par/par.h"
#include "rng/rng.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the root mean square: what sums in f32 may be off by, and what rounding a result to bf16 adds at most. */
static const double TOLERANCE = 2e-6, ROUNDING = 0x1p-9;

struct shape {
    size_t batch, height, width, C, K, kernel_height, kernel_width, stride, pad;
};

static struct conv_desc describe(const struct shape *s, bool finished)
{
    return (struct conv_desc){.batch = s->batch,
                              .src = {s->C, s->height, s->width},
                              .dst = {s->K, (s->height + 2 * s->pad - s->kernel_height) / s->stride + 1,
                                      (s->width + 2 * s->pad - s->kernel_width) / s->stride + 1},
                              .kernel_height = s->kernel_height,
                              .kernel_width = s->kernel_width,
                              .stride = s->stride,
                              .pad = s->pad,
                              .src_dtype = NN_BF16,
                              .dst_dtype = finished ? NN_F32 : NN_BF16,
                              .bias = finished,
                              .relu = finished,
                              .mask_src = finished,
                              .training = 1,
                              .diff_src = s->C % 16 == 0,
                              .threads = 2};
}

static const struct shape SHAPES[] = {{3, 15, 15, 128, 128, 3, 3, 2, 0},
                                      {2, 16, 12, 16, 32, 3, 3, 2, 1},
                                      {7, 9, 9, 64, 16, 3, 3, 1, 1},
                                      {2, 1, 1, 16, 16, 1, 1, 1, 0},
                                      {5, 8, 7, 32, 64, 1, 1, 2, 0},
                                      {1, 5, 40, 48, 80, 5, 2, 3, 2},
                                      {40, 6, 6, 32, 96, 3, 3, 2, 1},
                                      {3, 2, 2, 16, 16, 3, 3, 1, 2},
                                      {2, 33, 35, 64, 64, 8, 8, 4, 3},
                                      {129, 4, 4, 16, 64, 2, 2, 1, 0},
                                      /* 16 parts of the batch, which are not equal */
                                      {67, 16, 16, 16, 32, 1, 1, 1, 0},
                                      {70, 15, 16, 16, 96, 3, 3, 2, 1},
                                      /* by patches, without a gradient of the images */
                                      {3, 15, 15, 3, 128, 3, 3, 2, 0},
                                      {5, 8, 8, 3, 64, 3, 3, 1, 1},
                                      {1, 33, 20, 1, 64, 5, 5, 2, 2},
                                      {300, 3, 2, 3, 64, 3, 3, 1, 1},
                                      {35, 16, 15, 3, 16, 3, 3, 1, 1},
                                      {4, 32, 32, 3, 32, 3, 3, 1, 1},
                                      {2, 40, 40, 4, 192, 7, 7, 2, 3},
                                      {9, 1, 1, 8, 64, 1, 1, 1, 0}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static void need_kernels(void)
{
    struct conv_desc d = describe(&SHAPES[3], false);
    if (!conv_bf16_fits(&d)) {
        print_message("skipped: no AVX512-BF16\n");
        skip();
    }
}

/* Random numbers which bf16 holds, as both: `exact` is what the definition reads. */
struct narrow {
    size_t n;
    uint16_t *bits;
    double *exact;
};

static struct narrow narrow_make(size_t n, struct rng *r)
{
    struct narrow x = {n, base_alloc(n, sizeof *x.bits), base_alloc(n, sizeof *x.exact)};
    for (size_t i = 0; i < n; i++) {
        x.bits[i] = bf16_from_float((float)rng_normal(r));
        x.exact[i] = (double)bf16_to_float(x.bits[i]);
    }
    return x;
}

struct tensors {
    struct narrow src, diff_dst, weights, bias;
    float *weights_f32, *bias_f32, *diff_weights;
    void *dst, *diff_src;
};

static float *floats(const struct narrow *x)
{
    float *y = base_alloc(x->n, sizeof *y);
    for (size_t i = 0; i < x->n; i++)
        y[i] = (float)x->exact[i];
    return y;
}

static void tensors_make(struct tensors *t, const struct conv_desc *d, struct rng *r)
{
    size_t C = d->src.channels, K = d->dst.channels, taps = d->kernel_height * d->kernel_width;
    t->src = narrow_make(d->batch * d->src.height * d->src.width * C, r);
    t->diff_dst = narrow_make(d->batch * d->dst.height * d->dst.width * K, r);
    t->weights = narrow_make(K * taps * C, r);
    t->bias = narrow_make(K, r);
    t->weights_f32 = floats(&t->weights), t->bias_f32 = floats(&t->bias);
    t->diff_weights = base_alloc(t->weights.n, sizeof(float));
    t->dst = base_alloc(t->diff_dst.n, sizeof(float));
    t->diff_src = base_alloc(t->src.n, sizeof(uint16_t));
    memset(t->dst, 0xff, t->diff_dst.n * sizeof(float)); /* NaN: each result has to be written */
    memset(t->diff_src, 0xff, t->src.n * sizeof(uint16_t));
    memset(t->diff_weights, 0xff, t->weights.n * sizeof(float));
}

static void tensors_free(struct tensors *t)
{
    struct narrow *all[] = {&t->src, &t->diff_dst, &t->weights, &t->bias};
    void *rest[] = {t->weights_f32, t->bias_f32, t->diff_weights, t->dst, t->diff_src};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        base_free(all[i]->bits);
        base_free(all[i]->exact);
    }
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        base_free(rest[i]);
}

/* All passes; results of the first `images` only. */
static void run(const struct conv_desc *d, size_t images, struct tensors *t)
{
    struct conv_bf16 *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_true(conv_bf16_fits(d));
    assert_int_equal(conv_bf16_create(&c, d), SOTTO_OK);
    conv_bf16_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_bf16_layout(c, &scratch);
    conv_bf16_forward(c, images, t->dst, t->src.bits, t->weights_f32, d->bias ? t->bias_f32 : NULL);
    if (d->diff_src)
        conv_bf16_backward_data(c, images, t->diff_src, t->diff_dst.bits, t->src.bits, t->weights_f32);
    conv_bf16_weights(c, t->diff_weights, t->diff_dst.bits, t->src.bits);
    conv_bf16_free(c);
    arena_clear(&scratch);
    par_set_threads(par_threads(NULL));
}

/* Root mean square of the difference over that of the expected values. */
static double distance(const void *found, bool narrow, const double *expected, size_t n)
{
    double gap = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)(narrow ? bf16_to_float(((const uint16_t *)found)[i]) : ((const float *)found)[i]);
        gap += (x - expected[i]) * (x - expected[i]);
        size += expected[i] * expected[i];
    }
    return sqrt(gap / size);
}

static void compare(const struct conv_desc *d, const struct tensors *t, const char *name)
{
    struct ref_conv_shape z = {d->batch,        d->src.height,    d->src.width,    d->src.channels,
                               d->dst.channels, d->kernel_height, d->kernel_width, d->dst.height,
                               d->dst.width,    d->stride,        d->pad,          NULL};
    double *dst = base_alloc(t->diff_dst.n, sizeof *dst), *diff_src = base_alloc(t->src.n, sizeof *diff_src),
           *diff_weights = base_alloc(t->weights.n, sizeof *diff_weights);
    ref_conv_forward_in_double(dst, t->src.exact, t->weights.exact, d->bias ? t->bias.exact : NULL, &z);
    for (size_t i = 0; d->relu && i < t->diff_dst.n; i++)
        dst[i] = fmax(dst[i], 0);
    ref_conv_backward_data_in_double(diff_src, t->diff_dst.exact, t->weights.exact, &z);
    for (size_t i = 0; d->mask_src && i < t->src.n; i++)
        diff_src[i] = t->src.exact[i] > 0 ? diff_src[i] : 0;
    ref_conv_backward_weights_in_double(diff_weights, NULL, t->diff_dst.exact, t->src.exact, &z);
    bool narrow = d->dst_dtype == NN_BF16;
    double forward = distance(t->dst, narrow, dst, t->diff_dst.n),
           data = d->diff_src ? distance(t->diff_src, true, diff_src, t->src.n) : 0,
           weights = distance(t->diff_weights, false, diff_weights, t->weights.n);
    if (!(forward < TOLERANCE + (narrow ? ROUNDING : 0) && data < TOLERANCE + ROUNDING &&
          weights < TOLERANCE))
        fail_msg("%s: off by %g forward, %g data, %g weights", name, forward, data, weights);
    base_free(dst);
    base_free(diff_src);
    base_free(diff_weights);
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    need_kernels();
    struct rng r = rng_stream(6, RNG_TEST, 0, 0);
    for (size_t i = 0; i < SHAPES_COUNT; i++)
        for (int finished = 0; finished < 2; finished++) {
            struct tensors t;
            char name[64];
            struct conv_desc d = describe(&SHAPES[i], finished);
            (void)snprintf(name, sizeof name, "shape %zu, %s", i, finished ? "finished" : "plain");
            tensors_make(&t, &d, &r);
            run(&d, d.batch, &t);
            compare(&d, &t, name);
            tensors_free(&t);
        }
}

/* 1 and 3 threads; and of a batch of one more image, the results of the others. */
static void threads_and_other_images_change_no_bit(void **state)
{
    (void)state;
    need_kernels();
    for (size_t i = 0; i < SHAPES_COUNT; i++) {
        struct tensors a, b, c;
        struct shape larger = SHAPES[i];
        struct rng r = rng_stream(7, RNG_TEST, i, 0), same = r, third = r;
        struct conv_desc d = describe(&SHAPES[i], true);
        tensors_make(&a, &d, &r);
        tensors_make(&b, &d, &same);
        d.threads = 1;
        run(&d, d.batch, &a);
        d.threads = 3;
        run(&d, d.batch, &b);
        assert_memory_equal(a.dst, b.dst, a.diff_dst.n * sizeof(float));
        assert_memory_equal(a.diff_src, b.diff_src, a.src.n * sizeof(uint16_t));
        assert_memory_equal(a.diff_weights, b.diff_weights, a.weights.n * sizeof(float));
        larger.batch++;
        struct conv_desc e = describe(&larger, true);
        tensors_make(&c, &e, &third);
        memcpy(c.src.bits, a.src.bits, a.src.n * sizeof(uint16_t));
        memcpy(c.diff_dst.bits, a.diff_dst.bits, a.diff_dst.n * sizeof(uint16_t));
        memcpy(c.weights_f32, a.weights_f32, a.weights.n * sizeof(float));
        memcpy(c.bias_f32, a.bias_f32, a.bias.n * sizeof(float));
        run(&e, d.batch, &c);
        assert_memory_equal(a.dst, c.dst, a.diff_dst.n * sizeof(float));
        assert_memory_equal(a.diff_src, c.diff_src, a.src.n * sizeof(uint16_t));
        for (size_t k = a.src.n; d.diff_src && k < c.src.n; k++) /* the image that was not asked for */
            assert_int_equal(((uint16_t *)c.diff_src)[k], 0xffff);
        tensors_free(&a), tensors_free(&b), tensors_free(&c);
    }
}

static void other_shapes_are_refused(void **state)
{
    (void)state;
    need_kernels();                                 /* without them every shape is refused */
    struct shape s = {2, 9, 9, 16, 16, 9, 9, 1, 4}; /* 81 taps */
    struct conv_desc d = describe(&s, false);
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[2], false);
    d.src_dtype = NN_F32;
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[2], false);
    d.src.channels = 24;
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[12], false); /* patches have no gradient */
    assert_true(conv_bf16_fits(&d));
    d.diff_src = 1;
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[2], false);
    d.dst.channels = 10;
    assert_false(conv_bf16_fits(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_definition),
                                       cmocka_unit_test(threads_and_other_images_change_no_bit),
                                       cmocka_unit_test(other_shapes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
