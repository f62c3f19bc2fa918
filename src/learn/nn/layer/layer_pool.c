/* Pooling over windows of one channel: largest value, average, and the average over the whole image.
 *
 * max:      padding never counts; in backward the gradient goes to the first largest value of the window,
 *           found again (f32: whole pixels at a time).
 * average:  padding counts as zeros in a window of kernel^2 values (PyTorch's default).
 * global:   (C, H, W) to (C, 1, 1). */
#include "nn/layer/each_image.h"
#include "nn/layer/layer.h"

#include "nn/kernel/bf16.h"
#include "nn/kernel/kernels.h"
#include "par/par.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static float layer_pool_get(const struct activation *t, const void *data, size_t i)
{
    return t->dtype == NN_BF16 ? bf16_to_float(((const bf16 *)data)[i]) : ((const float *)data)[i];
}

static void layer_pool_put(const struct activation *t, void *data, size_t i, float x)
{
    if (t->dtype == NN_BF16)
        ((bf16 *)data)[i] = bf16_from_float(x);
    else
        ((float *)data)[i] = x;
}

static sotto_status window_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src)
{
    sotto_status status = SOTTO_OK;
    size_t height = src.height + 2 * spec->pad, width = src.width + 2 * spec->pad;
    REQUIRE(spec->kernel > 0 && spec->stride > 0, "%s: kernel and stride must be > 0", spec->path);
    REQUIRE(spec->pad <= spec->kernel / 2, "%s: padding %zu is more than half of the %zux%zu window",
            spec->path, spec->pad, spec->kernel, spec->kernel);
    REQUIRE(height >= spec->kernel && width >= spec->kernel,
            "%s: its source (%zux%zu) is smaller than the %zux%zu window", spec->path, src.height, src.width,
            spec->kernel, spec->kernel);
    *dst = (struct nn_shape){.channels = src.channels,
                             .height = (height - spec->kernel) / spec->stride + 1,
                             .width = (width - spec->kernel) / spec->stride + 1};
done:
    return status;
}

static sotto_status global_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src)
{
    (void)spec;
    *dst = (struct nn_shape){.channels = src.channels, .height = 1, .width = 1};
    return SOTTO_OK;
}

/** The part of the window of output (p, q) that lies inside the image; global: all of it. */
struct window {
    size_t top, bottom, left, right;
    float area;
};
static struct window window_of(const struct layer_run *run, size_t p, size_t q)
{
    const struct layer_spec *s = run->spec;
    struct nn_shape src = run->src->shape;
    if (s->kernel == 0)
        return (struct window){0, src.height, 0, src.width, (float)(src.height * src.width)};
    size_t top = p * s->stride, left = q * s->stride, bottom = top + s->kernel, right = left + s->kernel;
    struct window w = {.area = (float)(s->kernel * s->kernel)};
    w.top = top > s->pad ? top - s->pad : 0;
    w.left = left > s->pad ? left - s->pad : 0;
    w.bottom = bottom - s->pad < src.height ? bottom - s->pad : src.height;
    w.right = right - s->pad < src.width ? right - s->pad : src.width;
    return w;
}

/** Index of the value at (image, h, w, channel 0). */
static size_t index_of(struct nn_shape s, size_t image, size_t h, size_t w)
{
    return ((image * s.height + h) * s.width + w) * s.channels;
}

/** Position of the window's first largest value. A NaN counts as the largest, so that it is not lost. */
static size_t layer_pool_largest(const struct layer_run *run, const struct window *w, size_t image, size_t c)
{
    struct nn_shape s = run->src->shape;
    size_t best = index_of(s, image, w->top, w->left) + c;
    float most = -INFINITY;
    for (size_t h = w->top; h < w->bottom; h++)
        for (size_t x = w->left; x < w->right; x++) {
            size_t i = index_of(s, image, h, x) + c;
            float value = layer_pool_get(run->src, run->src->data, i);
            if (value > most || isnan(value)) {
                most = value;
                best = i;
            }
        }
    return best;
}

