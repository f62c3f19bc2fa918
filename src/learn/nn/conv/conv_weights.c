/* For every kernel tap (r, s) the weight gradient is a product over pixels:
 *
 *     diff_weights[k, r, s, c] =
 *         sum over (n, p, q) of diff_dst[n, p, q, k] * src[n, p*stride + r - pad, q*stride + s - pad, c]
 *
 * The plan lists, per tap, the pixel pairs of a block of images (padding simply has no pair). A run takes
 * slices of SLICE pairs and packs them, so that their source panel stays in the first-level cache while all
 * outputs k pass over it. */
#include "nn/conv/conv_weights.h"

#include "nn/conv/pixel_lists.h"
#include "par/par.h"

#include <string.h>

enum { SLICE = 112, PANEL_WIDTH = 64 };

struct conv_weights {
    struct conv_desc desc;
    const struct conv_kernels *kernels;
    size_t taps, channels; /* of the kernel and the source */
    size_t count;          /* floats of the gradient */
    struct pixel_lists lists;
    float *src_panels, *dst_panels; /* (threads, SLICE, 64), (threads, SLICE, outputs) */
    float *partial; /* (threads, count + outputs): weights, then bias; one thread: bias alone */
    /* of the running call */
    float *diff_weights, *diff_bias;
    const float *diff_dst, *src;
};

int conv_weights_fits(const struct conv_desc *d)
{
    return conv_kernels_best()->multiply && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32 &&
           d->src.channels % 16 == 0 && d->dst.channels % 8 == 0 && pixel_lists_fit(d, SLICE);
}

int conv_weights_sums_bias(const struct conv_desc *d)
{
    return d->pad == 0;
}

/* ---- planning ---- */

sotto_status conv_weights_create(struct conv_weights **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_weights *w = NULL;
    NEW(w, 1);
    w->desc = *d;
    w->kernels = conv_kernels_best();
    w->taps = d->kernel_height * d->kernel_width;
    w->channels = d->src.channels;
    w->count = d->dst.channels * w->taps * w->channels;
    TRY(pixel_lists_create(&w->lists, d, SLICE));
    *out = w;
    w = NULL;
done:
    conv_weights_free(w);
    return status;
}

static size_t partial_size(const struct conv_weights *w)
{
    return w->count + w->desc.dst.channels;
}

void conv_weights_layout(struct conv_weights *w, struct arena *scratch)
{
    size_t threads = (size_t)w->desc.threads;
    w->src_panels = arena_take(scratch, threads * SLICE * PANEL_WIDTH, sizeof *w->src_panels);
    w->dst_panels = arena_take(scratch, threads * SLICE * w->desc.dst.channels, sizeof *w->dst_panels);
    w->partial = arena_take(scratch, threads > 1 ? threads * partial_size(w) : w->desc.dst.channels,
                            sizeof *w->partial);
}

void conv_weights_free(struct conv_weights *w)
{
    if (!w)
        return;
    pixel_lists_clear(&w->lists);
    base_free(w);
}

/* ---- running ---- */

static size_t panel_width(size_t channels)
{
    return channels % 64 == 0 ? 64 : channels % 32 == 0 ? 32 : 16;
}

/* A thread's share of a call. */
struct share {
    const struct conv_weights *w;
    float *sum, *bias_sum, *src_panel, *dst_panel;
};

/* One tap over pairs [first, first + count), all outputs and channels. Without padding all taps
 * have the same outputs. */
