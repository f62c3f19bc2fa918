/* Both ways are parallel over images, and every result value is written by one thread.
 *
 * In NHWC a kernel row is one contiguous run of S * C source values unless it sticks out into the padding, so
 * building columns is R copies per output pixel. */
#include "nn/conv/columns.h"

#include "par/par.h"

#include <string.h>

/* One kernel row of one output pixel: source row h, from column `left` (may be negative) on. */
static void copy_kernel_row(char *out, const char *image, ptrdiff_t h, ptrdiff_t left, size_t size,
                            const struct conv_desc *d)
{
    size_t pixel = d->src.channels * size;
    ptrdiff_t width = (ptrdiff_t)d->src.width, s_count = (ptrdiff_t)d->kernel_width;
    if (h < 0 || h >= (ptrdiff_t)d->src.height) {
        memset(out, 0, d->kernel_width * pixel);
        return;
    }
    ptrdiff_t first = left < 0 ? -left : 0, end = left + s_count > width ? width - left : s_count;
    first = first < end ? first : end;
    if (first > 0)
        memset(out, 0, (size_t)first * pixel);
    memcpy(out + (size_t)first * pixel, image + ((size_t)h * d->src.width + (size_t)(left + first)) * pixel,
           (size_t)(end - first) * pixel);
    if (end < s_count)
        memset(out + (size_t)end * pixel, 0, (size_t)(s_count - end) * pixel);
}

static void columns_row(char *row, const char *image, size_t p, size_t q, size_t size,
                        const struct conv_desc *d)
{
    size_t run = d->kernel_width * d->src.channels * size;
    for (size_t r = 0; r < d->kernel_height; r++)
        copy_kernel_row(row + r * run, image, (ptrdiff_t)(p * d->stride + r) - (ptrdiff_t)d->pad,
                        (ptrdiff_t)(q * d->stride) - (ptrdiff_t)d->pad, size, d);
}

struct job {
    char *columns;
    const char *src;
    size_t size;
    const struct conv_desc *d;
};

static sotto_status one_image(void *arg, size_t n, int thread)
{
    (void)thread;
    const struct job *j = arg;
    const struct conv_desc *d = j->d;
    size_t row = d->kernel_height * d->kernel_width * d->src.channels * j->size;
    char *out = j->columns + n * d->dst.height * d->dst.width * row;
    const char *image = j->src + n * d->src.height * d->src.width * d->src.channels * j->size;
    for (size_t p = 0; p < d->dst.height; p++)
        for (size_t q = 0; q < d->dst.width; q++, out += row)
            columns_row(out, image, p, q, j->size, d);
    return SOTTO_OK;
}

void columns_make(void *columns, const void *src, size_t images, size_t size, const struct conv_desc *d)
{
    struct job j = {.columns = columns, .src = src, .size = size, .d = d};
    (void)par_shares(images, d->threads, d->stop, one_image, &j);
}

/* ---- back ---- */

enum { RUN = 256 }; /* channels summed at a time */

struct back {
    char *diff_src;
    const char *src;
    const float *columns;
    const struct kernels *k;
    const struct conv_desc *d;
};

/* Sums the entries of source pixel (h, w), channels [c, c + count). Tap r reaches h from output p where
 * p * stride + r - pad = h. */
static void sum_pixel(float *sum, const struct back *b, const float *image, size_t h, size_t w, size_t c,
                      size_t count)
{
    const struct conv_desc *d = b->d;
    memset(sum, 0, count * sizeof *sum);
    for (size_t r = 0; r < d->kernel_height; r++) {
        size_t top = h + d->pad - r, p = top / d->stride; /* wraps to a huge p when negative */
        if (top % d->stride || p >= d->dst.height || h + d->pad < r)
            continue;
        for (size_t s = 0; s < d->kernel_width; s++) {
            size_t left = w + d->pad - s, q = left / d->stride;
            if (left % d->stride || q >= d->dst.width || w + d->pad < s)
                continue;
            size_t row = p * d->dst.width + q, tap = r * d->kernel_width + s;
            b->k->add[NN_F32](
                sum, image + (row * d->kernel_height * d->kernel_width + tap) * d->src.channels + c, count);
        }
    }
}

static sotto_status sum_image(void *arg, size_t n, int thread)
{
    (void)thread;
    const struct back *b = arg;
    const struct conv_desc *d = b->d;
    size_t channels = d->src.channels, size = dtype_size(d->src_dtype),
           taps = d->kernel_height * d->kernel_width * channels;
    const float *image = b->columns + n * d->dst.height * d->dst.width * taps;
    for (size_t pixel = 0; pixel < d->src.height * d->src.width; pixel++)
        for (size_t c = 0; c < channels; c += RUN) {
            float sum[RUN];
            size_t count = channels - c < RUN ? channels - c : RUN,
                   at = ((n * d->src.height * d->src.width + pixel) * channels + c) * size;
            sum_pixel(sum, b, image, pixel / d->src.width, pixel % d->src.width, c, count);
            if (d->src_dtype == NN_BF16)
                b->k->to_bf16((bf16 *)(void *)(b->diff_src + at), sum, count);
            else
                memcpy(b->diff_src + at, sum, count * sizeof *sum);
            if (b->src)
                b->k->mask[d->src_dtype](b->diff_src + at, b->src + at, count);
        }
    return SOTTO_OK;
}

void columns_sum(void *diff_src, const float *columns, size_t images, const void *src,
                 const struct kernels *k, const struct conv_desc *d)
{
    struct back b = {.diff_src = diff_src, .src = src, .columns = columns, .k = k, .d = d};
    (void)par_shares(images, d->threads, d->stop, sum_image, &b);
}
