/* A thread takes a block of tiles at a time, so that their points and those of their results stay in the
 * second-level cache (with many channels the third) between the transforms and the 36 products. Backward data is the forward pass with the
 * kernels rotated by 180 degrees and the channels exchanged. Tiles are independent: but for the weight
 * gradient, the thread count does not change bits. */
#include "nn/conv/conv_winograd.h"

#include "nn/conv/winograd_kernels.h"
#include "par/par.h"

#include <string.h>

/* FEW: up to so many weights of a tap their 36 points stay in cache beside those of the tiles; more are read
 * anew for each block, so blocks are larger. */
enum { TAPS = 9, FEW = 128 * 128, WEIGHTS_MAX = 512 * 512 };

struct conv_winograd {
    struct conv_desc desc;
    const struct winograd_kernels *kernels;
    struct winograd_tiles src, dst;
    size_t tiles, block, blocks;    /* block: tiles in one */
    float *weights_points;          /* (36, depth, results) */
    float *src_points, *dst_points; /* (threads, 36, block, C or K) */
    float *sums;                    /* (threads, 36, K, C): points of the weight gradient */
    /* of the running call */
    int forward;
    const void *in; /* diff_dst in the backward pass */
    const float *weights;
    void *out; /* diff_src there; NULL: not wanted */
    struct winograd_finish finish;
    const void *src_data;
    float *diff_weights; /* NULL: not wanted */
};

int conv_winograd_fits(const struct conv_desc *d)
{
    return winograd_kernels_best()->multiply && d->src_dtype == d->dst_dtype && d->kernel_height == 3 &&
           d->kernel_width == 3 && d->stride == 1 && d->pad == 1 && d->src.channels % WINOGRAD_VECTOR == 0 &&
           d->dst.channels % WINOGRAD_VECTOR == 0 && d->src.channels * d->dst.channels <= WEIGHTS_MAX;
}

static struct winograd_tiles cut(struct nn_shape s, enum nn_dtype dtype)
{
    return (struct winograd_tiles){.height = s.height,
                                   .width = s.width,
                                   .channels = s.channels,
                                   .down = (s.height + WINOGRAD_TILE - 1) / WINOGRAD_TILE,
                                   .across = (s.width + WINOGRAD_TILE - 1) / WINOGRAD_TILE,
                                   .narrow = dtype == NN_BF16};
}

sotto_status conv_winograd_create(struct conv_winograd **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_winograd *w = NULL;
    NEW(w, 1);
    w->desc = *d;
    w->kernels = winograd_kernels_best();
    w->src = cut(d->src, d->src_dtype);
    w->dst = cut(d->dst, d->dst_dtype);
    w->tiles = d->batch * w->src.down * w->src.across;
    w->block = d->src.channels * d->dst.channels > FEW ? 128 : 32;
    w->blocks = (w->tiles + w->block - 1) / w->block;
    *out = w;
done:
    return status;
}

/* From one point to the next: not a multiple of the first-level cache's way, or the 36 would share a set. */
static size_t plane(const struct conv_winograd *w, size_t channels)
{
    return w->block * channels + WINOGRAD_VECTOR;
}

static size_t block_floats(const struct conv_winograd *w, size_t channels)
{
    return WINOGRAD_POINTS * plane(w, channels);
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
    w->src_points = arena_take(scratch, threads * block_floats(w, d->src.channels), sizeof(float));
    w->dst_points = arena_take(scratch, threads * block_floats(w, d->dst.channels), sizeof(float));
    if (d->training && !d->single_examples)
        w->sums = arena_take(scratch, threads * weights, sizeof(float));
}

void conv_winograd_free(struct conv_winograd *w)
{
    base_free(w);
}

static size_t tiles_of(const struct conv_winograd *w, size_t block)
{
    size_t left = w->tiles - block * w->block;
    return left < w->block ? left : w->block;
}

/* Sixteen results of the weights. */
static sotto_status transform_weights(void *arg, size_t group, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    size_t C = w->src.channels, K = w->dst.channels, first = group * WINOGRAD_VECTOR;
    if (w->forward)
        w->kernels->from_weights(w->weights_points + first, weights_plane(w), K,
                                 w->weights + first * TAPS * C, TAPS * C, 1, (ptrdiff_t)C, C);
    else
        w->kernels->from_weights(w->weights_points + first, weights_plane(w), C, w->weights + first, 1,
                                 TAPS * C, -(ptrdiff_t)C, K);
    return SOTTO_OK;
}

