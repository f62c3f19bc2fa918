/* Ceilings of this machine and the forms of each convolution of keras-simclr that were considered:
 * notes/speed.md says which was chosen. Alternatives are timed in turn, so that all see the same load; the
 * median of --repeats is printed. usage: bench_kernels [--threads T] [--side 32|96] [--batch VIEWS]
 * [--repeats 9] */
#include <stdio.h>

#ifndef SOTTO_HAVE_DNNL
int main(void)
{
    puts("bench_kernels: built without oneDNN, nothing to compare");
    return 0;
}
#else

#include "nn/conv/columns.h"
#include "nn/conv/conv_image.h"
#include "nn/conv/conv_taps.h"
#include "nn/conv/conv_weights.h"
#include "nn/dnnl/dnnl_product.h"
#include "nn/kernel/kernels.h"
#include "par/par.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JOBS_MAX = 64, REPEATS_MAX = 51 };

/* One thing to time: exactly one of product, image, taps, weights, columns is set. */
struct job {
    char name[64];
    double flops, seconds[REPEATS_MAX];
    struct product *product;
    struct conv_image *image;
    struct conv_taps *taps;
    struct conv_weights *weights;
    int columns, backward;
    struct conv_desc desc;
    void *dst, *src, *operand; /* operand: weights, or the second matrix */
};
struct bench {
    struct job jobs[JOBS_MAX];
    size_t count;
    struct arena keep, scratch;
    int threads;
};

static void check(sotto_status status)
{
    if (status != SOTTO_OK) {
        fprintf(stderr, "bench_kernels: %s\n", sotto_error_text());
        exit(1);
    }
}

/* With one thread: CPU time, which other work on the machine disturbs little. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(par_pool_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct job *add(struct bench *b, const char *name, const char *what, double flops)
{
    struct job *j = &b->jobs[b->count++];
    snprintf(j->name, sizeof j->name, "%.15s %.47s", name, what);
    j->flops = flops;
    return j;
}

/* ---- the candidates ---- */

/* A (m, k) or, transposed, (k, m); B (k, n) plain, or packed by oneDNN. */
static void add_matmul(struct bench *b, const char *name, const char *what, size_t m, size_t n, size_t k,
                       int transposed, int packed, enum nn_dtype dtype)
{
    struct job *j = add(b, name, what, 2.0 * (double)m * (double)n * (double)k);
    dnnl_dim_t M = (dnnl_dim_t)m, N = (dnnl_dim_t)n, K = (dnnl_dim_t)k;
    struct operand A = {
        .ndims = 2, .dims = {M, K}, .strides = {transposed ? 1 : K, transposed ? M : 1}, .dtype = dtype};
    struct operand B = {.ndims = 2, .dims = {K, N}, .any = packed, .dtype = dtype};
    struct operand C = {.ndims = 2, .dims = {M, N}, .dtype = packed ? dtype : NN_F32};
    check(product_matmul(&j->product, &A, &B, &C, 0, STORE));
}

static struct operand image(size_t n, struct nn_shape s, enum nn_dtype dtype)
{
    dnnl_dim_t channels = (dnnl_dim_t)s.channels, height = (dnnl_dim_t)s.height, width = (dnnl_dim_t)s.width;
    return (struct operand){.ndims = 4,
                            .dims = {(dnnl_dim_t)n, channels, height, width},
                            .strides = {height * width * channels, 1, width * channels, channels},
                            .dtype = dtype};
}

static void add_convolution(struct bench *b, const char *name, const struct conv_desc *d, enum nn_dtype dtype)
{
    struct operand src = image(d->batch, d->src, dtype), dst = image(d->batch, d->dst, dtype);
    struct operand weights = image(d->dst.channels, (struct nn_shape){d->src.channels, 3, 3}, NN_F32);
    const struct conv_window window = {.strides = {2, 2}};
    size_t pixels = d->dst.height * d->dst.width, taps = 9 * d->src.channels, rows = d->batch * pixels,
           chunk = rows;
    double flops = 2.0 * (double)rows * (double)taps * (double)d->dst.channels;
    weights.any = 1;
    while (chunk * taps > (2 << 20) && chunk % 2 == 0)
        chunk /= 2;
    check(product_conv_forward(&add(b, name, "forward, convolution", flops)->product, &src, &weights, &dst,
                               &window, 1, STORE_RELU));
    if (d->diff_src)
        check(product_conv_backward_data(&add(b, name, "backward data, convolution", flops)->product, &src,
                                         &weights, &dst, &window));
    if (dtype == NN_F32) {
        struct job *columns = add(b, name, "columns", 0);
        columns->columns = 1;
        columns->desc = *d;
    }
    add_matmul(b, name, "forward, product of a chunk", chunk, d->dst.channels, taps, 0, 1, dtype);
    add_matmul(b, name, "backward data, product of a chunk", chunk, taps, d->dst.channels, 0, 1, dtype);
    add_matmul(b, name, "backward weights, product of a chunk", d->dst.channels, taps, chunk, 1, 0, dtype);
    for (int backward = 0; dtype == NN_F32 && conv_taps_fits(d) && backward <= 1; backward++) {
        struct job *own = add(b, name, backward ? "backward data, own" : "forward, own", flops);
        own->backward = backward;
        check(conv_taps_create(&own->taps, d));
    }
    for (int backward = 0; dtype == NN_F32 && conv_image_fits(d) && backward <= 1; backward++) {
        struct job *own = add(b, name, backward ? "backward weights, own" : "forward, own", flops);
        own->backward = backward;
        check(conv_image_create(&own->image, d));
    }
    if (dtype == NN_F32 && conv_weights_fits(d)) {
        struct job *own = add(b, name, "backward weights, own", flops);
        own->desc = *d;
        check(conv_weights_create(&own->weights, d));
    }
}

