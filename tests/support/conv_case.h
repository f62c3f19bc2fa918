/* conv_case.h - convolutions in bf16 for tests: shapes, numbers, all passes by direct sums and by the definition in double
 * precision. At the level v4bf16; two threads unless said otherwise. */
#ifndef TESTS_CONV_CASE_H
#define TESTS_CONV_CASE_H

#include "support/conv_reference.h"

#include "nn/conv/conv_bf16.h"
#include "nn/kernel/bf16.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

struct shape {
    size_t batch, height, width, C, K, kernel_height, kernel_width, stride, pad;
};

/** The gradient by the images is left out where direct sums go by patches. */
static inline struct conv_desc describe(const struct shape *s, bool finished)
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

/** Whole numbers from -4 to 4; normal ones that bf16 holds; normal ones. */
enum numbers { WHOLE, HELD, NORMAL };
/** Numbers, and what bf16 makes of them. */
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
    bool add;             /* direct() adds to what diff_src has */
    float *diff_weights;
};

static inline struct tensor tensor_make(size_t n, enum numbers numbers, struct rng *r)
{
    struct tensor t = {n, base_alloc(n, sizeof *t.values), base_alloc(n, sizeof *t.bits)};
    for (size_t i = 0; i < n; i++) {
        t.values[i] = numbers == WHOLE ? (float)rng_below(r, 9) - 4 : (float)rng_normal(r);
        t.bits[i] = bf16_from_float(t.values[i]);
        if (numbers == HELD)
            t.values[i] = bf16_to_float(t.bits[i]);
    }
    return t;
}

/** Every result is NaN until it is written. */
static inline void tensors_make(struct tensors *t, const struct conv_desc *d, enum numbers numbers,
                                struct rng *r)
{
    const size_t src = d->batch * d->src.height * d->src.width * d->src.channels,
                 dst = d->batch * d->dst.height * d->dst.width * d->dst.channels,
                 weights = d->dst.channels * d->kernel_height * d->kernel_width * d->src.channels;
    const size_t n[TENSORS] = {src, dst, weights, d->dst.channels};
    *t = (struct tensors){.counts = {dst, src, weights},
                          .dst = base_alloc(dst, sizeof(float)),
                          .diff_src = base_alloc(src, sizeof(uint16_t)),
                          .diff_weights = base_alloc(weights, sizeof(float))};
    for (size_t i = 0; i < TENSORS; i++)
        t->of[i] = tensor_make(n[i], numbers, r);
    memset(t->dst, 0xff, dst * sizeof(float));
    memset(t->diff_src, 0xff, src * sizeof(uint16_t));
    memset(t->diff_weights, 0xff, weights * sizeof(float));
}

static inline void tensors_free(struct tensors *t)
{
    for (size_t i = 0; i < TENSORS; i++) {
        base_free(t->of[i].values);
        base_free(t->of[i].bits);
    }
    base_free(t->dst);
    base_free(t->diff_src);
    base_free(t->diff_weights);
}

/** All passes; results of the first `images` only. */
typedef void passes(const struct conv_desc *d, size_t images, struct tensors *t);

static inline void direct(const struct conv_desc *d, size_t images, struct tensors *t)
{
    struct conv_bf16 *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_true(conv_bf16_fits(d));
    assert_int_equal(conv_bf16_create(&c, d), SOTTO_OK);
    conv_bf16_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_bf16_layout(c, &scratch);
    conv_bf16_forward(c, images, t->dst, t->of[SRC].bits, t->of[WEIGHTS].values,
                      d->bias ? t->of[BIAS].values : NULL);
    if (d->diff_src)
        conv_bf16_backward_data(c, images, t->diff_src, t->add, t->of[DIFF_DST].bits, t->of[SRC].bits,
                                t->of[WEIGHTS].values);
    conv_bf16_weights(c, t->diff_weights, t->of[DIFF_DST].bits, t->of[SRC].bits);
    conv_bf16_free(c);
    arena_clear(&scratch);
    par_set_threads(par_threads(NULL));
}

static inline double *widened(const struct tensor *t)
{
    double *x = base_alloc(t->n, sizeof *x);
    for (size_t i = 0; i < t->n; i++)
        x[i] = (double)t->values[i];
    return x;
}

/** By the definition, on the numbers before bf16. */
static inline void define(double *of[PASSES], const struct conv_desc *d, const struct tensors *t)
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

static inline float found(const struct conv_desc *d, const struct tensors *t, enum pass pass, size_t i)
{
    if (pass == GRADIENT)
        return t->diff_weights[i];
    if (pass == DATA)
        return bf16_to_float(((const uint16_t *)t->diff_src)[i]);
    return d->dst_dtype == NN_BF16 ? bf16_to_float(((const uint16_t *)t->dst)[i])
                                   : ((const float *)t->dst)[i];
}

static inline bool is_narrow(const struct conv_desc *d, enum pass pass)
{
    return pass == DATA || (pass == FORWARD && d->dst_dtype == NN_BF16);
}

/** Root mean square of the difference over that of the expected values. */
static inline double distance(const struct conv_desc *d, const struct tensors *t, enum pass pass,
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

static inline void same_results(const struct tensors *a, const struct tensors *b)
{
    assert_memory_equal(a->dst, b->dst, a->counts[FORWARD] * sizeof(float));
    assert_memory_equal(a->diff_src, b->diff_src, a->counts[DATA] * sizeof(uint16_t));
}

/** 1 and 3 threads; and of a batch of one more image, the results of the others. */
static inline void threads_and_other_images_change_no_bit_of(passes *run, const struct shape *s,
                                                             enum numbers numbers, struct rng r)
{
    struct tensors a, b, c;
    struct shape larger = *s;
    struct rng same = r, third = r;
    struct conv_desc d = describe(s, true);
    tensors_make(&a, &d, numbers, &r);
    tensors_make(&b, &d, numbers, &same);
    d.threads = 1;
    run(&d, d.batch, &a);
    d.threads = 3;
    run(&d, d.batch, &b);
    same_results(&a, &b);
    assert_memory_equal(a.diff_weights, b.diff_weights, a.counts[GRADIENT] * sizeof(float));
    larger.batch++;
    struct conv_desc e = describe(&larger, true);
    tensors_make(&c, &e, numbers, &third);
    for (size_t i = 0; i < TENSORS; i++) {
        memcpy(c.of[i].bits, a.of[i].bits, a.of[i].n * sizeof(uint16_t));
        memcpy(c.of[i].values, a.of[i].values, a.of[i].n * sizeof(float));
    }
    run(&e, d.batch, &c);
    same_results(&a, &c);
    for (size_t k = a.counts[DATA]; k < c.counts[DATA]; k++) /* the image that was not asked for */
        assert_int_equal(((uint16_t *)c.diff_src)[k], 0xffff);
    tensors_free(&a), tensors_free(&b), tensors_free(&c);
}

#endif