static void add_slice(const struct share *h, size_t tap, const float *diff_dst, const float *src,
                      const struct pixel_pair *pairs, size_t first, size_t count)
{
    const struct conv_weights *w = h->w;
    size_t outputs = w->desc.dst.channels, width = panel_width(w->channels), stride = w->taps * w->channels;
    if (tap == 0 && conv_weights_sums_bias(&w->desc))
        w->kernels->sum_dst(h->bias_sum, diff_dst, pairs + first, count, outputs);
    if (tap == 0 || w->desc.pad)
        w->kernels->pack_dst(h->dst_panel, diff_dst, pairs + first, count, outputs, width);
    for (size_t c = 0; c < w->channels; c += width) {
        w->kernels->pack_src(h->src_panel, src + c, pairs + first, count, width);
        w->kernels->multiply(h->sum + tap * w->channels + c, stride, h->dst_panel, h->src_panel, count,
                             outputs, width);
    }
}

static void add_block(const struct share *h, size_t first_image, size_t images)
{
    const struct conv_weights *w = h->w;
    const struct conv_desc *d = &w->desc;
    size_t pixels = d->dst.height * d->dst.width;
    const float *diff_dst = w->diff_dst + first_image * pixels * d->dst.channels;
    const float *src = w->src + first_image * d->src.height * d->src.width * d->src.channels;
    size_t slices = (images * pixels + SLICE - 1) / SLICE;
    for (size_t slice = 0; slice < slices; slice++)
        for (size_t tap = 0; tap < w->taps; tap++) {
            size_t total = w->lists.per_image[tap] * images, first = total * slice / slices,
                   end = total * (slice + 1) / slices;
            add_slice(h, tap, diff_dst, src, w->lists.pairs + tap * w->lists.length, first, end - first);
        }
}

static sotto_status sum_images(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct conv_weights *w = arg;
    size_t threads = (size_t)w->desc.threads, first = w->desc.batch * part / threads,
           end = w->desc.batch * (part + 1) / threads;
    const bool alone = threads == 1; /* its sums are the result */
    float *partial = w->partial + part * partial_size(w);
    struct share h = {.w = w,
                      .sum = alone ? w->diff_weights : partial,
                      .bias_sum = alone ? partial : partial + w->count,
                      .src_panel = w->src_panels + part * SLICE * PANEL_WIDTH,
                      .dst_panel = w->dst_panels + part * SLICE * w->desc.dst.channels};
    memset(h.sum, 0, w->count * sizeof *h.sum);
    memset(h.bias_sum, 0, w->desc.dst.channels * sizeof *h.bias_sum);
    for (size_t n = first; n < end && !par_stopped(w->desc.stop); n += w->lists.block)
        add_block(&h, n, end - n < w->lists.block ? end - n : w->lists.block);
    return SOTTO_OK;
}

/* One value of all threads' sums, in order. */
static float conv_weights_total(const struct conv_weights *w, size_t i)
{
    float sum = w->partial[i];
    for (size_t part = 1; part < (size_t)w->desc.threads; part++)
        sum += w->partial[part * partial_size(w) + i];
    return sum;
}

/* The gradient of one output channel. */
static sotto_status add_up(void *arg, size_t output, int thread)
{
    (void)thread;
    const struct conv_weights *w = arg;
    size_t row = w->taps * w->channels;
    for (size_t i = output * row; i < (output + 1) * row; i++)
        w->diff_weights[i] = conv_weights_total(w, i);
    if (w->diff_bias && conv_weights_sums_bias(&w->desc))
        w->diff_bias[output] = conv_weights_total(w, w->count + output);
    return SOTTO_OK;
}

void conv_weights_run(struct conv_weights *w, float *diff_weights, float *diff_bias, const float *diff_dst,
                      const float *src)
{
    w->diff_weights = diff_weights;
    w->diff_bias = diff_bias;
    w->diff_dst = diff_dst;
    w->src = src;
    (void)par_shares((size_t)w->desc.threads, w->desc.threads, w->desc.stop, sum_images, w);
    if (w->desc.threads > 1)
        (void)par_shares(w->desc.dst.channels, w->desc.threads, w->desc.stop, add_up, w);
    else if (diff_bias && conv_weights_sums_bias(&w->desc))
        memcpy(diff_bias, w->partial, w->desc.dst.channels * sizeof *diff_bias);
}
