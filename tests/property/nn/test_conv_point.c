/* 1x1 convolutions in f32 by our own products, against the definition in double precision: on small whole numbers every bit, on
 * random ones the error; numbers that are none; what threads, other images and the instruction set may not change; that
 * nothing is read or written past an end; which shapes are refused; failed allocations. f32, at every level of this CPU from v3
 * (AVX2) on; two threads unless said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "nn/conv/conv_point.h"
#include "par/par.h"
#include "rng/rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of the root mean square of what is compared; at most 4e-7 was measured, of chains of 505 products. */
static const double TOLERANCE = 1e-6;

struct shape {
    size_t batch, height, width, C, K;
};
/* Rows and channels of no multiple of anything; panels of 1 to 3 vectors; narrow sources; several groups of sums; parts of
 * the batch; several blocks, the last one short. */
static const struct shape SHAPES[] = {
    {1, 1, 1, 1, 1},    {1, 1, 1, 17, 19},   {2, 3, 3, 1, 5},      {3, 5, 1, 24, 144}, {2, 3, 5, 144, 24},
    {1, 15, 1, 33, 50}, {1, 17, 1, 16, 96},  {3, 9, 9, 96, 24},    {5, 7, 7, 65, 100}, {2, 5, 13, 66, 505},
    {3, 9, 3, 505, 40}, {1, 16, 16, 8, 200}, {1, 128, 129, 8, 24}, {4, 65, 64, 20, 5}, {2, 91, 91, 65, 16}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static struct conv_desc describe(const struct shape *s, bool finished)
{
    return (struct conv_desc){.batch = s->batch,
                              .src = {s->C, s->height, s->width},
                              .dst = {s->K, s->height, s->width},
                              .kernel_height = 1,
                              .kernel_width = 1,
                              .stride = 1,
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

/* ---- tensors, each before a page that may not be touched ---- */

static size_t pages(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (count * sizeof(float) + page - 1) / page * page;
}

static float *guarded(size_t count)
{
    size_t bytes = pages(count), page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    assert_int_equal(mprotect(at + bytes, page, PROT_NONE), 0);
    memset(at, 0xff, bytes); /* NaN, where nothing is written */
    return (float *)(void *)(at + bytes) - count;
}

static void release(float *x, size_t count)
{
    size_t bytes = pages(count), page = (size_t)sysconf(_SC_PAGESIZE);
    const unsigned char *begin = (const unsigned char *)(x + count) - bytes;
    for (const unsigned char *p = begin; p < (const unsigned char *)x; p++)
        assert_int_equal(*p, 0xff); /* nothing was written before it */
    munmap((char *)(x + count) - bytes, bytes + page);
}

enum name { SRC, DIFF_DST, WEIGHTS, BIAS, TENSORS };
enum pass { FORWARD, DATA, GRADIENT, PASSES };
struct tensors {
    size_t count[TENSORS];
    float *of[TENSORS];
    size_t counts[PASSES];
    float *found[PASSES];
};

static void tensors_make(struct tensors *t, const struct conv_desc *d, bool whole, struct rng *r)
{
    size_t rows = d->batch * d->src.height * d->src.width, src = rows * d->src.channels,
           dst = rows * d->dst.channels, weights = d->dst.channels * d->src.channels;
    *t = (struct tensors){.count = {src, dst, weights, d->dst.channels}, .counts = {dst, src, weights}};
    for (size_t k = 0; k < TENSORS; k++) {
        t->of[k] = guarded(t->count[k]);
        for (size_t i = 0; i < t->count[k]; i++)
            t->of[k][i] = whole ? (float)rng_below(r, 9) - 4 : (float)rng_normal(r);
    }
    for (size_t k = 0; k < PASSES; k++)
        t->found[k] = guarded(t->counts[k]);
}

static void tensors_free(struct tensors *t)
{
    for (size_t k = 0; k < TENSORS; k++)
        release(t->of[k], t->count[k]);
    for (size_t k = 0; k < PASSES; k++)
        release(t->found[k], t->counts[k]);
}

static struct conv_point *planned(const struct conv_desc *d, struct arena *scratch)
{
    struct conv_point *c = NULL;
    par_set_threads(d->threads);
    assert_int_equal(conv_point_create(&c, d), SOTTO_OK);
    conv_point_layout(c, scratch);
    assert_int_equal(arena_reserve(scratch, "test"), SOTTO_OK);
    conv_point_layout(c, scratch);
    return c;
}

static void done_with(struct conv_point *c, struct arena *scratch)
{
    conv_point_free(c);
    arena_clear(scratch);
    par_set_threads(par_threads(NULL));
}

/* All passes, the backward ones together. */
static void multiplied(const struct conv_desc *d, struct tensors *t)
{
    struct arena scratch = {0};
    struct conv_point *c = planned(d, &scratch);
    conv_point_forward(c, t->found[FORWARD], t->of[SRC], t->of[WEIGHTS], d->bias ? t->of[BIAS] : NULL);
    conv_point_backward(c, t->found[DATA], t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    done_with(c, &scratch);
}

/* ---- the definition ---- */

static void define(double *of[PASSES], const struct conv_desc *d, const struct tensors *t)
{
    size_t C = d->src.channels, K = d->dst.channels, rows = t->count[SRC] / C;
    for (size_t k = 0; k < PASSES; k++) {
        of[k] = base_alloc(t->counts[k], sizeof **of);
        memset(of[k], 0, t->counts[k] * sizeof **of);
    }
    for (size_t p = 0; p < rows; p++)
        for (size_t k = 0; k < K; k++)
            for (size_t c = 0; c < C; c++) {
                double src = (double)t->of[SRC][p * C + c], weight = (double)t->of[WEIGHTS][k * C + c],
                       diff = (double)t->of[DIFF_DST][p * K + k];
                of[FORWARD][p * K + k] += src * weight;
                of[DATA][p * C + c] += diff * weight;
                of[GRADIENT][k * C + c] += diff * src;
            }
    for (size_t i = 0; d->bias && i < rows * K; i++)
        of[FORWARD][i] += (double)t->of[BIAS][i % K];
    for (size_t i = 0; d->relu && i < rows * K; i++)
        of[FORWARD][i] = of[FORWARD][i] > 0 ? of[FORWARD][i] : 0;
    for (size_t i = 0; d->mask_src && i < rows * C; i++)
        of[DATA][i] = t->of[SRC][i] > 0 ? of[DATA][i] : 0;
}

/* All sums are whole numbers below 2^24. */
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
            multiplied(&d, &t);
            define(expected, &d, &t);
            for (size_t pass = 0; pass < PASSES; pass++) {
                for (size_t i = 0; i < t.counts[pass]; i++)
                    if (!((double)t.found[pass][i] == expected[pass][i]))
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
    return gap == 0 ? 0 : sqrt(gap / size);
}

static void errors_are_those_of_chains(void **state)
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
        multiplied(&d, &t);
        define(expected, &d, &t);
        for (size_t pass = 0; pass < PASSES; pass++) {
            double off = distance(t.found[pass], expected[pass], t.counts[pass]);
            worst[pass] = fmax(worst[pass], off);
            if (!(off < TOLERANCE))
                fail_msg("shape %zu, pass %zu: off by %g", s, pass, off);
            base_free(expected[pass]);
        }
        tensors_free(&t);
    }
    print_message("off by at most %.2g, %.2g and %.2g\n", worst[FORWARD], worst[DATA], worst[GRADIENT]);
}

/* NaN and infinity in a source, a gradient and a weight, the last one beside zeros: the same values are NaN, infinite and
 * finite as by the definition. */
static void what_is_no_number_spreads_as_in_the_definition(void **state)
{
    (void)state;
    need_kernels();
    struct rng r = rng_stream(18, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], false);
        struct tensors t;
        double *expected[PASSES];
        tensors_make(&t, &d, true, &r);
        t.of[SRC][t.count[SRC] / 3] = NAN;
        t.of[SRC][t.count[SRC] / 2] = INFINITY;
        t.of[DIFF_DST][t.count[DIFF_DST] / 2] = -INFINITY;
        t.of[DIFF_DST][t.count[DIFF_DST] - 1] = NAN;
        t.of[WEIGHTS][t.count[WEIGHTS] / 2] = INFINITY;
        multiplied(&d, &t);
        define(expected, &d, &t);
        for (size_t pass = 0; pass < PASSES; pass++) {
            for (size_t i = 0; i < t.counts[pass]; i++) {
                double found = (double)t.found[pass][i], wanted = expected[pass][i];
                if (!(found == wanted || (isnan(found) && isnan(wanted))))
                    fail_msg("shape %zu, pass %zu, value %zu: %g, expected %g", s, pass, i, found, wanted);
            }
            base_free(expected[pass]);
        }
        tensors_free(&t);
    }
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
        multiplied(&d, &a);
        d.threads = 3;
        multiplied(&d, &b);
        for (enum pass pass = FORWARD; pass < PASSES; pass++)
            same_bits(&a, &b, pass);
        larger.batch++;
        struct conv_desc e = describe(&larger, true);
        tensors_make(&c, &e, false, &third);
        for (size_t k = 0; k < TENSORS; k++)
            memcpy(c.of[k], a.of[k], a.count[k] * sizeof(float));
        multiplied(&e, &c);
        same_bits(&a, &c, FORWARD);
        same_bits(&a, &c, DATA);
        tensors_free(&a), tensors_free(&b), tensors_free(&c);
    }
}

