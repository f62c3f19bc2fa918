#include "nn/layer/example_product.h"

#include "nn/conv/example_filter.h"
#include "nn/kernel/example_kernels.h"
#include "nn/kernel/kernels.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 1024, /* values of a sum that stay in cache while the examples go by */
    BLOCK = 8     /* examples of which a sum is made at a time */
};
enum way { VECTOR, GHOST, STORED };

struct example_product {
    struct conv_desc desc;
    const struct example_kernels *kernels;
    const struct kernels *plain;
    enum way way;
    size_t views, rows;              /* rows of the batch in an example; output positions of an example */
    size_t taps, weights;            /* d, and d p */
    size_t image, padded;            /* floats of a source image, and of its padded copy */
    struct example_filter **filters; /* (threads): stored, by minimal filtering; or NULL */
    int copies;                      /* positions are runs of padded copies */
    struct patches patches;          /* all but the base */
    uint32_t *starts;                /* (rows) */
    float *images;                   /* (threads, or BLOCK if that is more, views * padded + slack) */
    float *gradients;                /* stored: (examples, weights + bias) */
    /* of the running call */
    const struct example_norms *norms;
    const float *diff_dst, *src;
    const double *factor;
    double *sum;
    size_t examples;
};

/* ---- planning ---- */

static size_t gradient_size(const struct example_product *e)
{
    return e->weights + (e->desc.bias ? e->desc.dst.channels : 0);
}

