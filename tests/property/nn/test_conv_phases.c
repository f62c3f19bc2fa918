/* 3x3 convolutions of stride 2 in f32 by minimal filtering both ways, against the definition in double precision: on small
 * whole numbers every value, on random ones the error, which may not exceed that of conv_winograd.h; what threads, other
 * images and the instruction set may not change; which shapes are refused; failed allocations. f32, at every level of this
 * CPU from v3 (AVX2) on; two threads unless said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NN_REAL double
#include "nn/ref/ref_conv.c"
#undef NN_REAL

#include "base/cpu.h"
#include "nn/conv/conv_phases.h"
#include "par/par.h"
#include "rng/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Twice the largest error that conv_phases.h states, of the root mean square of what is compared, for sums over so many
 * channels; the error of a longer chain grows with the root of its length. */
static const double TOLERANCE = 2.4e-6;
enum { CHANNELS = 144 };

struct shape {
    size_t batch, height, width, C, K, pad;
};
/* Tiles of 2 to 4 results along each side, alone and mixed; a last pixel that no result reads; several blocks of images, of
 * a thread and of all, the last of them short; panels of 16, 32 and 64 channels; few weights: parts of one block and of
 * several, and fewer parts than threads could have. */
static const struct shape SHAPES[] = {
    {6, 15, 15, 128, 128, 0}, {5, 7, 7, 64, 64, 0},    {2, 8, 12, 32, 128, 1}, {1, 23, 11, 48, 96, 0},
    {3, 16, 16, 64, 80, 1},   {13, 8, 8, 16, 1040, 1}, {2, 5, 5, 96, 64, 0},   {1, 10, 27, 32, 144, 0},
    {2, 19, 6, 48, 112, 1},   {21, 32, 32, 16, 32, 1}, {5, 16, 16, 32, 64, 1}, {90, 7, 10, 48, 48, 0}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static struct conv_desc describe(const struct shape *s, bool finished)
{
    return (struct conv_desc){
        .batch = s->batch,
        .src = {s->C, s->height, s->width},
        .dst = {s->K, (s->height + 2 * s->pad - 3) / 2 + 1, (s->width + 2 * s->pad - 3) / 2 + 1},
        .kernel_height = 3,
        .kernel_width = 3,
        .stride = 2,
        .pad = s->pad,
        .bias = finished,
        .relu = finished,
        .mask_src = finished,
        .training = 1,
        .diff_src = 1,
        .threads = 2};
}

static bool has_kernels(void)
{
    return cpu_best_isa() >= CPU_V3;
}

static void need_kernels(void)
{
    if (!has_kernels()) {
        print_message("skipped: no AVX2\n");
        skip();
    }
}

enum name { SRC, DIFF_DST, WEIGHTS, BIAS, TENSORS };
enum pass { FORWARD, DATA, GRADIENT, PASSES };
struct tensors {
    size_t count[TENSORS];
    float *of[TENSORS];
    size_t counts[PASSES];
    float *found[PASSES];
};

/* Every result is NaN until it is written. */
static void tensors_make(struct tensors *t, const struct conv_desc *d, bool whole, struct rng *r)
{
    size_t src = d->batch * d->src.height * d->src.width * d->src.channels,
           dst = d->batch * d->dst.height * d->dst.width * d->dst.channels,
           weights = d->dst.channels * 9 * d->src.channels;
    *t = (struct tensors){.count = {src, dst, weights, d->dst.channels}, .counts = {dst, src, weights}};
    for (size_t k = 0; k < TENSORS; k++) {
        t->of[k] = base_alloc(t->count[k], sizeof(float));
        for (size_t i = 0; i < t->count[k]; i++)
            t->of[k][i] = whole ? (float)rng_below(r, 9) - 4 : (float)rng_normal(r);
    }
    for (size_t k = 0; k < PASSES; k++) {
        t->found[k] = base_alloc(t->counts[k], sizeof(float));
        memset(t->found[k], 0xff, t->counts[k] * sizeof(float));
    }
}

static void tensors_free(struct tensors *t)
{
    for (size_t k = 0; k < TENSORS; k++)
        base_free(t->of[k]);
    for (size_t k = 0; k < PASSES; k++)
        base_free(t->found[k]);
}

/* All passes, the backward ones together. */
static void filtered(const struct conv_desc *d, struct tensors *t)
{
    struct conv_phases *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_true(conv_phases_fits(d));
    assert_int_equal(conv_phases_create(&c, d), SOTTO_OK);
    conv_phases_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_phases_layout(c, &scratch);
    conv_phases_forward(c, t->found[FORWARD], t->of[SRC], t->of[WEIGHTS], d->bias ? t->of[BIAS] : NULL);
    conv_phases_backward(c, t->found[DATA], t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    conv_phases_free(c);
    arena_clear(&scratch);
    par_set_threads(par_threads(NULL));
}

static double *widened(const float *x, size_t n)
{
    double *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = (double)x[i];
    return y;
}

static void define(double *of[PASSES], const struct conv_desc *d, const struct tensors *t)
{
    struct ref_conv_shape z = {d->batch,        d->src.height,    d->src.width,    d->src.channels,
                               d->dst.channels, d->kernel_height, d->kernel_width, d->dst.height,
                               d->dst.width,    d->stride,        d->pad,          NULL};
    double *in[TENSORS];
    for (size_t k = 0; k < TENSORS; k++)
        in[k] = widened(t->of[k], t->count[k]);
    for (size_t k = 0; k < PASSES; k++)
        of[k] = base_alloc(t->counts[k], sizeof **of);
    ref_conv_forward_in_double(of[FORWARD], in[SRC], in[WEIGHTS], d->bias ? in[BIAS] : NULL, &z);
    for (size_t i = 0; d->relu && i < t->counts[FORWARD]; i++)
        of[FORWARD][i] = fmax(of[FORWARD][i], 0);
    ref_conv_backward_data_in_double(of[DATA], in[DIFF_DST], in[WEIGHTS], &z);
    for (size_t i = 0; d->mask_src && i < t->counts[DATA]; i++)
        of[DATA][i] = in[SRC][i] > 0 ? of[DATA][i] : 0;
    ref_conv_backward_weights_in_double(of[GRADIENT], NULL, in[DIFF_DST], in[SRC], &z);
    for (size_t k = 0; k < TENSORS; k++)
        base_free(in[k]);
}

/* Results are whole, and rounding on the way (thirds are not exact) is far from a half. */
static void whole_numbers_come_out(void **state)
{
    (void)state;
    need_kernels();
    struct rng r = rng_stream(13, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        for (int finished = 0; finished < 2; finished++) {
            struct conv_desc d = describe(&SHAPES[s], finished);
            struct tensors t;
            double *expected[PASSES];
            tensors_make(&t, &d, true, &r);
            filtered(&d, &t);
            define(expected, &d, &t);
            for (size_t pass = 0; pass < PASSES; pass++) {
                for (size_t i = 0; i < t.counts[pass]; i++)
                    if (!(fabs((double)t.found[pass][i] - expected[pass][i]) < .1))
                        fail_msg("shape %zu, finished %d, pass %zu, value %zu: %g, expected %g", s, finished,
                                 pass, i, (double)t.found[pass][i], expected[pass][i]);
                base_free(expected[pass]);
            }
            tensors_free(&t);
        }
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

static void errors_are_those_of_minimal_filtering(void **state)
{
    (void)state;
    need_kernels();
    struct rng r = rng_stream(14, RNG_TEST, 0, 0);
    double worst[PASSES] = {0};
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true);
        struct tensors t;
        double *expected[PASSES];
        tensors_make(&t, &d, false, &r);
        filtered(&d, &t);
        define(expected, &d, &t);
        for (size_t pass = 0; pass < PASSES; pass++) {
            double off = distance(t.found[pass], expected[pass], t.counts[pass]);
            size_t channels = pass == FORWARD ? d.src.channels : pass == DATA ? d.dst.channels : CHANNELS;
            off /= sqrt(fmax(1, (double)channels / CHANNELS));
            worst[pass] = fmax(worst[pass], off);
            if (!(off < TOLERANCE))
                fail_msg("shape %zu, pass %zu: off by %g", s, pass, off);
            base_free(expected[pass]);
        }
        tensors_free(&t);
    }
    print_message("off by at most %.2g, %.2g and %.2g\n", worst[FORWARD], worst[DATA], worst[GRADIENT]);
}

static void same_bits(const struct tensors *a, const struct tensors *b, enum pass pass)
{
    assert_memory_equal(a->found[pass], b->found[pass], a->counts[pass] * sizeof(float));
}

/* 1 and 3 threads; and of a batch of one more image, the results of the others. */
static void threads_and_other_images_change_no_bit(void **state)
{
    (void)state;
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct tensors a, b, c;
        struct shape larger = SHAPES[s];
        struct rng r = rng_stream(15, RNG_TEST, s, 0), same = r, third = r;
        struct conv_desc d = describe(&SHAPES[s], true);
        tensors_make(&a, &d, false, &r);
        tensors_make(&b, &d, false, &same);
        d.threads = 1;
        filtered(&d, &a);
        d.threads = 3;
        filtered(&d, &b);
        for (enum pass pass = FORWARD; pass < PASSES; pass++)
            same_bits(&a, &b, pass);
        larger.batch++;
        struct conv_desc e = describe(&larger, true);
        tensors_make(&c, &e, false, &third);
        for (size_t k = 0; k < TENSORS; k++)
            memcpy(c.of[k], a.of[k], a.count[k] * sizeof(float));
        filtered(&e, &c);
        same_bits(&a, &c, FORWARD);
        same_bits(&a, &c, DATA);
        tensors_free(&a), tensors_free(&b), tensors_free(&c);
    }
}

/* Every result is one chain of the same operations, whatever the width of a vector. */
static void levels_do_not_change_bits(void **state)
{
    (void)state;
    need_kernels();
    char *level = strdup(getenv("SOTTO_ISA"));
    if (cpu_best_isa() == CPU_V3) {
        free(level);
        print_message("skipped: v3 is the only level here\n");
        skip();
    }
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct tensors a, b;
        struct rng r = rng_stream(16, RNG_TEST, s, 0), same = r;
        struct conv_desc d = describe(&SHAPES[s], true);
        tensors_make(&a, &d, false, &r);
        tensors_make(&b, &d, false, &same);
        filtered(&d, &a);
        setenv("SOTTO_ISA", "v3", 1);
        filtered(&d, &b);
        setenv("SOTTO_ISA", level, 1);
        for (enum pass pass = FORWARD; pass < PASSES; pass++)
            same_bits(&a, &b, pass);
        tensors_free(&a), tensors_free(&b);
    }
    free(level);
}

