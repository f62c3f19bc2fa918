#include "nn/conv/conv_image.h"

#include "nn/conv/conv_kernels.h"
#include "par/par.h"

#include <string.h>

enum {
    SLICE = 32
}; /* pixels of a gradient that stay in the first-level cache while the kernel's rows pass */

struct conv_image {
    struct conv_desc desc;
    const struct conv_kernels *kernels;
    struct image shape;
    size_t taps, pixels; /* values under the kernel; pixels of one result */
    uint32_t *starts;    /* (pixels): offset of the first value under the kernel */
    float *panels;       /* (outputs / 64, 1 + taps, 64): bias and weights */
    float *partial;      /* (threads, as panels): their gradient */
    /* of the running call */
    float *dst;
    const float *src, *diff_dst;
};

int conv_image_fits(const struct conv_desc *d)
{
    return conv_kernels_best()->image_forward && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32 &&
           !d->diff_src && d->pad == 0 && d->kernel_width * d->src.channels == PICTURE_RUN &&
           d->dst.channels % PICTURE_PANEL == 0 &&
           d->src.height * d->src.width * d->src.channels <= UINT32_MAX;
}

sotto_status conv_image_create(struct conv_image **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_image *c = NULL;
    NEW(c, 1);
    c->desc = *d;
    c->kernels = conv_kernels_best();
    c->shape = (struct image){.rows = d->kernel_height,
                              .stride = d->src.width * d->src.channels,
                              .outputs = d->dst.channels,
                              .relu = d->relu};
    c->taps = d->kernel_height * PICTURE_RUN;
    c->pixels = d->dst.height * d->dst.width;
    NEW(c->starts, c->pixels);
    for (size_t i = 0; i < c->pixels; i++)
        c->starts[i] = (uint32_t)(i / d->dst.width * d->stride * c->shape.stride +
                                  i % d->dst.width * d->stride * d->src.channels);
    *out = c;
    c = NULL;
done:
    conv_image_free(c);
    return status;
}

static size_t panels_size(const struct conv_image *c)
{
    return (1 + c->taps) * c->desc.dst.channels;
}

/* Index in the panels of an output's bias (row 0) or weight (row 1 + tap). */
static size_t conv_image_position(const struct conv_image *c, size_t output, size_t row)
{
    return (output / PICTURE_PANEL * (1 + c->taps) + row) * PICTURE_PANEL + output % PICTURE_PANEL;
}

void conv_image_layout(struct conv_image *c, struct arena *scratch)
{
    c->panels = arena_take(scratch, panels_size(c), sizeof *c->panels);
    if (c->desc.training && !c->desc.single_examples)
        c->partial = arena_take(scratch, (size_t)c->desc.threads * panels_size(c), sizeof *c->partial);
}

void conv_image_free(struct conv_image *c)
{
    if (!c)
        return;
    base_free(c->starts);
    base_free(c);
}

static size_t image_size(const struct conv_image *c)
{
    return c->desc.src.height * c->desc.src.width * c->desc.src.channels;
}

static sotto_status forward_image(void *arg, size_t n, int thread)
{
    (void)thread;
    const struct conv_image *c = arg;
    c->kernels->image_forward(c->dst + n * c->pixels * c->shape.outputs, c->src + n * image_size(c),
                              c->starts, c->pixels, &c->shape, c->panels);
    return SOTTO_OK;
}

void conv_image_forward(struct conv_image *c, float *dst, const float *src, const float *weights,
                        const float *bias)
{
    for (size_t k = 0; k < c->shape.outputs; k++) {
        c->panels[conv_image_position(c, k, 0)] = bias ? bias[k] : 0;
        for (size_t t = 0; t < c->taps; t++)
            c->panels[conv_image_position(c, k, 1 + t)] = weights[k * c->taps + t];
    }
    c->dst = dst;
    c->src = src;
    (void)par_shares(c->desc.batch, c->desc.threads, c->desc.stop, forward_image, c);
}

static sotto_status sum_images(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct conv_image *c = arg;
    size_t threads = (size_t)c->desc.threads, first = c->desc.batch * part / threads,
           end = c->desc.batch * (part + 1) / threads;
    float *sums = c->partial + part * panels_size(c);
    memset(sums, 0, panels_size(c) * sizeof *sums);
    for (size_t n = first; n < end && !par_stopped(c->desc.stop); n++)
        for (size_t i = 0; i < c->pixels; i += SLICE)
            c->kernels->image_weights(sums, c->diff_dst + (n * c->pixels + i) * c->shape.outputs,
                                      c->src + n * image_size(c), c->starts + i,
                                      c->pixels - i < SLICE ? c->pixels - i : SLICE, &c->shape);
    return SOTTO_OK;
}

/* One value of all threads' sums, in order. */
static float conv_image_total(const struct conv_image *c, size_t i)
{
    float sum = c->partial[i];
    for (size_t part = 1; part < (size_t)c->desc.threads; part++)
        sum += c->partial[part * panels_size(c) + i];
    return sum;
}

void conv_image_weights(struct conv_image *c, float *diff_weights, float *diff_bias, const float *diff_dst,
                        const float *src)
{
    c->diff_dst = diff_dst;
    c->src = src;
    (void)par_shares((size_t)c->desc.threads, c->desc.threads, c->desc.stop, sum_images, c);
    for (size_t k = 0; k < c->shape.outputs; k++) {
        if (diff_bias)
            diff_bias[k] = conv_image_total(c, conv_image_position(c, k, 0));
        for (size_t t = 0; t < c->taps; t++)
            diff_weights[k * c->taps + t] = conv_image_total(c, conv_image_position(c, k, 1 + t));
    }
}
