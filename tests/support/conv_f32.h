/* conv_f32.h - convolutions in f32 for tests: numbers, all passes by the definition in double precision, and what holds of every way
 * to compute them. A test gives its way as a function. At the levels of the CPU from v3 (AVX2) on. */
#ifndef TESTS_CONV_F32_H
#define TESTS_CONV_F32_H

#include "support/conv_reference.h"

#include "base/cpu.h"
#include "nn/backend.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline bool has_kernels(void)
{
    return cpu_best_isa() >= CPU_V3;
}

static inline void need_kernels(void)
{
    if (!has_kernels()) {
        print_message("skipped: no AVX2\n");
        skip();
    }
}

/* ---- tensors, each before a page that may not be touched ---- */

static inline size_t whole_pages(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (count * sizeof(float) + page - 1) / page * page;
}

/** All NaN. */
static inline float *guarded(size_t count)
{
    size_t bytes = whole_pages(count), page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    assert_int_equal(mprotect(at + bytes, page, PROT_NONE), 0);
    memset(at, 0xff, bytes);
    return (float *)(void *)(at + bytes) - count;
}

/** Nothing was written before it. */
static inline void release(float *x, size_t count)
{
    size_t bytes = whole_pages(count), page = (size_t)sysconf(_SC_PAGESIZE);
    const unsigned char *begin = (const unsigned char *)(x + count) - bytes;
    for (const unsigned char *p = begin; p < (const unsigned char *)x; p++)
        assert_int_equal(*p, 0xff);
    munmap((char *)(x + count) - bytes, bytes + page);
}

enum name { SRC, DIFF_DST, WEIGHTS, BIAS, TENSORS };
enum pass { FORWARD, DATA, GRADIENT, PASSES };
struct tensors {
    size_t count[TENSORS], counts[PASSES];
    float *of[TENSORS], *found[PASSES];
};

/** Whole numbers from -4 to 4, or normal ones; every result is NaN until it is written. */
static inline void tensors_make(struct tensors *t, const struct conv_desc *d, bool whole, struct rng *r)
{
    size_t src = d->batch * d->src.height * d->src.width * d->src.channels,
           dst = d->batch * d->dst.height * d->dst.width * d->dst.channels,
           weights = d->dst.channels * d->kernel_height * d->kernel_width * d->src.channels;
    *t = (struct tensors){.count = {src, dst, weights, d->dst.channels}, .counts = {dst, src, weights}};
    for (size_t k = 0; k < TENSORS; k++) {
        t->of[k] = guarded(t->count[k]);
        for (size_t i = 0; i < t->count[k]; i++)
            t->of[k][i] = whole ? (float)rng_below(r, 9) - 4 : (float)rng_normal(r);
    }
    for (size_t k = 0; k < PASSES; k++)
        t->found[k] = guarded(t->counts[k]);
}

static inline void tensors_free(struct tensors *t)
{
    for (size_t k = 0; k < TENSORS; k++)
        release(t->of[k], t->count[k]);
    for (size_t k = 0; k < PASSES; k++)
        release(t->found[k], t->counts[k]);
}

/** All passes, into t->found. */
typedef void passes(const struct conv_desc *d, struct tensors *t);

/* ---- the definition ---- */

static inline double *widened(const float *x, size_t n)
{
    double *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = (double)x[i];
    return y;
}

static inline void define(double *of[PASSES], const struct conv_desc *d, const struct tensors *t)
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

/** Every value is less than `off` from the definition, or equal to it; NaN and infinite where that is. */
static inline void expect_values(const struct conv_desc *d, const struct tensors *t, double off, size_t shape)
{
    double *expected[PASSES];
    define(expected, d, t);
    for (size_t pass = 0; pass < PASSES; pass++) {
        for (size_t i = 0; i < t->counts[pass]; i++) {
            const double found = (double)t->found[pass][i], wanted = expected[pass][i];
            if (!(found == wanted || fabs(found - wanted) < off || (isnan(found) && isnan(wanted))))
                fail_msg("shape %zu, bias %d, pass %zu, value %zu: %g, expected %g", shape, d->bias, pass, i,
                         found, wanted);
        }
        base_free(expected[pass]);
    }
}

