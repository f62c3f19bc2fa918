#include "nn/conv/pixel_lists.h"

static void list_tap(struct pixel_lists *l, const struct conv_desc *d, size_t tap)
{
    size_t r = tap / d->kernel_width, s = tap % d->kernel_width, pixels = d->dst.height * d->dst.width,
           count = 0;
    struct pixel_pair *out = l->pairs + tap * l->length;
    for (size_t i = 0; i < l->length; i++) {
        size_t n = i / pixels, pixel = i % pixels, h = pixel / d->dst.width * d->stride + r - d->pad,
               w = pixel % d->dst.width * d->stride + s - d->pad;
        if (h >= d->src.height || w >= d->src.width) /* padding; a negative position wraps to a huge one */
            continue;
        out[count++] = (struct pixel_pair){
            .src = (uint32_t)(((n * d->src.height + h) * d->src.width + w) * d->src.channels),
            .dst = (uint32_t)(i * d->dst.channels)};
    }
    l->per_image[tap] = count / l->block;
}

static void pixel_lists_place(struct pixel_lists *l)
{
    l->pairs = arena_take(&l->memory, l->taps * l->length, sizeof *l->pairs);
    l->per_image = arena_take(&l->memory, l->taps, sizeof *l->per_image);
}

sotto_status pixel_lists_create(struct pixel_lists *out, const struct conv_desc *d, size_t pixels)
{
    size_t image = d->dst.height * d->dst.width;
    struct pixel_lists l = {.taps = d->kernel_height * d->kernel_width,
                            .block = image < pixels ? pixels / image : 1};
    l.length = l.block * image;
    pixel_lists_place(&l);
    sotto_status status = arena_reserve(&l.memory, "convolution");
    if (status != SOTTO_OK)
        return status;
    pixel_lists_place(&l);
    for (size_t tap = 0; tap < l.taps; tap++)
        list_tap(&l, d, tap);
    *out = l;
    return SOTTO_OK;
}

void pixel_lists_clear(struct pixel_lists *l)
{
    arena_clear(&l->memory);
}

int pixel_lists_fit(const struct conv_desc *d, size_t pixels)
{
    size_t src = d->src.height * d->src.width * d->src.channels,
           dst = d->dst.height * d->dst.width * d->dst.channels;
    return src + dst < UINT32_MAX / pixels;
}
