#include "nn/layer/example_product.h"

#include "nn/kernel/example_kernels.h"
#include "nn/kernel/kernels.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1024 }; /* values of a sum that stay in cache while the examples go by */
enum way { VECTOR, GHOST, STORED };

struct example_product {
    struct conv_desc desc;
    const struct example_kernels *kernels;
    const struct kernels *plain;
    enum way way;
    size_t views, rows;     /* rows of the batch in an example; output positions of an example */
    size_t taps, weights;   /* d, and d p */
    size_t image, padded;   /* floats of a source image, and of its padded copy */
    int copies;             /* positions are runs of padded copies */
    struct patches patches; /* all but the base */
    uint32_t *starts;       /* (rows) */
    float *images;          /* (threads, views * padded + slack) */
    float *gradients;       /* (examples, weights + bias) */
    /* of the running call */
    const struct example_norms *norms;
    const float *diff_dst, *src;
    float *diff_to_scale, *src_to_clear;
    const double *factor;
    float *sum;
    int add;
    size_t examples;
};

/* ---- planning ---- */

static size_t gradient_size(const struct example_product *e)
{
    return e->weights + (e->desc.bias ? e->desc.dst.channels : 0);
}

static enum way choose(const struct example_product *e)
{
    if (e->rows == 1)
        return VECTOR;
    return 2 * (double)e->rows * (double)e->rows <= (double)e->weights ? GHOST : STORED;
}

static void list_starts(struct example_product *e)
{
    const struct conv_desc *d = &e->desc;
    size_t width = e->copies ? d->src.width + 2 * d->pad : d->src.width,
           one = e->copies ? e->padded : e->image, positions = d->dst.height * d->dst.width;
    for (size_t i = 0; i < e->rows; i++) {
        size_t view = i / positions, p = i % positions / d->dst.width, q = i % positions % d->dst.width;
        e->starts[i] = (uint32_t)(view * one + (p * width + q) * d->stride * d->src.channels);
    }
    e->patches = (struct patches){.starts = e->starts,
                                  .count = e->rows,
                                  .runs = d->kernel_height,
                                  .width = d->kernel_width * d->src.channels,
                                  .skip = width * d->src.channels};
    if (d->kernel_width == width) { /* the runs follow each other */
        e->patches.width *= e->patches.runs;
        e->patches.runs = 1;
    }
}

sotto_status example_product_create(struct example_product **out, const struct conv_desc *d, size_t views)
{
    sotto_status status = SOTTO_OK;
    struct example_product *e = base_alloc(1, sizeof *e);
    if (!e)
        FAIL(SOTTO_ENOMEM, "gradients of single examples: out of memory");
    e->desc = *d;
    e->kernels = example_kernels_best();
    e->plain = kernels_best();
    e->views = views;
    e->rows = views * d->dst.height * d->dst.width;
    e->taps = d->kernel_height * d->kernel_width * d->src.channels;
    e->weights = e->taps * d->dst.channels;
    e->image = shape_count(d->src);
    e->padded = (d->src.height + 2 * d->pad) * (d->src.width + 2 * d->pad) * d->src.channels;
    e->way = choose(e);
    /* outer() reads behind the end of a run that fills no whole vector */
    e->copies = d->pad > 0 || (e->way == STORED && d->kernel_width * d->src.channels % EXAMPLE_SLACK != 0);
    REQUIRE(views <= UINT32_MAX / e->padded,
            "gradients of single examples: %zu views of %zu values do not fit in memory", views, e->padded);
    NEW(e->starts, e->rows);
    list_starts(e);
    *out = e;
    e = NULL;
done:
    example_product_free(e);
    return status;
}

void example_product_layout(struct example_product *e, struct arena *keep, struct arena *scratch)
{
    if (e->way == STORED)
        e->gradients = arena_take(keep, e->desc.batch / e->views * gradient_size(e), sizeof *e->gradients);
    if (e->way != VECTOR && e->copies)
        e->images = arena_take(scratch, (size_t)e->desc.threads * (e->views * e->padded + EXAMPLE_SLACK),
                               sizeof *e->images);
}

void example_product_free(struct example_product *e)
{
    if (!e)
        return;
    base_free(e->starts);
    base_free(e);
}

int example_product_stores(const struct example_product *e)
{
    return e->way == STORED;
}

/* ---- norms ---- */