static enum way example_product_choose(const struct example_product *e)
{
    if (e->rows == 1 && e->taps == e->image) /* the one patch is the whole source, without padding */
        return VECTOR;
    if (e->filters)
        return STORED;
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

static sotto_status open_filters(struct example_product *e)
{
    sotto_status status = SOTTO_OK;
    NEW(e->filters, (size_t)e->desc.threads);
    for (int i = 0; i < e->desc.threads; i++)
        TRY(example_filter_create(&e->filters[i], &e->desc, e->views));
done:
    return status;
}

sotto_status example_product_create(struct example_product **out, const struct conv_desc *d, size_t views,
                                    int filters)
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
    if (filters && example_filter_fits(d, views))
        TRY(open_filters(e));
    e->way = example_product_choose(e);
    /* outer() reads behind the end of a run that fills no whole vector */
    e->copies = !e->filters &&
                (d->pad > 0 || (e->way == STORED && d->kernel_width * d->src.channels % EXAMPLE_SLACK != 0));
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

/* Floats of an example's padded images. */
static size_t copy_size(const struct example_product *e)
{
    return e->views * e->padded + EXAMPLE_SLACK;
}

void example_product_layout(struct example_product *e, struct arena *keep, struct arena *scratch)
{
    const size_t copies = (size_t)e->desc.threads > BLOCK ? (size_t)e->desc.threads : BLOCK;
    if (e->way == STORED)
        e->gradients = arena_take(keep, e->desc.batch / e->views * gradient_size(e), sizeof *e->gradients);
    for (int i = 0; e->filters && i < e->desc.threads; i++)
        example_filter_layout(e->filters[i], scratch);
    if (e->way != VECTOR && e->copies)
        e->images = arena_take(scratch, copies * copy_size(e), sizeof *e->images);
}

void example_product_free(struct example_product *e)
{
    if (!e)
        return;
    for (int i = 0; e->filters && i < e->desc.threads; i++)
        example_filter_free(e->filters[i]);
    base_free(e->filters);
    base_free(e->starts);
    base_free(e);
}

bool example_product_stores(const struct example_product *e)
{
    return e->way == STORED;
}

/* ---- norms ---- */

/* The images of an example, padded. The border is written again each time: layers share the memory. */
static const float *padded_images(const struct example_product *e, const float *src, size_t place)
{
    const struct nn_shape s = e->desc.src;
    size_t pad = e->desc.pad, line = s.width * s.channels, padded_line = (s.width + 2 * pad) * s.channels;
    float *copy = e->images + place * copy_size(e), *to = copy;
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

/* Are squares of values and output gradients so small that scaled floats cannot overflow in a chain? */
static bool example_product_fits(double values, double gradients)
{
    return values <= 0x1p80 && gradients <= 0x1p80;
}

static void vector_norm(const struct example_product *e, size_t i, const float *src, const float *diff)
{
    double a = e->kernels->squares(src, e->taps), g = e->kernels->squares(diff, e->desc.dst.channels);
    e->norms->square[i] = example_product_fits(a, g) ? (a + (e->desc.bias ? 1 : 0)) * g : INFINITY;
    e->norms->excess[i] = 0;
}

/* The norm of G as a sum adds it, divided by its factor: each element is a chain of T multiply-adds of values with two
 * roundings; it errs by a small multiple of the sum of its terms' sizes. */
static void ghost_norm(const struct example_product *e, size_t i, const float *diff, const struct patches *a)
{
    struct ghost g = e->kernels->ghost(diff, e->desc.dst.channels, e->desc.bias, a);
    double of_sum = (1.1 * (double)e->rows + 8) * 0x1p-24 * g.size;
    e->norms->square[i] = example_product_fits(g.values, g.gradients) ? g.square : INFINITY;
    e->norms->excess[i] = g.size * g.size * gram_error(e) + 2.1 * g.size * of_sum + of_sum * of_sum;
}

/* The gradient itself, and its norm: what is summed is what was measured, so there is no excess. */
static void stored_norm(const struct example_product *e, size_t i, const float *diff, const float *src,
                        int thread)
{
    float *gradient = e->gradients + i * gradient_size(e);
    if (e->filters) {
        example_filter_run(e->filters[thread], gradient, diff, src);
    } else {
        struct patches a = e->patches;
        a.base = e->copies ? padded_images(e, src, (size_t)thread) : src;
        memset(gradient, 0, e->weights * sizeof *gradient);
        e->kernels->outer(gradient, diff, e->desc.dst.channels, &a);
    }
    if (e->desc.bias)
        e->plain->row_sums[NN_F32](gradient + e->weights, diff, e->rows, e->desc.dst.channels);
    e->norms->square[i] = e->kernels->squares(gradient, gradient_size(e));
    e->norms->excess[i] = 0;
}

static sotto_status one_norm(void *arg, size_t i, int thread)
{
    const struct example_product *e = arg;
    const float *src = e->src + i * e->views * e->image,
                *diff = e->diff_dst + i * e->rows * e->desc.dst.channels;
    if (e->way == VECTOR) {
        vector_norm(e, i, src, diff);
        return SOTTO_OK;
    }
    if (e->way == STORED) {
        stored_norm(e, i, diff, src, thread);
        return SOTTO_OK;
    }
    struct patches a = e->patches;
    a.base = e->copies ? padded_images(e, src, (size_t)thread) : src;
    ghost_norm(e, i, diff, &a);
    return SOTTO_OK;
}

void example_product_norms(struct example_product *e, const struct example_norms *out, const float *diff_dst,
                           const float *src, size_t examples)
{
    e->norms = out;
    e->diff_dst = diff_dst;
    e->src = src;
    (void)par_shares(examples, e->desc.threads, e->desc.stop, one_norm, e);
}

/* ---- sums ---- */

static sotto_status sum_stored(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct example_product *e = arg;
    size_t size = gradient_size(e), first = chunk * CHUNK,
           count = size - first < CHUNK ? size - first : CHUNK;
    for (size_t i = 0; i < e->examples; i++)
        if (e->factor[i] > 0)
            e->kernels->add_whole(e->sum + first, e->gradients + i * size + first, e->factor[i], count);
    return SOTTO_OK;
}

/* Output gradients times their factors. A source with factor 0 becomes 0, as it may hold what is not finite. */
static void scale_examples(const struct example_product *e, float *diff, float *src)
{
    const size_t outputs = e->rows * e->desc.dst.channels, inputs = e->views * e->image;
    for (size_t i = 0; i < e->examples; i++) {
        e->kernels->scale(diff + i * outputs, (float)e->factor[i], outputs);
        if (e->factor[i] == 0)
            memset(src + i * inputs, 0, inputs * sizeof *src);
    }
}

static void sum_ghosts(const struct example_product *e, const float *diff, const float *src)
{
    const size_t outputs = e->desc.dst.channels, inputs = e->views * e->image;
    for (size_t first = 0; first < e->examples && !par_stopped(e->desc.stop); first += BLOCK) {
        const size_t count = e->examples - first < BLOCK ? e->examples - first : BLOCK;
        const float *d = diff + first * e->rows * outputs;
        struct patches a = e->patches;
        uint32_t end[BLOCK];
        for (size_t i = 0; i < count; i++) {
            end[i] = (uint32_t)((i + 1) * e->rows);
            if (e->copies)
                padded_images(e, src + (first + i) * inputs, i);
        }
        a.base = e->copies ? e->images : src + first * inputs;
        e->kernels->add_patches(e->sum, d, outputs, &a, e->copies ? copy_size(e) : inputs, count);
        if (e->desc.bias)
            e->kernels->add_chains(e->sum + e->weights, d, outputs, NULL, 1, end, count);
    }
}

static void sum_vectors(const struct example_product *e, const float *diff, const float *src,
                        const struct nn_chains *chains)
{
    const size_t outputs = e->desc.dst.channels;
    e->kernels->add_chains(e->sum, diff, outputs, src, e->taps, chains->end, chains->count);
    if (e->desc.bias)
        e->kernels->add_chains(e->sum + e->weights, diff, outputs, NULL, 1, chains->end, chains->count);
}

void example_product_sum(struct example_product *e, double *sum, const double *factor, float *diff_dst,
                         float *src, size_t examples, const struct nn_chains *chains)
{
    e->sum = sum;
    e->factor = factor;
    e->examples = examples;
    if (e->way == STORED) {
        (void)par_shares((gradient_size(e) + CHUNK - 1) / CHUNK, e->desc.threads, e->desc.stop, sum_stored,
                         e);
        return;
    }
    scale_examples(e, diff_dst, src);
    if (e->way == GHOST)
        sum_ghosts(e, diff_dst, src);
    else
        sum_vectors(e, diff_dst, src, chains);
}
