#include "nn/layer/depthwise_image.h"

#include "nn/kernel/depthwise_rows.h"
#include "nn/kernel/kernels.h"
#include "nn/layer/norm_rows.h"

#include <string.h>

enum { UNIT = 16 /* channels */, RING = 4 /* rows that are kept: three, a power of two */, LINE = 64 };

bool depthwise_image_fits(const struct layer_run *run)
{
    const struct layer_spec *s = run->spec;
    return s->kernel == 3 && s->pad == 1 && (s->stride == 1 || s->stride == 2) &&
           run->src->shape.channels % UNIT == 0 && run->src->shape.width > 2;
}

static size_t row_bytes(const struct activation *t)
{
    return t->shape.width * t->shape.channels * dtype_size(t->dtype);
}

static size_t ring_bytes(const struct activation *t)
{
    return RING * ((row_bytes(t) + LINE - 1) / LINE * LINE);
}

size_t depthwise_image_bytes(const struct layer_run *run)
{
    return ring_bytes(run->src) + ring_bytes(run->dst);
}

/* ---- rows ---- */

/* Row `row` of an image; NULL: outside. */
static void *row_of(const struct activation *t, void *data, size_t image, long row)
{
    if (row < 0 || row >= (long)t->shape.height)
        return NULL;
    return (char *)data + (image * t->shape.height + (size_t)row) * row_bytes(t);
}

/* Rows of an image that are read in ascending order: in memory, or made by a norm when they are asked for. */
struct rows {
    const struct activation *t;
    void *data;
    const struct layer_run *norm; /* NULL: in memory */
    void (*make)(const struct layer_run *norm, void *to, size_t image, size_t row);
    char *ring;
    size_t image, made;
};

/* What the convolution reads. */
static struct rows depthwise_image_values(const struct depthwise_image *w)
{
    return (struct rows){.t = w->run->src,
                         .data = w->run->src->data,
                         .norm = w->run->norm_before,
                         .make = norm_rows_result,
                         .ring = w->room,
                         .image = w->image};
}

/* The gradient of what it makes. */
static struct rows depthwise_image_gradients(const struct depthwise_image *w)
{
    const struct layer_run *norm = w->run->norm_behind;
    return (struct rows){.t = w->run->dst,
                         .data = w->run->dst->diff,
                         .norm = norm && norm_leaves_gradient(norm) ? norm : NULL,
                         .make = norm_rows_gradient,
                         .ring = w->room + ring_bytes(w->run->src),
                         .image = w->image};
}

/* Not more than two behind the last that was asked for. */
static const void *read_row(struct rows *r, long row)
{
    if (!r->norm || row < 0 || row >= (long)r->t->shape.height)
        return row_of(r->t, r->data, r->image, row);
    const size_t bytes = ring_bytes(r->t) / RING;
    for (; r->made <= (size_t)row; r->made++)
        r->make(r->norm, r->ring + r->made % RING * bytes, r->image, r->made);
    return r->ring + (size_t)row % RING * bytes;
}

static void read_three(const void *out[3], struct rows *r, long middle)
{
    for (long i = 0; i < 3; i++)
        out[i] = read_row(r, middle - 1 + i);
}

/* ---- what is fetched ---- */

/* Row `row` and, with more than one time, those behind it; perhaps of the next image. */
static struct depthwise_fetch fetch_of(const struct depthwise_image *w, const struct activation *t,
                                       const void *data, size_t row, size_t times)
{
    const size_t first = w->image * t->shape.height + row;
    if (first + 2 > w->run->batch * t->shape.height)
        return (struct depthwise_fetch){0};
    return (struct depthwise_fetch){(const char *)data + first * row_bytes(t), times};
}

/* Of what depthwise_image_values() reads or is made from. */
static struct depthwise_fetch fetch_values(const struct depthwise_image *w, size_t row, size_t times)
{
    const struct layer_run *norm = w->run->norm_before;
    return fetch_of(w, w->run->src, norm ? norm->src->data : w->run->src->data, row, times);
}

/* Likewise of depthwise_image_gradients(): out[0], and out[1] where a norm makes them. */
static void fetch_gradients(struct depthwise_fetch out[2], const struct depthwise_image *w, size_t row)
{
    const struct layer_run *norm = w->run->norm_behind;
    out[0] = fetch_of(w, w->run->dst, w->run->dst->diff, row, 1);
    if (norm && norm_leaves_gradient(norm)) /* its result's gradient is where that of its source would be */
        out[1] = fetch_of(w, w->run->dst, norm->src->data, row, 1);
}