static float sum_of(const struct layer_run *run, const struct window *w, size_t image, size_t c)
{
    float sum = 0;
    for (size_t h = w->top; h < w->bottom; h++)
        for (size_t x = w->left; x < w->right; x++)
            sum += layer_pool_get(run->src, run->src->data, index_of(run->src->shape, image, h, x) + c);
    return sum;
}

static bool takes_largest(const struct layer_run *run)
{
    return run->spec->layer == &layer_max_pool;
}

static sotto_status forward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct nn_shape d = run->dst->shape;
    for (size_t p = 0; p < d.height; p++)
        for (size_t q = 0; q < d.width; q++) {
            struct window w = window_of(run, p, q);
            for (size_t c = 0; c < d.channels; c++)
                layer_pool_put(run->dst, run->dst->data, index_of(d, image, p, q) + c,
                               takes_largest(run) ? layer_pool_get(run->src, run->src->data,
                                                                   layer_pool_largest(run, &w, image, c))
                                                  : sum_of(run, &w, image, c) / w.area);
        }
    return SOTTO_OK;
}

/* Windows may overlap, so gradients add up; in bf16 each addition rounds once. */
static void add_to(struct layer_run *run, size_t i, float x)
{
    layer_pool_put(run->src, run->src->diff, i, layer_pool_get(run->src, run->src->diff, i) + x);
}

static sotto_status backward_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct nn_shape d = run->dst->shape, s = run->src->shape;
    for (size_t i = image * shape_count(s); i < (image + 1) * shape_count(s); i++)
        layer_pool_put(run->src, run->src->diff, i, 0);
    for (size_t p = 0; p < d.height; p++)
        for (size_t q = 0; q < d.width; q++) {
            struct window w = window_of(run, p, q);
            for (size_t c = 0; c < d.channels; c++) {
                float diff = layer_pool_get(run->dst, run->dst->diff, index_of(d, image, p, q) + c);
                if (takes_largest(run)) {
                    add_to(run, layer_pool_largest(run, &w, image, c), diff);
                    continue;
                }
                for (size_t h = w.top; h < w.bottom; h++)
                    for (size_t x = w.left; x < w.right; x++)
                        add_to(run, index_of(s, image, h, x) + c, diff / w.area);
            }
        }
    return SOTTO_OK;
}

/* ---- largest value, f32: whole pixels at a time ---- */

enum { BLOCK = 64 }; /* channels at a time: their largest values stay in cache */

static bool by_pixels(const struct layer_run *run)
{
    return takes_largest(run) && run->src->dtype == NN_F32 && run->dst->dtype == NN_F32;
}

/* Channels c .. c + n - 1 of a window. */
static void window_most(float *most, const struct layer_run *run, const float *image, const struct window *w,
                        size_t c, size_t n)
{
    struct nn_shape s = run->src->shape;
    memcpy(most, image + index_of(s, 0, w->top, w->left) + c, n * sizeof *most);
    for (size_t h = w->top; h < w->bottom; h++)
        for (size_t x = w->left; x < w->right; x++)
            run->kernels->most(most, image + index_of(s, 0, h, x) + c, n);
}

static sotto_status forward_pixels(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct nn_shape s = run->src->shape, d = run->dst->shape;
    const float *src = (const float *)run->src->data + image * shape_count(s);
    float *dst = (float *)run->dst->data + image * shape_count(d);
    for (size_t p = 0; p < d.height; p++)
        for (size_t q = 0; q < d.width; q++, dst += d.channels) {
            struct window w = window_of(run, p, q);
            window_most(dst, run, src, &w, 0, d.channels);
        }
    return SOTTO_OK;
}