/** Root mean square of the difference over that of the expected values. */
static inline double distance(const float *found, const double *expected, size_t n)
{
    double gap = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        gap += ((double)found[i] - expected[i]) * ((double)found[i] - expected[i]);
        size += expected[i] * expected[i];
    }
    return gap == 0 ? 0 : sqrt(gap / size);
}

/** Of all passes on normal numbers. */
static inline void distances(double off[PASSES], passes *run, const struct conv_desc *d, struct rng *r)
{
    struct tensors t;
    double *expected[PASSES];
    tensors_make(&t, d, false, r);
    run(d, &t);
    define(expected, d, &t);
    for (size_t pass = 0; pass < PASSES; pass++) {
        off[pass] = distance(t.found[pass], expected[pass], t.counts[pass]);
        base_free(expected[pass]);
    }
    tensors_free(&t);
}

/* ---- what may not change a bit ---- */

static inline void same_bits(const struct tensors *a, const struct tensors *b, enum pass pass)
{
    assert_memory_equal(a->found[pass], b->found[pass], a->counts[pass] * sizeof(float));
}

/** 1 and 3 threads; and of a larger batch, the results of the images that are the same. */
static inline void threads_and_other_images_change_no_bit_of(passes *run, const struct conv_desc *d,
                                                             const struct conv_desc *larger, struct rng r)
{
    struct tensors a, b, c;
    struct rng same = r, third = r;
    struct conv_desc one = *d, three = *d;
    one.threads = 1, three.threads = 3;
    tensors_make(&a, d, false, &r);
    tensors_make(&b, d, false, &same);
    tensors_make(&c, larger, false, &third);
    for (size_t k = 0; k < TENSORS; k++)
        memcpy(c.of[k], a.of[k], a.count[k] * sizeof(float));
    run(&one, &a);
    run(&three, &b);
    run(larger, &c);
    for (enum pass pass = FORWARD; pass < PASSES; pass++)
        same_bits(&a, &b, pass);
    same_bits(&a, &c, FORWARD);
    same_bits(&a, &c, DATA);
    tensors_free(&a), tensors_free(&b), tensors_free(&c);
}

/** The level of the environment, and v3. */
static inline void levels_change_no_bit_of(passes *run, const struct conv_desc *d, struct rng r)
{
    struct tensors a, b;
    struct rng same = r;
    char *level = strdup(getenv("SOTTO_ISA"));
    tensors_make(&a, d, false, &r);
    tensors_make(&b, d, false, &same);
    run(d, &a);
    setenv("SOTTO_ISA", "v3", 1);
    run(d, &b);
    setenv("SOTTO_ISA", level, 1);
    for (enum pass pass = FORWARD; pass < PASSES; pass++)
        same_bits(&a, &b, pass);
    tensors_free(&a), tensors_free(&b);
    free(level);
}

static inline void need_two_levels(void)
{
    need_kernels();
    if (cpu_best_isa() == CPU_V3) {
        print_message("skipped: v3 is the only level here\n");
        skip();
    }
}

/** `one` alone does a backward pass at a time, and gives what both together do. */
static inline void passes_may_be_left_out_of(passes *run, passes *one, const struct conv_desc *d,
                                             struct rng r)
{
    struct tensors a, b;
    struct rng same = r;
    tensors_make(&a, d, false, &r);
    tensors_make(&b, d, false, &same);
    run(d, &a);
    one(d, &b);
    same_bits(&a, &b, DATA);
    same_bits(&a, &b, GRADIENT);
    tensors_free(&a), tensors_free(&b);
}

/* A group runs at every level of this CPU, the best first. */
static inline int level_next(void)
{
    static int level = -2; /* none yet */
    level = level == -2 ? (int)cpu_best_isa() : level - 1;
    if (level < 0)
        return 0;
    setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
    printf("level %s: %s, 1 to 3 threads\n", cpu_isa_name((enum cpu_isa)level),
           has_kernels() ? "f32" : "no kernels");
    return 1;
}

#endif