/* ---- passes ---- */

/* What result row y meets. */
static struct depthwise_row depthwise_image_meets(const struct depthwise_image *w, struct rows *x, size_t y)
{
    const struct layer_run *run = w->run;
    struct depthwise_row row = {.width = run->dst->shape.width,
                                .source_width = run->src->shape.width,
                                .stride = run->spec->stride,
                                .channels = run->src->shape.channels};
    read_three(row.src, x, (long)(y * row.stride));
    row.fetch[0] = fetch_values(w, y * row.stride + 2, row.stride * row.stride);
    return row;
}

void depthwise_image_forward(const struct depthwise_image *w)
{
    const struct layer_run *run = w->run;
    const struct activation *dst = run->dst;
    struct rows x = depthwise_image_values(w);
    for (size_t y = 0; y < dst->shape.height; y++) {
        struct depthwise_row row = depthwise_image_meets(w, &x, y);
        row.fetch[1] = fetch_of(w, dst, dst->data, y + 1, 1);
        w->kernels->forward[dst->dtype](row_of(dst, dst->data, w->image, (long)y), &row, w->weight);
        if (run->norm_behind && run->norm_behind->shared.moments)
            norm_rows_moments(run->norm_behind, w->image, y);
    }
}

/* Row y of the source's gradient, stride 1. */
static void back_row(const struct depthwise_image *w, struct rows *g, size_t y)
{
    const struct activation *src = w->run->src, *dst = w->run->dst;
    struct depthwise_row row = {.width = src->shape.width,
                                .source_width = dst->shape.width,
                                .stride = 1,
                                .channels = src->shape.channels};
    read_three(row.src, g, (long)y);
    fetch_gradients(row.fetch, w, y + 2);
    row.fetch[2] = fetch_of(w, src, src->diff, y + 1, 1);
    w->kernels->forward[src->dtype](row_of(src, src->diff, w->image, (long)y), &row, w->flipped);
}

/* Rows 2 y and 2 y + 1, stride 2: the first met the kernel's middle row, the second its last one and, in the next result,
 * its first. */
static void back_rows(const struct depthwise_image *w, struct rows *g, size_t y)
{
    const struct activation *src = w->run->src, *dst = w->run->dst;
    struct depthwise_back_row row = {.diff = {read_row(g, (long)y)},
                                     .tap = {1},
                                     .width = src->shape.width,
                                     .diff_width = dst->shape.width,
                                     .channels = src->shape.channels};
    fetch_gradients(row.fetch, w, y + 2);
    row.fetch[2] = fetch_of(w, src, src->diff, 2 * y + 2, 2);
    w->kernels->back[src->dtype](row_of(src, src->diff, w->image, 2 * (long)y), &row, w->weight);
    if (2 * y + 1 == src->shape.height)
        return;
    row.diff[1] = read_row(g, (long)y + 1);
    row.tap[0] = 2, row.tap[1] = 0;
    memset(row.fetch, 0, sizeof row.fetch);
    row.fetch[2] = fetch_of(w, src, src->diff, 2 * y + 3, 2);
    w->kernels->back[src->dtype](row_of(src, src->diff, w->image, 2 * (long)y + 1), &row, w->weight);
}

/* The rows of the source's gradient that result row y is in the middle of. */
static void back_rows_of(const struct depthwise_image *w, struct rows *g, size_t y)
{
    const size_t stride = w->run->spec->stride, height = w->run->src->shape.height;
    struct layer_run *norm = w->run->norm_before;
    if (stride == 1)
        back_row(w, g, y);
    else
        back_rows(w, g, y);
    for (size_t row = stride * y; norm && norm->shared.slopes && row < stride * (y + 1) && row < height;
         row++)
        norm_rows_slopes(norm, w->image, row);
}

void depthwise_image_backward(const struct depthwise_image *w, float *diff_weight)
{
    const struct layer_run *run = w->run;
    struct rows x = depthwise_image_values(w), g = depthwise_image_gradients(w);
    memset(diff_weight, 0, DEPTHWISE_TAPS * run->src->shape.channels * sizeof *diff_weight);
    for (size_t y = 0; y < run->dst->shape.height; y++) {
        const struct depthwise_row row = depthwise_image_meets(w, &x, y);
        w->kernels->weights[run->src->dtype](diff_weight, &row, read_row(&g, (long)y));
        if (run->need_diff_src)
            back_rows_of(w, &g, y);
    }
}