/* Each backward pass by itself gives what both together do. */
static void passes_may_be_left_out(void **state)
{
    (void)state;
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct tensors a, b;
        struct rng r = rng_stream(17, RNG_TEST, s, 0), same = r;
        struct conv_desc d = describe(&SHAPES[s], true);
        struct conv_phases *c = NULL;
        struct arena scratch = {0};
        tensors_make(&a, &d, false, &r);
        tensors_make(&b, &d, false, &same);
        filtered(&d, &a);
        assert_int_equal(conv_phases_create(&c, &d), SOTTO_OK);
        conv_phases_layout(c, &scratch);
        assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
        conv_phases_layout(c, &scratch);
        conv_phases_backward(c, NULL, b.found[GRADIENT], b.of[DIFF_DST], b.of[SRC], b.of[WEIGHTS]);
        conv_phases_backward(c, b.found[DATA], NULL, b.of[DIFF_DST], b.of[SRC], b.of[WEIGHTS]);
        same_bits(&a, &b, DATA);
        same_bits(&a, &b, GRADIENT);
        conv_phases_free(c);
        arena_clear(&scratch);
        tensors_free(&a), tensors_free(&b);
    }
}

static void failed_allocations_are_errors(void **state)
{
    (void)state;
    need_kernels();
    struct conv_desc d = describe(&SHAPES[0], false);
    struct conv_phases *c = NULL;
    for (long after = 0; after < 2; after++) {
        base_alloc_fail_after(after);
        assert_int_equal(conv_phases_create(&c, &d), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
        assert_null(c);
    }
}

static void other_shapes_are_refused(void **state)
{
    (void)state;
    struct conv_desc good = describe(&SHAPES[0], false), d = good;
    assert_int_equal(conv_phases_fits(&good), has_kernels()); /* v2 has none */
    d = good, d.stride = 1;
    assert_false(conv_phases_fits(&d));
    d = good, d.pad = 2;
    assert_false(conv_phases_fits(&d));
    d = good, d.kernel_width = 2;
    assert_false(conv_phases_fits(&d));
    d = good, d.kernel_height = 5;
    assert_false(conv_phases_fits(&d));
    d = good, d.src_dtype = d.dst_dtype = NN_BF16;
    assert_false(conv_phases_fits(&d));
    d = good, d.src.channels = 24;
    assert_false(conv_phases_fits(&d));
    d = good, d.dst.channels = 24;
    assert_false(conv_phases_fits(&d));
    d = good, d.src.channels = 16, d.dst.channels = 16; /* too few for a gain */
    assert_false(conv_phases_fits(&d));
    d = good, d.src.channels = 528, d.dst.channels = 512;
    assert_false(conv_phases_fits(&d));
    struct shape narrow = {2, 3, 15, 64, 64, 0}; /* one row of results */
    d = describe(&narrow, false);
    assert_false(conv_phases_fits(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers_come_out),
                                       cmocka_unit_test(errors_are_those_of_minimal_filtering),
                                       cmocka_unit_test(threads_and_other_images_change_no_bit),
                                       cmocka_unit_test(levels_do_not_change_bits),
                                       cmocka_unit_test(passes_may_be_left_out),
                                       cmocka_unit_test(failed_allocations_are_errors),
                                       cmocka_unit_test(other_shapes_are_refused)};
    int failed = 0;
    for (int level = cpu_best_isa(); level >= 0; level--) {
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
        printf("level %s: %s, 1 to 3 threads\n", cpu_isa_name((enum cpu_isa)level),
               has_kernels() ? "f32" : "no kernels");
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
