#include "nn/layer/depthwise_image.h"

#include "nn/kernel/depthwise_rows.h"
#include "nn/kernel/kernels.h"

#include <string.h>

enum { UNIT = 16 /* channels */ };

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

/* Row `row` of an image; NULL: outside. */
static void *row_of(const struct activation *t, void *data, size_t image, long row)
{
    if (row < 0 || row >= (long)t->shape.height)
        return NULL;
    return (char *)data + (image * t->shape.height + (size_t)row) * row_bytes(t);
}

/* So many rows, perhaps of the next image. */
static struct depthwise_fetch fetch_of(const struct layer_run *run, const struct activation *t,
                                       const void *data, size_t image, size_t row, size_t times)
{
    const size_t first = image * t->shape.height + row;
    if (first + 2 > run->batch * t->shape.height)
        return (struct depthwise_fetch){0};
    return (struct depthwise_fetch){(const char *)data + first * row_bytes(t), times};
}

/* What result row y meets. */
static struct depthwise_row meets(const struct layer_run *run, size_t image, size_t y)
{
    const struct activation *src = run->src;
    const long middle = (long)(y * run->spec->stride);
    return (struct depthwise_row){.src = {row_of(src, src->data, image, middle - 1),
                                          row_of(src, src->data, image, middle),
                                          row_of(src, src->data, image, middle + 1)},
                                  .width = run->dst->shape.width,
                                  .source_width = src->shape.width,
                                  .stride = run->spec->stride,
                                  .channels = src->shape.channels};
}

void depthwise_image_forward(const struct layer_run *run, const struct depthwise_rows *kernels,
                             const float *weight, size_t image)
{
    const struct activation *src = run->src, *dst = run->dst;
    const size_t stride = run->spec->stride;
    for (size_t y = 0; y < dst->shape.height; y++) {
        struct depthwise_row row = meets(run, image, y);
        row.fetch[0] = fetch_of(run, src, src->data, image, y * stride + 2, stride * stride);
        row.fetch[1] = fetch_of(run, dst, dst->data, image, y + 1, 1);
        kernels->forward[src->dtype](row_of(dst, dst->data, image, (long)y), &row, weight);
    }
}

/* Row y of the source's gradient, stride 1. */
static void back_row(const struct layer_run *run, const struct depthwise_rows *kernels, const float *flipped,
                     size_t image, size_t y)
{
    const struct activation *src = run->src, *dst = run->dst;
    const struct depthwise_row row = {.src = {row_of(dst, dst->diff, image, (long)y - 1),
                                              row_of(dst, dst->diff, image, (long)y),
                                              row_of(dst, dst->diff, image, (long)y + 1)},
                                      .width = src->shape.width,
                                      .source_width = dst->shape.width,
                                      .stride = 1,
                                      .channels = src->shape.channels,
                                      .fetch = {fetch_of(run, dst, dst->diff, image, y + 2, 1),
                                                fetch_of(run, src, src->diff, image, y + 1, 1)}};
    kernels->forward[src->dtype](row_of(src, src->diff, image, (long)y), &row, flipped);
}

/* Rows 2 y and 2 y + 1, stride 2: the first met the kernel's middle row, the second its last one and, in the next result,
 * its first. */
static void back_rows(const struct layer_run *run, const struct depthwise_rows *kernels, const float *weight,
                      size_t image, size_t y)
{
    const struct activation *src = run->src, *dst = run->dst;
    struct depthwise_back_row row = {.diff = {row_of(dst, dst->diff, image, (long)y)},
                                     .tap = {1},
                                     .width = src->shape.width,
                                     .diff_width = dst->shape.width,
                                     .channels = src->shape.channels,
                                     .fetch = {fetch_of(run, dst, dst->diff, image, y + 2, 1),
                                               fetch_of(run, src, src->diff, image, 2 * y + 2, 2)}};
    kernels->back[src->dtype](row_of(src, src->diff, image, 2 * (long)y), &row, weight);
    if (2 * y + 1 == src->shape.height)
        return;
    row.diff[1] = row_of(dst, dst->diff, image, (long)y + 1);
    row.tap[0] = 2, row.tap[1] = 0;
    row.fetch[0] = (struct depthwise_fetch){0};
    row.fetch[1] = fetch_of(run, src, src->diff, image, 2 * y + 3, 2);
    kernels->back[src->dtype](row_of(src, src->diff, image, 2 * (long)y + 1), &row, weight);
}

void depthwise_image_backward(const struct layer_run *run, const struct depthwise_rows *kernels,
                              const float *weight, const float *flipped, float *diff_weight, size_t image)
{
    const struct activation *src = run->src, *dst = run->dst;
    const size_t stride = run->spec->stride;
    memset(diff_weight, 0, DEPTHWISE_TAPS * src->shape.channels * sizeof *diff_weight);
    for (size_t y = 0; y < dst->shape.height; y++) {
        struct depthwise_row row = meets(run, image, y);
        row.fetch[0] = fetch_of(run, src, src->data, image, y * stride + 2, stride * stride);
        kernels->weights[src->dtype](diff_weight, &row, row_of(dst, dst->diff, image, (long)y));
        if (!run->need_diff_src)
            continue;
        if (stride == 1)
            back_row(run, kernels, flipped, image, y);
        else
            back_rows(run, kernels, weight, image, y);
    }
}
