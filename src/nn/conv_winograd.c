/* A thread takes BLOCK tiles at a time, so that their points and those of their results stay in the
 * second-level cache between the transforms and the 36 products. Backward data is the forward pass with the
 * kernels turned round and the channels exchanged. Tiles are independent: but for the weight gradient, the
 * thread count does not change bits. */
#include "nn/conv_winograd.h"

#include "nn/winograd_kernels.h"
#include "par/par.h"
#include <string.h>

enum { BLOCK = 32, TAPS = 9, WEIGHTS_MAX = 256 * 256 };

struct conv_winograd {
    struct conv_desc desc;
    const struct winograd_kernels *kernels;
    struct winograd_tiles src, dst;
    size_t tiles, blocks;
    float *weights_points; /* (36, depth, results) */
    float *left, *right;   /* (threads, 36, BLOCK, C or K): points of a block */
    float *sums;           /* (threads, 36, K, C): points of the weight gradient */
    /* of the running call */
    int forward;
    float *out;
    const float *in, *weights, *diff;
    struct winograd_finish finish;
};

int conv_winograd_fits(const struct conv_desc *d)
{
    return winograd_kernels_best()->multiply && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32 &&
           d->kernel_height == 3 && d->kernel_width == 3 && d->stride == 1 && d->pad == 1 &&
           d->src.channels % WINOGRAD_VECTOR == 0 && d->dst.channels % WINOGRAD_VECTOR == 0 &&
           d->src.channels * d->dst.channels <= WEIGHTS_MAX;
}

static struct winograd_tiles cut(struct nn_shape s)
{
    return (struct winograd_tiles){.height = s.height,
                                   .width = s.width,
                                   .channels = s.channels,
                                   .down = (s.height + WINOGRAD_TILE - 1) / WINOGRAD_TILE,
                                   .across = (s.width + WINOGRAD_TILE - 1) / WINOGRAD_TILE};
}

sotto_status conv_winograd_create(struct conv_winograd **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_winograd *w = base_alloc(1, sizeof *w);
    if (!w)
        FAIL(SOTTO_ENOMEM, "convolution: out of memory");
    w->desc = *d;
    w->kernels = winograd_kernels_best();
    w->src = cut(d->src);
    w->dst = cut(d->dst);
    w->tiles = d->batch * w->src.down * w->src.across;
    w->blocks = (w->tiles + BLOCK - 1) / BLOCK;
    *out = w;
done:
    return status;
}

/* From one point to the next: not a multiple of the first-level cache's way, or the 36 would share a set. */
static size_t plane(size_t channels)
{
    return BLOCK * channels + WINOGRAD_VECTOR;
}

static size_t block_floats(size_t channels)
{
    return WINOGRAD_POINTS * plane(channels);
}

static size_t weights_plane(const struct conv_winograd *w)
{
    return w->desc.src.channels * w->desc.dst.channels + WINOGRAD_VECTOR;
}

void conv_winograd_layout(struct conv_winograd *w, struct arena *scratch)
{
    const struct conv_desc *d = &w->desc;
    size_t threads = (size_t)d->threads, weights = WINOGRAD_POINTS * weights_plane(w);
    w->weights_points = arena_take(scratch, weights, sizeof(float));
    w->left = arena_take(scratch, threads * block_floats(d->src.channels), sizeof(float));
    w->right = arena_take(scratch, threads * block_floats(d->dst.channels), sizeof(float));
    if (d->training && !d->no_weights)
        w->sums = arena_take(scratch, threads * weights, sizeof(float));
}

void conv_winograd_free(struct conv_winograd *w)
{
    base_free(w);
}

