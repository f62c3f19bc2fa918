/* Minimal filtering against the definition in double precision: all passes, every tile size and finish; what
 * the thread count may change; and which shapes are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NN_REAL double
#include "nn/ref/ref_conv.c"
#undef NN_REAL

#include "nn/conv/conv_winograd.h"
#include "par/par.h"
#include "rng/rng.h"
#include <math.h>
#include <string.h>

/* Twice the largest error that conv_winograd.h states: of the root mean square of what is compared. */
static const double TOLERANCE = 2.4e-6;

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

static void need_kernels(void)
{
    struct conv_desc d = describe(1, 4, 4, 16, 16, 0);
    if (!conv_winograd_fits(&d)) {
        print_message("skipped: no AVX-512\n");
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

static void run(const struct conv_desc *d, struct tensors *t)
{
    struct conv_winograd *w = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_int_equal(conv_winograd_create(&w, d), SOTTO_OK);
    conv_winograd_layout(w, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_winograd_layout(w, &scratch);
    conv_winograd_forward(w, t->dst, t->src, t->weights, d->bias ? t->bias : NULL);
    conv_winograd_backward(w, t->diff_src, t->diff_weights, t->diff_dst, t->src, t->weights);
    conv_winograd_free(w);
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

static void check(const struct conv_desc *d, struct rng *r)
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
    struct tensors t;
    tensors_make(&t, d, r);
    run(d, &t);
    double *src = widened(t.src, t.src_count), *weights = widened(t.weights, t.weights_count),
           *bias = widened(t.bias, t.bias_count), *diff_dst = widened(t.diff_dst, t.dst_count);
    double *dst = base_alloc(t.dst_count, sizeof(double)),
           *diff_src = base_alloc(t.src_count, sizeof(double)),
           *diff_weights = base_alloc(t.weights_count, sizeof(double));
    ref_conv_forward_in_double(dst, src, weights, d->bias ? bias : NULL, &z);
    for (size_t i = 0; d->relu && i < t.dst_count; i++)
        dst[i] = fmax(dst[i], 0);
    ref_conv_backward_data_in_double(diff_src, diff_dst, weights, &z);
    for (size_t i = 0; d->mask_src && i < t.src_count; i++)
        diff_src[i] = src[i] > 0 ? diff_src[i] : 0;
    ref_conv_backward_weights_in_double(diff_weights, NULL, diff_dst, src, &z);
    double gaps[] = {distance(t.dst, dst, t.dst_count), distance(t.diff_src, diff_src, t.src_count),
                     distance(t.diff_weights, diff_weights, t.weights_count)};
    for (size_t i = 0; i < 3; i++)
        if (!(gaps[i] < TOLERANCE))
            fail_msg("%zux%zux%zu, %zu to %zu channels, pass %zu: off by %g", d->batch, d->src.height,
                     d->src.width, d->src.channels, d->dst.channels, i, gaps[i]);
    double *doubles[] = {src, weights, bias, diff_dst, dst, diff_src, diff_weights};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        base_free(doubles[i]);
    tensors_free(&t);
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    need_kernels();
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    const size_t shapes[][5] = {/* batch, height, width, C, K */
                                {1, 1, 1, 16, 16},   {2, 4, 4, 64, 48}, {3, 5, 7, 16, 80},
                                {1, 3, 13, 112, 32}, {9, 8, 8, 32, 64}, {5, 12, 16, 48, 16},
                                {3, 2, 6, 16, 128},  {1, 9, 4, 96, 16}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int finished = 0; finished < 2; finished++) {
            const size_t *s = shapes[i];
            struct conv_desc d = describe(s[0], s[1], s[2], s[3], s[4], finished);
            assert_true(conv_winograd_fits(&d));
            check(&d, &r);
        }
}

static void threads_change_only_the_weights_sums(void **state)
{
    (void)state;
    need_kernels();
    struct rng one = rng_stream(6, RNG_TEST, 0, 0), other = one;
    struct conv_desc d = describe(7, 12, 9, 32, 16, 1);
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

static void other_shapes_are_refused(void **state)
{
    (void)state;
    need_kernels();
    struct conv_desc good = describe(1, 8, 8, 16, 16, 0), d = good;
    assert_true(conv_winograd_fits(&good));
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
    d = good, d.src_dtype = NN_BF16;
    assert_false(conv_winograd_fits(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_definition),
                                       cmocka_unit_test(threads_change_only_the_weights_sums),
                                       cmocka_unit_test(other_shapes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