/* Windows that overlap meet a pixel twice: its gradients add up. */
static void route_window(struct layer_run *run, const float *src, float *diff, const float *dst_diff,
                         const struct window *w, bool overlap)
{
    struct nn_shape s = run->src->shape;
    float most[BLOCK], left[BLOCK], routed[BLOCK];
    for (size_t c = 0; c < s.channels; c += BLOCK) {
        size_t n = s.channels - c < BLOCK ? s.channels - c : BLOCK;
        window_most(most, run, src, w, c, n);
        memcpy(left, dst_diff + c, n * sizeof *left);
        for (size_t h = w->top; h < w->bottom; h++)
            for (size_t x = w->left; x < w->right; x++) {
                size_t at = index_of(s, 0, h, x) + c;
                run->kernels->route(overlap ? routed : diff + at, left, src + at, most, n);
                if (overlap)
                    run->kernels->add[NN_F32](diff + at, routed, n);
            }
    }
}

static sotto_status backward_pixels(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct nn_shape s = run->src->shape, d = run->dst->shape;
    const float *src = (const float *)run->src->data + image * shape_count(s),
                *dst_diff = (const float *)run->dst->diff + image * shape_count(d);
    float *diff = (float *)run->src->diff + image * shape_count(s);
    size_t kernel = run->spec->kernel, stride = run->spec->stride;
    bool overlap = kernel > stride;
    if (kernel != stride || run->spec->pad || d.height * kernel != s.height || d.width * kernel != s.width)
        memset(diff, 0, shape_count(s) * sizeof *diff); /* pixels between and beyond the windows */
    for (size_t p = 0; p < d.height; p++)
        for (size_t q = 0; q < d.width; q++, dst_diff += d.channels) {
            struct window w = window_of(run, p, q);
            route_window(run, src, diff, dst_diff, &w, overlap);
        }
    return SOTTO_OK;
}

/* ---- global: all pixels weigh the same, so whole pixels are summed and copied ---- */

enum { WHOLE_CHANNELS = 2048 };

static sotto_status forward_whole_image(void *arg, size_t image, int thread)
{
    struct layer_run *run = arg;
    struct nn_shape s = run->src->shape;
    float sums[WHOLE_CHANNELS], area = (float)(s.height * s.width);
    if (s.channels > WHOLE_CHANNELS)
        return forward_image(arg, image, thread);
    run->kernels->row_sums[run->src->dtype](
        sums, (const char *)run->src->data + image * shape_count(s) * dtype_size(run->src->dtype),
        s.height * s.width, s.channels);
    for (size_t c = 0; c < s.channels; c++)
        layer_pool_put(run->dst, run->dst->data, image * s.channels + c, sums[c] / area);
    return SOTTO_OK;
}

static sotto_status backward_whole_image(void *arg, size_t image, int thread)
{
    (void)thread;
    struct layer_run *run = arg;
    struct nn_shape s = run->src->shape;
    size_t area = s.height * s.width, pixel = s.channels * dtype_size(run->src->dtype);
    char *diff = (char *)run->src->diff + image * area * pixel;
    for (size_t c = 0; c < s.channels; c++)
        layer_pool_put(run->src, diff, c,
                       layer_pool_get(run->dst, run->dst->diff, image * s.channels + c) / (float)area);
    for (size_t i = 1; i < area; i++)
        memcpy(diff + i * pixel, diff, pixel);
    return SOTTO_OK;
}

/* ---- rows ---- */

static void layer_pool_forward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    layer_each_image(by_pixels(run) ? forward_pixels : forward_image, run);
}

static void layer_pool_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    if (run->need_diff_src)
        layer_each_image(by_pixels(run) ? backward_pixels : backward_image, run);
}

static void forward_global(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    layer_each_image(forward_whole_image, run);
}

static void backward_global(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    if (run->need_diff_src)
        layer_each_image(backward_whole_image, run);
}

const struct layer layer_max_pool = {.name = "max pool",
                                     .shape = window_shape,
                                     .forward = layer_pool_forward,
                                     .backward = layer_pool_backward};
const struct layer layer_average_pool = {.name = "average pool",
                                         .shape = window_shape,
                                         .forward = layer_pool_forward,
                                         .backward = layer_pool_backward};
const struct layer layer_global_pool = {.name = "global average pool",
                                        .shape = global_shape,
                                        .forward = forward_global,
                                        .backward = backward_global};
