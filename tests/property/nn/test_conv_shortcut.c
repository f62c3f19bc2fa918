/* 1x1 convolutions with a stride in f32 by products of gathered pixels, against the definition in double precision: all
 * passes, alone and adding to a gradient that is there; what threads and other images may not change; which shapes are
 * refused. f32, at every level of this CPU from v3 (AVX2) on, 1 to 3 threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NN_REAL double
#include "nn/ref/ref_conv.c"
#undef NN_REAL

#include "base/cpu.h"
#include "nn/conv/conv_shortcut.h"
#include "par/par.h"
#include "rng/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chains of at most 320 terms in f32, against their sum in double. */
static const double TOLERANCE = 1e-6;

struct shape {
    size_t batch, height, width, C, K, stride;
};
/* Fewer images than parts of the batch, and more; pixels behind the last one that is read. Above v3 the last two too, of
 * panels of 32 and 64 channels. */
static const struct shape SHAPES[] = {
    {3, 8, 8, 16, 16, 2}, {13, 11, 10, 16, 16, 3}, {21, 16, 16, 16, 32, 2}, {9, 16, 15, 64, 32, 2}};

static size_t shapes(void)
{
    return cpu_best_isa() < CPU_V3 ? 0 : cpu_best_isa() == CPU_V3 ? 2 : sizeof SHAPES / sizeof *SHAPES;
}

static struct conv_desc describe(const struct shape *s, int threads)
{
    return (struct conv_desc){.batch = s->batch,
                              .src = {s->C, s->height, s->width},
                              .dst = {s->K, (s->height - 1) / s->stride + 1, (s->width - 1) / s->stride + 1},
                              .kernel_height = 1,
                              .kernel_width = 1,
                              .stride = s->stride,
                              .training = 1,
                              .diff_src = 1,
                              .threads = threads};
}

enum { SRC, DIFF_DST, WEIGHTS, BEFORE, TENSORS };
enum { FORWARD, DATA, ADDED, GRADIENT, PASSES };
struct tensors {
    size_t count[TENSORS], counts[PASSES];
    float *of[TENSORS], *found[PASSES];
};

static void tensors_make(struct tensors *t, const struct conv_desc *d, uint64_t seed)
{
    size_t src = d->batch * d->src.height * d->src.width * d->src.channels,
           dst = d->batch * d->dst.height * d->dst.width * d->dst.channels,
           weights = d->dst.channels * d->src.channels;
    *t = (struct tensors){.count = {src, dst, weights, src}, .counts = {dst, src, src, weights}};
    for (size_t k = 0; k < TENSORS; k++) {
        struct rng r = rng_stream(seed, RNG_TEST, k, 0); /* the first images are those of a smaller batch */
        t->of[k] = base_alloc(t->count[k], sizeof(float));
        for (size_t i = 0; i < t->count[k]; i++)
            t->of[k][i] = (float)rng_normal(&r);
    }
    for (size_t k = 0; k < PASSES; k++) {
        t->found[k] = base_alloc(t->counts[k], sizeof(float));
        memset(t->found[k], 0xff, t->counts[k] * sizeof(float)); /* NaN until it is written */
    }
    memcpy(t->found[ADDED], t->of[BEFORE], src * sizeof(float));
}

static void tensors_free(struct tensors *t)
{
    for (size_t k = 0; k < TENSORS; k++)
        base_free(t->of[k]);
    for (size_t k = 0; k < PASSES; k++)
        base_free(t->found[k]);
}

static void run(const struct conv_desc *d, struct tensors *t)
{
    struct conv_shortcut *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_true(conv_shortcut_fits(d));
    assert_int_equal(conv_shortcut_create(&c, d), SOTTO_OK);
    conv_shortcut_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_shortcut_layout(c, &scratch);
    conv_shortcut_forward(c, t->found[FORWARD], t->of[SRC], t->of[WEIGHTS]);
    conv_shortcut_backward(c, t->found[DATA], false, t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC],
                           t->of[WEIGHTS]);
    conv_shortcut_backward(c, t->found[ADDED], true, NULL, t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    conv_shortcut_free(c);
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

static void near(const float *found, const double *expected, size_t n, size_t shape, int pass)
{
    double gap = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        gap += pow((double)found[i] - expected[i], 2);
        size += pow(expected[i], 2);
    }
    if (!(sqrt(gap) <= TOLERANCE * sqrt(size)))
        fail_msg("shape %zu, pass %d: off by %g", shape, pass, sqrt(gap / size));
}

