/* Both passes are the same sum over pixel pairs, with the two sides exchanged:
 *
 *     forward         dst[pair.dst, k]      += sum over c of src[pair.src, c]      * weights[k, tap, c]
 *     backward data   diff_src[pair.src, c] += sum over k of diff_dst[pair.dst, k] * weights[k, tap, c]
 *
 * The weights of a tap are packed as panels (depth, 64 results) that stay in the first-level cache while the
 * pairs of a block of images go by; the block's tensors stay in the second-level cache while the taps go by.
 * Images are independent, so the thread count does not change bits. */
#include "nn/conv/conv_taps.h"

#include "nn/conv/pixel_lists.h"
#include "nn/kernel/kernels.h"
#include "par/par.h"

#include <string.h>

enum { BLOCK_PIXELS = 112, PANEL_WIDTH = 64, DEPTH_MAX = 128, LINE = 16 };

struct conv_taps {
    struct conv_desc desc;
    const struct conv_kernels *kernels;
    const struct kernels *pointwise;
    struct pixel_lists lists;
    float *panels; /* (taps, results / 64, depth, 64) */
    /* of the running call */
    int forward;
    float *out;
    const float *in, *weights, *bias, *mask;
};

/* Measured for strides above 1, where oneDNN is slow; and a panel of more than DEPTH_MAX channels would not
 * fit into the first-level cache. */
int conv_taps_fits(const struct conv_desc *d)
{
    size_t src = d->src.channels, dst = d->dst.channels;
    return conv_kernels_best()->accumulate && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32 &&
           d->stride > 1 && src % PANEL_WIDTH == 0 && dst % PANEL_WIDTH == 0 && src <= DEPTH_MAX &&
           dst <= DEPTH_MAX && pixel_lists_fit(d, BLOCK_PIXELS);
}

sotto_status conv_taps_create(struct conv_taps **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_taps *t = NULL;
    NEW(t, 1);
    t->desc = *d;
    t->kernels = conv_kernels_best();
    t->pointwise = kernels_best();
    TRY(pixel_lists_create(&t->lists, d, BLOCK_PIXELS));
    *out = t;
    t = NULL;
done:
    conv_taps_free(t);
    return status;
}

void conv_taps_layout(struct conv_taps *t, struct arena *scratch)
{
    t->panels =
        arena_take(scratch, t->lists.taps * t->desc.src.channels * t->desc.dst.channels, sizeof *t->panels);
}

void conv_taps_free(struct conv_taps *t)
{
    if (!t)
        return;
    pixel_lists_clear(&t->lists);
    base_free(t);
}

/* Values summed per result, and results per pixel. */
static size_t depth_of(const struct conv_taps *t)
{
    return t->forward ? t->desc.src.channels : t->desc.dst.channels;
}

static size_t results_of(const struct conv_taps *t)
{
    return t->forward ? t->desc.dst.channels : t->desc.src.channels;
}

/* to (LINE, PANEL_WIDTH) = from (PANEL_WIDTH, LINE)': a line of the cache at a time is read. */
static void conv_taps_transpose(float *restrict to, const float *restrict from, size_t row)
{
    for (size_t i = 0; i < PANEL_WIDTH; i++)
        for (size_t k = 0; k < LINE; k++)
            to[k * PANEL_WIDTH + i] = from[i * row + k];
}

/* weights (K, taps, C) to the panels of one tap, (results / PANEL_WIDTH, depth, PANEL_WIDTH). */
static sotto_status pack_tap(void *arg, size_t tap, int thread)
{
    (void)thread;
    const struct conv_taps *t = arg;
    const size_t C = t->desc.src.channels, row = t->lists.taps * C, depth = depth_of(t),
                 results = results_of(t);
    const float *weights = t->weights + tap * C;
    float *to = t->panels + tap * depth * results;
    for (size_t first = 0; first < results; first += PANEL_WIDTH, to += depth * PANEL_WIDTH)
        for (size_t at = 0; at < depth; at += LINE)
            if (t->forward)
                conv_taps_transpose(to + at * PANEL_WIDTH, weights + first * row + at, row);
            else
                for (size_t k = at; k < at + LINE; k++)
                    memcpy(to + k * PANEL_WIDTH, weights + k * row + first, PANEL_WIDTH * sizeof *to);
    return SOTTO_OK;
}

static void begin_images(const struct conv_taps *t, float *out, size_t pixels)
{
    size_t results = results_of(t);
    if (t->forward && t->bias)
        for (size_t i = 0; i < pixels; i++)
            memcpy(out + i * results, t->bias, results * sizeof *out);
    else
        memset(out, 0, pixels * results * sizeof *out);
}

static sotto_status run_block(void *arg, size_t block, int thread)
{
    (void)thread;
    const struct conv_taps *t = arg;
    const struct conv_desc *d = &t->desc;
    size_t first = block * t->lists.block, left = d->batch - first,
           images = left < t->lists.block ? left : t->lists.block;
    size_t src_pixels = d->src.height * d->src.width, dst_pixels = d->dst.height * d->dst.width;
    size_t out_pixels = t->forward ? dst_pixels : src_pixels,
           in_pixels = t->forward ? src_pixels : dst_pixels;
    size_t depth = depth_of(t), results = results_of(t), count = images * out_pixels * results;
    float *out = t->out + first * out_pixels * results;
    const float *in = t->in + first * in_pixels * depth;
    begin_images(t, out, images * out_pixels);
    for (size_t tap = 0; tap < t->lists.taps; tap++)
        for (size_t r = 0; r < results; r += PANEL_WIDTH)
            t->kernels->accumulate(out + r, in, t->lists.pairs + tap * t->lists.length,
                                   t->lists.per_image[tap] * images, t->forward,
                                   t->panels + (tap * results + r) * depth, depth);
    if (t->forward && d->relu)
        t->pointwise->relu[NN_F32](out, count);
    if (!t->forward && t->mask)
        t->pointwise->mask[NN_F32](out, t->mask + first * out_pixels * results, count);
    return SOTTO_OK;
}

static void conv_taps_run(struct conv_taps *t)
{
    (void)par_shares(t->lists.taps, t->desc.threads, t->desc.stop, pack_tap, t);
    (void)par_shares((t->desc.batch + t->lists.block - 1) / t->lists.block, t->desc.threads, t->desc.stop,
                     run_block, t);
}

void conv_taps_forward(struct conv_taps *t, float *dst, const float *src, const float *weights,
                       const float *bias)
{
    t->forward = 1;
    t->out = dst, t->in = src, t->weights = weights, t->bias = bias;
    conv_taps_run(t);
}

void conv_taps_backward_data(struct conv_taps *t, float *diff_src, const float *diff_dst, const float *src,
                             const float *weights)
{
    t->forward = 0;
    t->out = diff_src, t->in = diff_dst, t->weights = weights, t->mask = t->desc.mask_src ? src : NULL;
    conv_taps_run(t);
}
