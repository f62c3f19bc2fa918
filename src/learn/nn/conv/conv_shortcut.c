/* An image at a time: its pixels that the stride meets are one matrix, its results another, which lies as it is in the
 * tensor, as one panel of winograd_kernels.h has all channels. */
#include "nn/conv/conv_shortcut.h"

#include "nn/conv/winograd_kernels.h"
#include "par/par.h"

#include <string.h>

enum { PARTS = 8, LINE = 16 };

struct conv_shortcut {
    struct conv_desc desc;
    const struct winograd_kernels *kernels;
    size_t pixels, parts; /* of a result; of the batch */
    float *turned;        /* (C, K): weights */
    float *rows;          /* (threads, pixels, C) */
    float *sums;          /* (parts, K, C) */
    /* of the running call */
    const float *src, *diff_dst, *weights;
    float *dst, *diff_src, *diff_weights;
    bool add;
};

static bool is_panel(size_t channels, const struct winograd_kernels *k)
{
    return channels % WINOGRAD_VECTOR == 0 && winograd_panel(channels, k->panel) == channels;
}

bool conv_shortcut_fits(const struct conv_desc *d)
{
    const struct winograd_kernels *k = winograd_kernels_best();
    return k->multiply && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32 && d->kernel_height == 1 &&
           d->kernel_width == 1 && d->stride > 1 && d->pad == 0 && !d->bias && !d->relu && !d->mask_src &&
           is_panel(d->src.channels, k) && is_panel(d->dst.channels, k) &&
           d->dst.height * d->dst.width % WINOGRAD_ROWS == 0;
}

sotto_status conv_shortcut_create(struct conv_shortcut **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_shortcut *c = NULL;
    NEW(c, 1);
    c->desc = *d;
    c->kernels = winograd_kernels_best();
    c->pixels = d->dst.height * d->dst.width;
    c->parts = d->batch < PARTS ? d->batch : PARTS;
    *out = c;
done:
    return status;
}

void conv_shortcut_layout(struct conv_shortcut *c, struct arena *scratch)
{
    const struct conv_desc *d = &c->desc;
    const size_t C = d->src.channels, K = d->dst.channels;
    c->turned = arena_take(scratch, C * K, sizeof *c->turned);
    c->rows = arena_take(scratch, (size_t)d->threads * c->pixels * C, sizeof *c->rows);
    if (d->training && !d->single_examples)
        c->sums = arena_take(scratch, c->parts * K * C, sizeof *c->sums);
}

void conv_shortcut_free(struct conv_shortcut *c)
{
    base_free(c);
}

/* Floats to the first pixel that result row p reads. */
static size_t row_at(const struct conv_desc *d, size_t image, size_t p)
{
    return (image * d->src.height + p * d->stride) * d->src.width * d->src.channels;
}

/* Pixels lie apart, so those of the next row are fetched meanwhile. */
static void conv_shortcut_gather(float *rows, const float *src, const struct conv_desc *d, size_t image)
{
    const size_t C = d->src.channels, step = d->stride * C, down = d->stride * d->src.width * C;
    for (size_t p = 0; p < d->dst.height; p++) {
        const float *from = src + row_at(d, image, p);
        for (size_t q = 0; q < d->dst.width; q++, from += step, rows += C) {
            for (size_t i = 0; i < C; i += LINE)
                __builtin_prefetch(from + down + i, 0, 2);
            memcpy(rows, from, C * sizeof *rows);
        }
    }
}

static void conv_shortcut_scatter(float *diff_src, const float *rows, bool add, const struct conv_desc *d,
                                  size_t image)
{
    const size_t C = d->src.channels, step = d->stride * C, down = d->stride * d->src.width * C,
                 all = d->src.height * d->src.width * C;
    if (!add)
        memset(diff_src + image * all, 0, all * sizeof *diff_src);
    for (size_t p = 0; p < d->dst.height; p++) {
        float *to = diff_src + row_at(d, image, p);
        for (size_t q = 0; q < d->dst.width; q++, to += step, rows += C)
            for (size_t i = 0; i < C; i += LINE) {
                __builtin_prefetch(to + down + i, 1, 2);
                for (size_t j = i; j < i + LINE; j++)
                    to[j] += rows[j];
            }
    }
}