/* The images of an example, padded. The border is written again each time: layers share the memory. */
static const float *padded_images(const struct example_product *e, const float *src, int thread)
{
    const struct nn_shape s = e->desc.src;
    size_t pad = e->desc.pad, line = s.width * s.channels, padded_line = (s.width + 2 * pad) * s.channels;
    float *copy = e->images + (size_t)thread * (e->views * e->padded + EXAMPLE_SLACK), *to = copy;
    if (pad == 0) {
        memcpy(copy, src, e->views * e->image * sizeof *copy);
        return copy;
    }
    for (size_t v = 0; v < e->views; v++) {
        memset(to, 0, pad * padded_line * sizeof *to);
        to += pad * padded_line;
        for (size_t h = 0; h < s.height; h++, src += line, to += padded_line) {
            memset(to, 0, pad * s.channels * sizeof *to);
            memcpy(to + pad * s.channels, src, line * sizeof *to);
            memset(to + pad * s.channels + line, 0, pad * s.channels * sizeof *to);
        }
        memset(to, 0, pad * padded_line * sizeof *to);
        to += pad * padded_line;
    }
    return copy;
}

/* Dot products of n terms err by at most (n / 4 + 16) 2^-24 of the product of the norms: lanes of at least
 * four floats, then a sum over at most 16 lanes. Both Gram matrices: the sum of the two. */
static double gram_error(const struct example_product *e)
{
    return ((double)(e->taps + e->desc.dst.channels) / 4 + 40) * 0x1p-24;
}

static sotto_status one_norm(void *arg, size_t i, int thread)
{
    const struct example_product *e = arg;
    size_t outputs = e->desc.dst.channels;
    const float *src = e->src + i * e->views * e->image, *diff = e->diff_dst + i * e->rows * outputs;
    struct patches a = e->patches;
    if (e->way == VECTOR) {
        double square =
            (e->kernels->squares(src, e->taps) + (e->desc.bias ? 1 : 0)) * e->kernels->squares(diff, outputs);
        e->norms->square[i] = square;
        e->norms->excess[i] = square * 0x1p-22; /* products of the sum are rounded to float */
        return SOTTO_OK;
    }
    a.base = e->copies ? padded_images(e, src, thread) : src;
    if (e->way == GHOST) {
        struct ghost g = e->kernels->ghost(diff, outputs, e->desc.bias, &a);
        e->norms->square[i] = g.square;
        e->norms->excess[i] = g.size * g.size * gram_error(e);
        return SOTTO_OK;
    }
    float *gradient = e->gradients + i * gradient_size(e);
    memset(gradient, 0, e->weights * sizeof *gradient);
    e->kernels->outer(gradient, diff, outputs, &a);
    if (e->desc.bias)
        e->plain->row_sums[NN_F32](gradient + e->weights, diff, e->rows, outputs);
    e->norms->square[i] = e->kernels->squares(gradient, gradient_size(e));
    e->norms->excess[i] = 0; /* what is summed is what was measured, to 2^-40 */
    return SOTTO_OK;
}

void example_product_norms(struct example_product *e, const struct example_norms *out, const float *diff_dst,
                           const float *src, size_t examples)
{
    e->norms = out;
    e->diff_dst = diff_dst;
    e->src = src;
    (void)par_shares(examples, e->desc.threads, one_norm, e);
}

/* ---- sums ---- */

static sotto_status sum_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct example_product *e = arg;
    size_t size = gradient_size(e), first = chunk * CHUNK,
           count = size - first < CHUNK ? size - first : CHUNK;
    double total[CHUNK];
    for (size_t k = 0; k < count; k++)
        total[k] = e->add ? (double)e->sum[first + k] : 0;
    for (size_t i = 0; i < e->examples; i++)
        if (e->factor[i] > 0)
            e->kernels->add_scaled(total, e->gradients + i * size + first, e->factor[i], count);
    for (size_t k = 0; k < count; k++)
        e->sum[first + k] = (float)total[k];
    return SOTTO_OK;
}

void example_product_sum(struct example_product *e, float *sum, int add, const double *factor,
                         size_t examples)
{
    e->sum = sum;
    e->add = add;
    e->factor = factor;
    e->examples = examples;
    (void)par_shares((gradient_size(e) + CHUNK - 1) / CHUNK, e->desc.threads, sum_chunk, e);
}

static sotto_status scale_example(void *arg, size_t i, int thread)
{
    (void)thread;
    const struct example_product *e = arg;
    size_t outputs = e->rows * e->desc.dst.channels, inputs = e->views * e->image;
    float factor = i < e->examples ? (float)e->factor[i] : 0;
    e->kernels->scale(e->diff_to_scale + i * outputs, factor, outputs);
    if (factor == 0)
        memset(e->src_to_clear + i * inputs, 0, inputs * sizeof(float));
    return SOTTO_OK;
}

void example_product_scale(struct example_product *e, float *diff_dst, float *src, const double *factor,
                           size_t examples)
{
    e->diff_to_scale = diff_dst;
    e->src_to_clear = src;
    e->factor = factor;
    e->examples = examples;
    (void)par_shares(e->desc.batch / e->views, e->desc.threads, scale_example, e);
}