static void all_passes_match_the_definition(void **state)
{
    (void)state;
    for (size_t s = 0; s < shapes(); s++) {
        struct conv_desc d = describe(&SHAPES[s], 2);
        struct tensors t;
        tensors_make(&t, &d, 21);
        run(&d, &t);
        const struct ref_conv_shape z = {d.batch,
                                         d.src.height,
                                         d.src.width,
                                         d.src.channels,
                                         d.dst.channels,
                                         1,
                                         1,
                                         d.dst.height,
                                         d.dst.width,
                                         d.stride,
                                         0,
                                         NULL};
        double *in[TENSORS], *of[PASSES];
        for (size_t k = 0; k < TENSORS; k++)
            in[k] = widened(t.of[k], t.count[k]);
        for (size_t k = 0; k < PASSES; k++)
            of[k] = base_alloc(t.counts[k], sizeof **of);
        ref_conv_forward_in_double(of[FORWARD], in[SRC], in[WEIGHTS], NULL, &z);
        ref_conv_backward_data_in_double(of[DATA], in[DIFF_DST], in[WEIGHTS], &z);
        ref_conv_backward_weights_in_double(of[GRADIENT], NULL, in[DIFF_DST], in[SRC], &z);
        for (size_t i = 0; i < t.counts[DATA]; i++)
            of[ADDED][i] = of[DATA][i] + in[BEFORE][i];
        for (int pass = 0; pass < PASSES; pass++)
            near(t.found[pass], of[pass], t.counts[pass], s, pass);
        for (size_t k = 0; k < TENSORS; k++)
            base_free(in[k]);
        for (size_t k = 0; k < PASSES; k++)
            base_free(of[k]);
        tensors_free(&t);
    }
}

static void threads_and_other_images_change_no_bit(void **state)
{
    (void)state;
    for (size_t s = 0; s < shapes(); s++) {
        struct tensors a, b, c;
        struct shape larger = SHAPES[s];
        larger.batch++;
        const struct conv_desc one = describe(&SHAPES[s], 1), three = describe(&SHAPES[s], 3),
                               more = describe(&larger, 2);
        tensors_make(&a, &one, 22), tensors_make(&b, &three, 22), tensors_make(&c, &more, 22);
        run(&one, &a), run(&three, &b), run(&more, &c);
        for (size_t pass = 0; pass < PASSES; pass++) {
            assert_memory_equal(a.found[pass], b.found[pass], a.counts[pass] * sizeof(float));
            if (pass != GRADIENT)
                assert_memory_equal(a.found[pass], c.found[pass], a.counts[pass] * sizeof(float));
        }
        tensors_free(&a), tensors_free(&b), tensors_free(&c);
    }
}

static void other_shapes_are_refused(void **state)
{
    (void)state;
    const struct conv_desc good = describe(&SHAPES[0], 1);
    struct conv_desc d = good;
    assert_true(conv_shortcut_fits(&good) == (shapes() > 0)); /* v2 has none */
    d = good, d.stride = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.pad = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.kernel_height = 2;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.bias = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.relu = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.mask_src = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.src_dtype = d.dst_dtype = NN_BF16;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.src.channels = 48; /* not one panel */
    assert_false(conv_shortcut_fits(&d));
    d = good, d.dst.channels = 128;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.dst.width = 3; /* twelve results */
    assert_false(conv_shortcut_fits(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_passes_match_the_definition),
                                       cmocka_unit_test(threads_and_other_images_change_no_bit),
                                       cmocka_unit_test(other_shapes_are_refused)};
    int failed = 0;
    for (int level = cpu_best_isa(); level >= 0; level--) {
        setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
        printf("level %s: f32, 1 to 3 threads\n", cpu_isa_name((enum cpu_isa)level));
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
