/* The oneDNN backend against the reference on random shapes (f32: 1e-4 relative; bf16: cosine >= .999), and
 * whole networks: loss and gradients in bf16 against f32. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/backend.h"
#include "nn/kernel/bf16.h"
#include "nn/plan/plan.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static const struct nn_backend *dnnl(void)
{
    const struct nn_backend *b = NULL;
    if (nn_backend_find(&b, "dnnl") != SOTTO_OK) {
        print_message("skipped: %s\n", sotto_error_text());
        skip();
    }
    return b;
}

static void fill(float *x, size_t n, struct rng *r)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(r);
}

struct distance {
    double relative, cosine;
};

static struct distance compare(const float *a, const float *b, size_t n)
{
    double aa = 0, bb = 0, ab = 0, difference = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)a[i], y = (double)b[i];
        aa += x * x, bb += y * y, ab += x * y, difference += (x - y) * (x - y);
    }
    if (bb == 0)
        return (struct distance){sqrt(aa), aa == 0};
    return (struct distance){sqrt(difference / bb), ab / sqrt(aa * bb)};
}

/* ---- one convolution on both backends ---- */

struct sizes {
    size_t src, dst, weights;
};

static struct conv_desc random_desc(struct rng *r, size_t round, struct sizes *z)
{
    struct conv_desc d = {.batch = 1 + rng_below(r, 9),
                          .training = 1,
                          .diff_src = (int)rng_below(r, 4) != 0,
                          .bias = (int)rng_below(r, 4) != 0,
                          .relu = (int)rng_below(r, 2),
                          .mask_src = (int)rng_below(r, 2),
                          .threads = 1 + (int)rng_below(r, 2)};
    const size_t channels[] = {1, 3, 16, 64, 48, 128, 5};
    d.src = (struct nn_shape){channels[rng_below(r, 7)], 1 + rng_below(r, 12), 1 + rng_below(r, 12)};
    d.kernel_height = d.kernel_width = 1 + rng_below(r, 3);
    d.stride = 1 + rng_below(r, 2);
    d.pad = rng_below(r, d.kernel_height);
    if (round % 3 == 0) { /* dense: the kernel is the source */
        d.kernel_height = d.src.height;
        d.kernel_width = d.src.width;
        d.stride = 1;
        d.pad = 0;
    }
    size_t outputs = channels[rng_below(r, 7)];
    if (round % 20 == 7) { /* many chunks of columns, several blocks per thread, our own kernels */
        d.batch = 250;
        d.src = (struct nn_shape){round < 40 ? 128 : 3, 7, 7};
        d.kernel_height = d.kernel_width = 3;
        d.stride = 2;
        d.pad = round > 20;
        d.bias = d.diff_src = 1;
        outputs = 64;
    }
    if (round % 20 == 13) { /* the first layer: images */
        d.batch = 5;
        d.src = (struct nn_shape){3, 15, 17};
        d.kernel_height = d.kernel_width = 3;
        d.pad = 0;
        d.diff_src = 0;
        outputs = 64 * (1 + round / 20 % 2);
    }
    while (d.src.height + 2 * d.pad < d.kernel_height || d.src.width + 2 * d.pad < d.kernel_width)
        d.src.height++, d.src.width++;
    d.dst = (struct nn_shape){outputs, (d.src.height + 2 * d.pad - d.kernel_height) / d.stride + 1,
                              (d.src.width + 2 * d.pad - d.kernel_width) / d.stride + 1};
    z->src = d.batch * d.src.channels * d.src.height * d.src.width;
    z->dst = d.batch * d.dst.channels * d.dst.height * d.dst.width;
    z->weights = d.dst.channels * d.kernel_height * d.kernel_width * d.src.channels;
    return d;
}

/* Everything a convolution reads and writes, as f32. */
struct data {
    float *src, *weights, *bias, *dst, *diff_dst, *diff_src, *diff_weights, *diff_bias;
};

static void data_make(struct data *x, const struct sizes *z, size_t out)
{
    x->src = base_alloc(z->src, 4), x->diff_src = base_alloc(z->src, 4);
    x->dst = base_alloc(z->dst, 4), x->diff_dst = base_alloc(z->dst, 4);
    x->weights = base_alloc(z->weights, 4), x->diff_weights = base_alloc(z->weights, 4);
    x->bias = base_alloc(out, 4), x->diff_bias = base_alloc(out, 4);
}

static void data_free(struct data *x)
{
    float *all[] = {x->src,      x->weights,  x->bias,         x->dst,
                    x->diff_dst, x->diff_src, x->diff_weights, x->diff_bias};
    for (size_t i = 0; i < 8; i++)
        base_free(all[i]);
}

/* Rounds to what a bf16 plan sees, in place, so that both backends start from the same numbers. */
static void round_bf16(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = bf16_to_float(bf16_from_float(x[i]));
}

static void *narrowed(const float *x, size_t n)
{
    uint16_t *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = bf16_from_float(x[i]);
    return y;
}