static size_t tiles_of(const struct conv_winograd *w, size_t block)
{
    size_t left = w->tiles - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

/* ---- forward and backward data ---- */

/* Sixteen results of the weights. */
static sotto_status transform_weights(void *arg, size_t group, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    size_t C = w->desc.src.channels, K = w->desc.dst.channels, first = group * WINOGRAD_VECTOR;
    if (w->forward)
        w->kernels->from_weights(w->weights_points + first, weights_plane(w), K,
                                 w->weights + first * TAPS * C, TAPS * C, 1, (ptrdiff_t)C, C);
    else
        w->kernels->from_weights(w->weights_points + first, weights_plane(w), C, w->weights + first, 1,
                                 TAPS * C, -(ptrdiff_t)C, K);
    return SOTTO_OK;
}

static sotto_status run_block(void *arg, size_t block, int thread)
{
    const struct conv_winograd *w = arg;
    const struct winograd_tiles *in = w->forward ? &w->src : &w->dst, *out = w->forward ? &w->dst : &w->src;
    size_t first = block * BLOCK, count = tiles_of(w, block);
    float *src = w->left + (size_t)thread * block_floats(w->src.channels),
          *dst = w->right + (size_t)thread * block_floats(w->dst.channels);
    float *from = w->forward ? src : dst, *to = w->forward ? dst : src;
    w->kernels->from_source(from, plane(in->channels), w->in, in, first, count);
    for (size_t point = 0; point < WINOGRAD_POINTS; point++)
        w->kernels->multiply(&(struct winograd_product){
            .out = to + point * plane(out->channels),
            .left = from + point * plane(in->channels),
            .right = w->weights_points + point * weights_plane(w),
            .rows = count,
            .depth = in->channels,
            .columns = out->channels,
            .left_row = in->channels,
            .left_depth = 1,
        });
    w->kernels->to_result(w->out, to, plane(out->channels), out, first, count, &w->finish);
    return SOTTO_OK;
}

static void run(struct conv_winograd *w)
{
    const struct winograd_tiles *out = w->forward ? &w->dst : &w->src;
    (void)par_shares(out->channels / WINOGRAD_VECTOR, w->desc.threads, transform_weights, w);
    (void)par_shares(w->blocks, w->desc.threads, run_block, w);
}

void conv_winograd_forward(struct conv_winograd *w, float *dst, const float *src, const float *weights,
                           const float *bias)
{
    w->forward = 1;
    w->out = dst, w->in = src, w->weights = weights;
    w->finish = (struct winograd_finish){.bias = bias, .relu = w->desc.relu};
    run(w);
}

void conv_winograd_backward_data(struct conv_winograd *w, float *diff_src, const float *diff_dst,
                                 const float *src, const float *weights)
{
    w->forward = 0;
    w->out = diff_src, w->in = diff_dst, w->weights = weights;
    w->finish = (struct winograd_finish){.mask = w->desc.mask_src ? src : NULL};
    run(w);
}

/* ---- the weight gradient ---- */

static sotto_status sum_tiles(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    size_t C = w->src.channels, K = w->dst.channels, threads = (size_t)w->desc.threads;
    size_t first = w->blocks * part / threads, end = w->blocks * (part + 1) / threads;
    float *src = w->left + part * block_floats(C), *diff = w->right + part * block_floats(K),
          *sums = w->sums + part * WINOGRAD_POINTS * weights_plane(w);
    if (first == end)
        memset(sums, 0, WINOGRAD_POINTS * weights_plane(w) * sizeof *sums);
    for (size_t block = first; block < end; block++) {
        size_t count = tiles_of(w, block);
        w->kernels->from_source(src, plane(C), w->in, &w->src, block * BLOCK, count);
        w->kernels->from_gradient(diff, plane(K), w->diff, &w->dst, block * BLOCK, count);
        for (size_t point = 0; point < WINOGRAD_POINTS; point++)
            w->kernels->multiply(&(struct winograd_product){
                .out = sums + point * weights_plane(w),
                .left = diff + point * plane(K),
                .right = src + point * plane(C),
                .rows = K,
                .depth = count,
                .columns = C,
                .left_row = 1,
                .left_depth = K,
                .add = block > first,
            });
    }
    return SOTTO_OK;
}

/* The gradient of one output channel's weights. */
static sotto_status add_up(void *arg, size_t output, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    size_t C = w->src.channels, plane = weights_plane(w), all = WINOGRAD_POINTS * plane;
    float *sums = w->sums + output * C;
    for (size_t part = 1; part < (size_t)w->desc.threads; part++)
        for (size_t point = 0; point < WINOGRAD_POINTS; point++)
            for (size_t c = 0; c < C; c++)
                sums[point * plane + c] += sums[part * all + point * plane + c];
    for (size_t c = 0; c < C; c += WINOGRAD_VECTOR)
        w->kernels->to_weights(w->out + output * TAPS * C + c, C, sums + c, plane);
    return SOTTO_OK;
}

void conv_winograd_weights(struct conv_winograd *w, float *diff_weights, const float *diff_dst,
                           const float *src)
{
    w->in = src, w->diff = diff_dst, w->out = diff_weights;
    (void)par_shares((size_t)w->desc.threads, w->desc.threads, sum_tiles, w);
    (void)par_shares(w->dst.channels, w->desc.threads, add_up, w);
}