/* out (rows, columns) = left (rows, depth) * right. */
static void conv_shortcut_multiply(const struct conv_shortcut *c, float *out, const float *left,
                                   const float *right, size_t depth, size_t columns)
{
    c->kernels->multiply(&(struct winograd_product){.out = out,
                                                    .left = left,
                                                    .right = right,
                                                    .rows = c->pixels,
                                                    .columns = columns,
                                                    .depth = depth,
                                                    .panels = 1,
                                                    .left_row = depth,
                                                    .left_depth = 1});
}

static sotto_status forward_image(void *arg, size_t image, int thread)
{
    const struct conv_shortcut *c = arg;
    const struct conv_desc *d = &c->desc;
    const size_t C = d->src.channels, K = d->dst.channels;
    float *rows = c->rows + (size_t)thread * c->pixels * C;
    conv_shortcut_gather(rows, c->src, d, image);
    conv_shortcut_multiply(c, c->dst + image * c->pixels * K, rows, c->turned, C, K);
    return SOTTO_OK;
}

static void backward_image(const struct conv_shortcut *c, size_t image, float *rows, float *sums, bool add)
{
    const struct conv_desc *d = &c->desc;
    const size_t C = d->src.channels, K = d->dst.channels;
    const float *diff = c->diff_dst + image * c->pixels * K;
    if (sums) {
        conv_shortcut_gather(rows, c->src, d, image);
        c->kernels->multiply(&(struct winograd_product){.out = sums,
                                                        .left = diff,
                                                        .right = rows,
                                                        .rows = K,
                                                        .columns = C,
                                                        .depth = c->pixels,
                                                        .panels = 1,
                                                        .left_row = 1,
                                                        .left_depth = K,
                                                        .add = add});
    }
    if (c->diff_src) {
        conv_shortcut_multiply(c, rows, diff, c->weights, K, C);
        conv_shortcut_scatter(c->diff_src, rows, c->add, d, image);
    }
}

static sotto_status backward_part(void *arg, size_t part, int thread)
{
    const struct conv_shortcut *c = arg;
    const size_t C = c->desc.src.channels, K = c->desc.dst.channels, batch = c->desc.batch,
                 first = batch * part / c->parts, end = batch * (part + 1) / c->parts;
    float *rows = c->rows + (size_t)thread * c->pixels * C,
          *sums = c->diff_weights ? c->sums + part * K * C : NULL;
    for (size_t image = first; image < end && !par_stopped(c->desc.stop); image++)
        backward_image(c, image, rows, sums, image > first);
    return SOTTO_OK;
}

void conv_shortcut_forward(struct conv_shortcut *c, float *dst, const float *src, const float *weights)
{
    const struct conv_desc *d = &c->desc;
    const size_t C = d->src.channels, K = d->dst.channels;
    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < C; i++)
            c->turned[i * K + k] = weights[k * C + i];
    c->src = src, c->dst = dst;
    (void)par_shares(d->batch, d->threads, d->stop, forward_image, c);
}

void conv_shortcut_backward(struct conv_shortcut *c, float *diff_src, bool add, float *diff_weights,
                            const float *diff_dst, const float *src, const float *weights)
{
    const struct conv_desc *d = &c->desc;
    const size_t count = d->src.channels * d->dst.channels;
    c->src = src, c->diff_dst = diff_dst, c->weights = weights;
    c->diff_src = diff_src, c->diff_weights = diff_weights, c->add = add;
    (void)par_shares(c->parts, d->threads, d->stop, backward_part, c);
    if (!diff_weights)
        return;
    memcpy(diff_weights, c->sums, count * sizeof *diff_weights);
    for (size_t part = 1; part < c->parts; part++)
        for (size_t i = 0; i < count; i++)
            diff_weights[i] += c->sums[part * count + i];
}