static void widen(float *y, const uint16_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = bf16_to_float(x[i]);
}

static void run_conv(const struct nn_backend *b, const struct conv_desc *d, const struct sizes *z,
                     struct data *x)
{
    struct conv *c = NULL;
    struct arena keep = {0}, scratch = {0};
    par_set_threads(d->threads);
    sotto_status status = b->conv_create(&c, d);
    if (status != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    for (int pass = 0; pass < 2 && b->conv_layout; pass++) {
        b->conv_layout(c, &keep, &scratch);
        if (pass == 0) {
            assert_int_equal(arena_reserve(&keep, "test"), SOTTO_OK);
            assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
        }
    }
    const float *bias = d->bias ? x->bias : NULL;
    float *diff_bias = d->bias ? x->diff_bias : NULL;
    if (d->src_dtype == NN_F32) {
        b->conv_forward(c, x->dst, x->src, x->weights, bias);
        b->conv_backward(c, x->diff_src, x->diff_weights, diff_bias, x->diff_dst, x->src, x->weights);
    } else {
        void *src = narrowed(x->src, z->src), *dst = narrowed(x->dst, z->dst),
             *diff_dst = narrowed(x->diff_dst, z->dst), *diff_src = narrowed(x->diff_src, z->src);
        b->conv_forward(c, d->dst_dtype == NN_BF16 ? dst : x->dst, src, x->weights, bias);
        b->conv_backward(c, diff_src, x->diff_weights, diff_bias,
                         d->dst_dtype == NN_BF16 ? diff_dst : x->diff_dst, src, x->weights);
        if (d->dst_dtype == NN_BF16)
            widen(x->dst, dst, z->dst);
        widen(x->diff_src, diff_src, z->src);
        base_free(src), base_free(dst), base_free(diff_dst), base_free(diff_src);
    }
    b->conv_free(c);
    arena_clear(&keep);
    arena_clear(&scratch);
}

static void agree(const float *found, const float *expected, size_t n, int narrow, const char *what,
                  size_t round)
{
    struct distance gap = compare(found, expected, n);
    if (narrow ? !(gap.cosine >= 0.999) : !(gap.relative <= 1e-4))
        fail_msg("round %zu, %s: relative distance %g, cosine %g", round, what, gap.relative, gap.cosine);
}

static void compare_convolutions(enum nn_dtype dtype)
{
    const struct nn_backend *fast = dnnl(), *ref = NULL;
    assert_int_equal(nn_backend_find(&ref, "ref"), SOTTO_OK);
    if (dtype == NN_BF16 && !nn_backend_supports_bf16(fast)) {
        print_message("skipped: no bf16 on this CPU\n");
        skip();
    }
    struct rng r = rng_stream(21, RNG_TEST, 0, (uint64_t)dtype);
    for (size_t round = 0; round < 60; round++) {
        struct sizes z;
        struct conv_desc d = random_desc(&r, round, &z), plain = d;
        d.src_dtype = dtype;
        d.dst_dtype = rng_below(&r, 3) ? dtype : NN_F32;
        struct data a, b;
        data_make(&a, &z, d.dst.channels);
        data_make(&b, &z, d.dst.channels);
        fill(a.src, z.src, &r), fill(a.weights, z.weights, &r), fill(a.bias, d.dst.channels, &r);
        fill(a.diff_dst, z.dst, &r);
        if (dtype == NN_BF16)
            round_bf16(a.src, z.src), round_bf16(a.weights, z.weights), round_bf16(a.diff_dst, z.dst);
        memcpy(b.src, a.src, z.src * 4), memcpy(b.weights, a.weights, z.weights * 4);
        memcpy(b.bias, a.bias, d.dst.channels * 4), memcpy(b.diff_dst, a.diff_dst, z.dst * 4);
        run_conv(fast, &d, &z, &a);
        run_conv(ref, &plain, &z, &b);
        agree(a.dst, b.dst, z.dst, dtype == NN_BF16, "dst", round);
        agree(a.diff_weights, b.diff_weights, z.weights, dtype == NN_BF16, "diff_weights", round);
        if (d.bias)
            agree(a.diff_bias, b.diff_bias, d.dst.channels, dtype == NN_BF16, "diff_bias", round);
        if (d.diff_src)
            agree(a.diff_src, b.diff_src, z.src, dtype == NN_BF16, "diff_src", round);
        data_free(&a);
        data_free(&b);
    }
    par_set_threads(machine.context.threads);
}

TEST(convolutions_agree_in_f32)
{
    compare_convolutions(NN_F32);
}

TEST(convolutions_agree_in_bf16)
{
    compare_convolutions(NN_BF16);
}

TEST(matrix_products_agree)
{
    const struct nn_backend *fast = dnnl(), *ref = NULL;
    assert_int_equal(nn_backend_find(&ref, "ref"), SOTTO_OK);
    struct rng r = rng_stream(22, RNG_TEST, 0, 0);
    static float A[64 * 64], B[64 * 64], C[64 * 64], D[64 * 64];
    for (int round = 0; round < 100; round++) {
        size_t m = 1 + rng_below(&r, 40), n = 1 + rng_below(&r, 40), k = 1 + rng_below(&r, 40);
        int ta = (int)rng_below(&r, 2), tb = (int)rng_below(&r, 2);
        float alpha = (float)rng_normal(&r), beta = rng_below(&r, 2) ? 0 : (float)rng_normal(&r);
        fill(A, 64 * 64, &r), fill(B, 64 * 64, &r), fill(C, 64 * 64, &r);
        memcpy(D, C, sizeof C);
        nn_sgemm(fast, ta, tb, m, n, k, alpha, A, 64, B, 64, beta, C, 64);
        nn_sgemm(ref, ta, tb, m, n, k, alpha, A, 64, B, 64, beta, D, 64);
        agree(C, D, 64 * 64, 0, "product", (size_t)round);
    }
}

/* ---- whole networks ---- */

enum { VIEWS = 64, WIDTH = 128 };
struct trained {
    double loss;
    float output[VIEWS * WIDTH], diffs[1 << 20];
    size_t count;
};

/* Two noisy views of each of 32 images made of 4x4 blocks of colour, so that the loss has something to
 * learn from. */
static void fill_views(float *x)
{
    enum { SIDE = 32, BLOCK = 4, COLOURS = SIDE / BLOCK * SIDE / BLOCK * 3 };
    float colours[COLOURS];
    for (size_t i = 0; i < VIEWS; i++) {
        struct rng of_image = rng_stream(23, RNG_TEST, 0, i % (VIEWS / 2)),
                   of_view = rng_stream(23, RNG_TEST, 1, i);
        fill(colours, COLOURS, &of_image);
        for (size_t k = 0; k < SIDE * SIDE * 3; k++) {
            size_t row = k / 3 / SIDE / BLOCK, column = k / 3 % SIDE / BLOCK;
            *x++ = 0.5f + 0.25f * colours[(row * (SIDE / BLOCK) + column) * 3 + k % 3] +
                   0.05f * (float)rng_normal(&of_view);
        }
    }
}

/* One SimCLR step without the optimizer. */
static void one_step(struct trained *out, const struct nn_backend *b, enum nn_dtype dtype)
{
    struct nn_model *m = NULL;
    struct nn_plan *p = NULL;
    struct ntxent *loss = NULL;
    struct nn_model_config config = {
        .name = "keras-simclr", .input = {3, 32, 32}, .projector = {WIDTH, WIDTH}, .projector_count = 2};
    struct nn_plan_config plan = {.batch = VIEWS, .backend = b, .dtype = dtype, .training = 1};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    assert_int_equal(nn_plan_create(&p, m, &plan), SOTTO_OK);
    assert_int_equal(ntxent_create(&loss, NTXENT_KERAS, VIEWS / 2, WIDTH, VIEWS / 2, b), SOTTO_OK);
    fill_views(nn_plan_input(p));
    nn_plan_forward(p, 1, 0, 0);
    memcpy(out->output, nn_plan_output(p), sizeof out->output);
    out->loss = ntxent_run(loss, nn_plan_diff_output(p), NULL, nn_plan_output(p), 0.1f);
    nn_plan_backward(p);
    out->count = m->trainable;
    assert_true(out->count <= sizeof out->diffs / sizeof *out->diffs);
    memcpy(out->diffs, m->diffs, out->count * sizeof(float));
    ntxent_free(loss);
    nn_plan_free(p);
    nn_model_free(m);
}

TEST(networks_agree)
{
    static struct trained ref, f32, half, again;
    const struct nn_backend *fast = dnnl(), *slow = NULL;
    assert_int_equal(nn_backend_find(&slow, "ref"), SOTTO_OK);
    one_step(&ref, slow, NN_F32);
    one_step(&f32, fast, NN_F32);
    one_step(&again, fast, NN_F32);
    agree(f32.output, ref.output, VIEWS * WIDTH, 0, "network output", 0);
    agree(f32.diffs, ref.diffs, ref.count, 0, "network gradient", 0);
    assert_memory_equal(again.diffs, f32.diffs, f32.count * sizeof(float)); /* same threads, same bits */
    if (!nn_backend_supports_bf16(fast))
        return;
    one_step(&half, fast, NN_BF16);
    one_step(&again, fast, NN_BF16);
    if (!(fabs(half.loss - ref.loss) <= 1e-2))
        fail_msg("loss %g in bf16, %g in f32", half.loss, ref.loss);
    agree(half.diffs, ref.diffs, ref.count, 1, "network gradient in bf16", 0);
    assert_memory_equal(again.diffs, half.diffs, half.count * sizeof(float));
}

TEST_GROUP(.start = machine_f32, .tags = "matrix long")