static void add_all(struct bench *b, size_t batch, size_t side)
{
    static char names[8][16];
    add_matmul(b, "f32", "product 2048, plain", 2048, 2048, 2048, 0, 0, NN_F32);
    add_matmul(b, "f32", "product 2048, packed", 2048, 2048, 2048, 0, 1, NN_F32);
    int bf16_works =
        (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
    if (bf16_works)
        add_matmul(b, "bf16", "product 2048, packed", 2048, 2048, 2048, 0, 1, NN_BF16);
    for (int dtype = NN_F32; dtype <= (bf16_works ? NN_BF16 : NN_F32); dtype++) {
        size_t channels = 3, height = side;
        for (int layer = 0; layer < 3; layer++) {
            size_t result = (height - 3) / 2 + 1;
            struct conv_desc d = {.batch = batch,
                                  .src = {channels, height, height},
                                  .dst = {128, result, result},
                                  .kernel_height = 3,
                                  .kernel_width = 3,
                                  .stride = 2,
                                  .training = 1,
                                  .diff_src = layer > 0,
                                  .threads = b->threads};
            char *name = names[dtype * 3 + layer];
            snprintf(name, sizeof names[0], "conv%d %s", layer + 1, dtype == NN_BF16 ? "bf16" : "f32");
            add_convolution(b, name, &d, (enum nn_dtype)dtype);
            channels = 128;
            height = result;
        }
    }
}

/* ---- running ---- */

/* All jobs share one block per operand; its size is that of the largest. */
static void place(struct bench *b, size_t bytes)
{
    void *blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = arena_take(&b->keep, bytes, 1);
    for (size_t i = 0; i < b->count; i++) {
        struct job *j = &b->jobs[i];
        size_t mark = arena_mark(&b->scratch);
        j->dst = blocks[0], j->src = blocks[1], j->operand = blocks[2];
        if (j->product)
            product_place(j->product, &b->scratch);
        if (j->image)
            conv_image_layout(j->image, &b->scratch);
        if (j->taps)
            conv_taps_layout(j->taps, &b->scratch);
        if (j->weights)
            conv_weights_layout(j->weights, &b->scratch);
        arena_rewind(&b->scratch, mark);
    }
}

static void run(struct job *j)
{
    if (j->weights)
        conv_weights_run(j->weights, j->dst, NULL, j->operand, j->src);
    else if (j->image && j->backward)
        conv_image_weights(j->image, j->dst, NULL, j->operand, j->src);
    else if (j->image)
        conv_image_forward(j->image, j->dst, j->src, j->operand, NULL);
    else if (j->taps && j->backward)
        conv_taps_backward_data(j->taps, j->dst, j->src, NULL, j->operand);
    else if (j->taps)
        conv_taps_forward(j->taps, j->dst, j->src, j->operand, NULL);
    else if (j->columns)
        for (size_t n = 0; n < j->desc.batch; n += 16) /* stays in cache, as the chunks do */
            columns_make(j->dst,
                         (char *)j->src +
                             n * j->desc.src.height * j->desc.src.width * j->desc.src.channels * 4,
                         16, 4, &j->desc);
    else if (j->product->pack)
        product_run(j->product, j->dst, j->src, j->operand);
    else
        product_run_with(j->product, j->dst, j->src, j->operand);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t option(int count, char **words, const char *name, size_t standard)
{
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], name) == 0)
            return strtoull(words[i + 1], NULL, 10);
    return standard;
}

int main(int count, char **words)
{
    struct bench *b = base_alloc(1, sizeof *b);
    size_t batch = option(count, words, "--batch", 512), side = option(count, words, "--side", 32),
           repeats = option(count, words, "--repeats", 9);
    if (!b || batch % 16 || repeats < 1 || repeats > REPEATS_MAX)
        return 64;
    b->threads = (int)option(count, words, "--threads", (size_t)par_threads(NULL));
    par_set_threads(b->threads);
    add_all(b, batch, side);
    size_t result = (side - 3) / 2 + 1, bytes = batch * result * result * 128 * sizeof(float);
    bytes = bytes > 64 << 20 ? bytes : 64 << 20;
    place(b, bytes);
    check(arena_reserve(&b->keep, "bench"));
    check(arena_reserve(&b->scratch, "bench"));
    place(b, bytes);
    float *values = b->jobs[0].src;
    for (size_t i = 0; i < bytes / sizeof *values; i++)
        values[i] = (float)(i % 7) - 3;
    for (size_t repeat = 0; repeat <= repeats; repeat++) /* the first is warm-up */
        for (size_t i = 0; i < b->count; i++) {
            double start = seconds();
            run(&b->jobs[i]);
            b->jobs[i].seconds[repeat ? repeat - 1 : 0] = seconds() - start;
        }
    printf("%d threads, %zu views of %zux%zu\n", b->threads, batch, side, side);
    for (size_t i = 0; i < b->count; i++) {
        struct job *j = &b->jobs[i];
        qsort(j->seconds, repeats, sizeof *j->seconds, by_size);
        double t = j->seconds[repeats / 2];
        printf("%-48s %8.2f ms", j->name, t * 1e3);
        printf(j->flops > 0 ? "  %6.1f GFLOP/s\n" : "\n", j->flops / t / 1e9);
        product_free(j->product);
        conv_image_free(j->image);
        conv_taps_free(j->taps);
        conv_weights_free(j->weights);
    }
    arena_clear(&b->keep);
    arena_clear(&b->scratch);
    base_free(b);
    return 0;
}
#endif