/* out = in * weights, forward or backward. */
static void filter_block(const struct conv_winograd *w, size_t block, float *src_points, float *dst_points)
{
    const struct winograd_tiles *in = w->forward ? &w->src : &w->dst, *out = w->forward ? &w->dst : &w->src;
    float *from = w->forward ? src_points : dst_points, *to = w->forward ? dst_points : src_points;
    size_t count = tiles_of(w, block);
    w->kernels->from_source(from, plane(w, in->channels), w->in, in, block * w->block, count);
    for (size_t point = 0; point < WINOGRAD_POINTS; point++)
        w->kernels->multiply(&(struct winograd_product){
            .out = to + point * plane(w, out->channels),
            .left = from + point * plane(w, in->channels),
            .right = w->weights_points + point * weights_plane(w),
            .rows = count,
            .depth = in->channels,
            .columns = out->channels,
            .left_row = in->channels,
            .left_depth = 1,
        });
    w->kernels->to_result(w->out, to, plane(w, out->channels), out, block * w->block, count, &w->finish);
}

/* sums (K, C) (+)= diff_dst' * src, for each point. */
static void sum_block(const struct conv_winograd *w, size_t block, float *src_points, float *dst_points,
                      float *sums, int add)
{
    size_t C = w->src.channels, K = w->dst.channels, count = tiles_of(w, block);
    w->kernels->from_source(src_points, plane(w, C), w->src_data, &w->src, block * w->block, count);
    w->kernels->from_gradient(dst_points, plane(w, K), w->in, &w->dst, block * w->block, count);
    for (size_t point = 0; point < WINOGRAD_POINTS; point++)
        w->kernels->multiply(&(struct winograd_product){
            .out = sums + point * weights_plane(w),
            .left = dst_points + point * plane(w, K),
            .right = src_points + point * plane(w, C),
            .rows = K,
            .depth = count,
            .columns = C,
            .left_row = 1,
            .left_depth = K,
            .add = add,
        });
}

/* A thread's blocks. Both backward passes take a block in turn: what they read is in cache for the second. */
static sotto_status run_share(void *arg, size_t share, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    size_t threads = (size_t)w->desc.threads, sums_floats = WINOGRAD_POINTS * weights_plane(w);
    size_t first = w->blocks * share / threads, end = w->blocks * (share + 1) / threads;
    float *src_points = w->src_points + share * block_floats(w, w->src.channels),
          *dst_points = w->dst_points + share * block_floats(w, w->dst.channels),
          *sums = w->diff_weights ? w->sums + share * sums_floats : NULL;
    if (sums && first == end)
        memset(sums, 0, sums_floats * sizeof *sums);
    for (size_t block = first; block < end && !par_stopped(w->desc.stop); block++) {
        if (w->out)
            filter_block(w, block, src_points, dst_points);
        if (sums)
            sum_block(w, block, src_points, dst_points, sums, block > first);
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
    for (size_t share = 1; share < (size_t)w->desc.threads; share++)
        for (size_t point = 0; point < WINOGRAD_POINTS; point++)
            for (size_t c = 0; c < C; c++)
                sums[point * plane + c] += sums[share * all + point * plane + c];
    for (size_t c = 0; c < C; c += WINOGRAD_VECTOR)
        w->kernels->to_weights(w->diff_weights + output * TAPS * C + c, C, sums + c, plane);
    return SOTTO_OK;
}

static void run(struct conv_winograd *w)
{
    size_t results = w->forward ? w->dst.channels : w->src.channels;
    if (w->out)
        (void)par_shares(results / WINOGRAD_VECTOR, w->desc.threads, w->desc.stop, transform_weights, w);
    (void)par_shares((size_t)w->desc.threads, w->desc.threads, w->desc.stop, run_share, w);
    if (w->diff_weights)
        (void)par_shares(w->dst.channels, w->desc.threads, w->desc.stop, add_up, w);
}

void conv_winograd_forward(struct conv_winograd *w, void *dst, const void *src, const float *weights,
                           const float *bias)
{
    w->forward = 1;
    w->in = src, w->weights = weights, w->out = dst;
    w->finish = (struct winograd_finish){.bias = bias, .relu = w->desc.relu};
    w->diff_weights = NULL;
    run(w);
}

void conv_winograd_backward(struct conv_winograd *w, void *diff_src, float *diff_weights,
                            const void *diff_dst, const void *src, const float *weights)
{
    w->forward = 0;
    w->in = diff_dst, w->weights = weights, w->out = diff_src;
    w->finish = (struct winograd_finish){.mask = w->desc.mask_src ? src : NULL};
    w->src_data = src, w->diff_weights = diff_weights;
    run(w);
}
