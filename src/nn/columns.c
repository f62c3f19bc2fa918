/* In NHWC a kernel row is one contiguous run of S * C source values unless it sticks out into the padding, so
 * building columns is R copies per output pixel. */
#include "nn/columns.h"

#include "par/par.h"
#include <string.h>

struct job {
    char *columns;
    const char *src;
    size_t size;
    const struct conv_desc *d;
};

/* One kernel row of one output pixel: source row h, from column `left` (may be negative) on. */
static void copy_kernel_row(char *out, const struct job *j, const char *image, ptrdiff_t h, ptrdiff_t left)
{
    const struct conv_desc *d = j->d;
    size_t pixel = d->src.channels * j->size;
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

static sotto_status one_image(void *arg, size_t n, int thread)
{
    (void)thread;
    const struct job *j = arg;
    const struct conv_desc *d = j->d;
    size_t row = d->kernel_width * d->src.channels * j->size;
    char *out = j->columns + n * d->dst.height * d->dst.width * d->kernel_height * row;
    const char *image = j->src + n * d->src.height * d->src.width * d->src.channels * j->size;
    for (size_t p = 0; p < d->dst.height; p++)
        for (size_t q = 0; q < d->dst.width; q++)
            for (size_t r = 0; r < d->kernel_height; r++, out += row)
                copy_kernel_row(out, j, image, (ptrdiff_t)(p * d->stride + r) - (ptrdiff_t)d->pad,
                                (ptrdiff_t)(q * d->stride) - (ptrdiff_t)d->pad);
    return SOTTO_OK;
}

void columns_make(void *columns, const void *src, size_t images, size_t size, const struct conv_desc *d)
{
    struct job j = {.columns = columns, .src = src, .size = size, .d = d};
    (void)par_chunks(images, d->threads, one_image, &j);
}