/* Every value is one chain of the same operations, whatever the width of a vector. */
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
        multiplied(&d, &a);
        setenv("SOTTO_ISA", "v3", 1);
        multiplied(&d, &b);
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
        struct conv_desc d = describe(&SHAPES[s], false);
        struct arena scratch = {0};
        tensors_make(&a, &d, false, &r);
        tensors_make(&b, &d, false, &same);
        multiplied(&d, &a);
        struct conv_point *c = planned(&d, &scratch);
        conv_point_backward(c, NULL, b.found[GRADIENT], b.of[DIFF_DST], b.of[SRC], b.of[WEIGHTS]);
        conv_point_backward(c, b.found[DATA], NULL, b.of[DIFF_DST], b.of[SRC], b.of[WEIGHTS]);
        same_bits(&a, &b, DATA);
        same_bits(&a, &b, GRADIENT);
        done_with(c, &scratch);
        tensors_free(&a), tensors_free(&b);
    }
}

static void failed_allocations_are_errors(void **state)
{
    (void)state;
    need_kernels();
    struct conv_desc d = describe(&SHAPES[4], false);
    struct conv_point *c = NULL;
    base_alloc_fail_after(0);
    assert_int_equal(conv_point_create(&c, &d), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_null(c);
}

static void other_shapes_are_refused(void **state)
{
    (void)state;
    struct conv_desc good = describe(&SHAPES[4], false), d = good;
    assert_int_equal(conv_point_fits(&good), has_kernels()); /* v2 has none */
    d = good, d.stride = 2;
    assert_false(conv_point_fits(&d));
    d = good, d.pad = 1;
    assert_false(conv_point_fits(&d));
    d = good, d.kernel_width = 2;
    assert_false(conv_point_fits(&d));
    d = good, d.kernel_height = 3;
    assert_false(conv_point_fits(&d));
    d = good, d.src_dtype = NN_BF16;
    assert_false(conv_point_fits(&d));
    d = good, d.dst_dtype = NN_BF16;
    assert_false(conv_point_fits(&d));
    d = good, d.single_examples = 1;
    assert_false(conv_point_fits(&d));
    d = good, d.src.channels = 15;
    assert_false(conv_point_fits(&d));
    d = good, d.dst.channels = 15;
    assert_false(conv_point_fits(&d));
    d = good, d.src.channels = 1024, d.dst.channels = 528;
    assert_false(conv_point_fits(&d));
    struct shape dense = {64, 1, 1, 64, 64};
    d = describe(&dense, false);
    assert_false(conv_point_fits(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers_come_out),
                                       cmocka_unit_test(errors_are_those_of_chains),
                                       cmocka_unit_test(what_is_no_number_spreads_as_in_the_definition),
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
