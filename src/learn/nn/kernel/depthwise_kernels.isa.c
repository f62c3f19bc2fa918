/* One vector of channels down a whole row at a time, with its nine weights (or nine sums) in registers: every
 * value of the image comes from the first two caches and is read once per tap. */
#include "nn/kernel/depthwise_kernels.h"

#include "base/cpu.h"
#include "nn/kernel/vector_math.h"

enum { FULL = 3 }; /* the kernel that has a loop of its own */

struct span {
    size_t at, n; /* first channel, lanes in use */
};

/* One pixel of the result: the taps of `row` and `column`. */
INLINE f32x16 meet(const void *src, const float *weight, const struct depthwise_lines *l,
                   const struct depthwise_reach *row, const struct depthwise_reach *column, struct span s,
                   int half)
{
    f32x16 sum = {0};
    for (size_t i = 0; i < row->count; i++)
        for (size_t j = 0; j < column->count; j++) {
            size_t tap = (size_t)((long)row->tap + (long)i * row->tap_step) * l->kernel +
                         (size_t)((long)column->tap + (long)j * column->tap_step);
            size_t pixel = (row->pixel + i) * l->source_width + column->pixel + j;
            sum += lanes_get(weight, tap * l->channels + s.at, s.n, 0) *
                   lanes_get(src, pixel * l->channels + s.at, s.n, half);
        }
    return sum;
}

/* The first column where all taps meet a pixel, and how many such columns follow; all have the same taps. */
INLINE size_t whole(size_t *first, const struct depthwise_lines *l)
{
    size_t x = 0, n = 0;
    while (x < l->width && l->columns[x].count != FULL)
        x++;
    *first = x;
    while (x + n < l->width && l->columns[x + n].count == FULL)
        n++;
    return n;
}

INLINE void gather_row(void *dst, const void *src, const float *weight, const struct depthwise_lines *l,
                       size_t y, struct span s, int half)
{
    const struct depthwise_reach *row = l->rows + y;
    size_t first = 0, count = l->kernel == FULL && row->count == FULL ? whole(&first, l) : 0;
    for (size_t x = 0; x < l->width; x++)
        if (x < first || x >= first + count)
            lanes_put(dst, (y * l->width + x) * l->channels + s.at,
                      meet(src, weight, l, row, l->columns + x, s, half), s.n, half);
    if (count == 0)
        return;
    f32x16 w[FULL * FULL];
    const struct depthwise_reach *column = l->columns + first;
#pragma GCC unroll 9
    for (int i = 0; i < FULL * FULL; i++) {
        size_t tap = (size_t)((long)row->tap + i / FULL * row->tap_step) * FULL +
                     (size_t)((long)column->tap + i % FULL * column->tap_step);
        w[i] = lanes_get(weight, tap * l->channels + s.at, s.n, 0);
    }
    for (size_t x = first; x < first + count; x++) {
        size_t corner = (row->pixel * l->source_width + l->columns[x].pixel) * l->channels + s.at;
        f32x16 sum = {0};
#pragma GCC unroll 9
        for (size_t i = 0; i < FULL * FULL; i++)
            sum += w[i] *
                   lanes_get(src, corner + (i / FULL * l->source_width + i % FULL) * l->channels, s.n, half);
        lanes_put(dst, (y * l->width + x) * l->channels + s.at, sum, s.n, half);
    }
}

INLINE void gather(void *dst, const void *src, const float *weight, const struct depthwise_lines *l, int half)
{
    for (size_t y = 0; y < l->height; y++) {
        size_t at = 0;
        for (; at + LANES <= l->channels; at += LANES)
            gather_row(dst, src, weight, l, y, (struct span){at, LANES}, half);
        if (at < l->channels)
            gather_row(dst, src, weight, l, y, (struct span){at, l->channels - at}, half);
    }
}

/* sum[tap] += diff of one pixel of the result times what the tap meets. */
INLINE void spread(f32x16 *sum, const void *src, f32x16 diff, const struct depthwise_lines *l,
                   const struct depthwise_reach *row, const struct depthwise_reach *column, struct span s,
                   int half)
{
    for (size_t i = 0; i < row->count; i++)
        for (size_t j = 0; j < column->count; j++) {
            size_t pixel = (row->pixel + i) * l->source_width + column->pixel + j;
            sum[(row->tap + i) * l->kernel + column->tap + j] +=
                diff * lanes_get(src, pixel * l->channels + s.at, s.n, half);
        }
}

INLINE void weights_row(f32x16 *sum, const void *src, const void *diff, const struct depthwise_lines *l,
                        size_t y, struct span s, int half)
{
    const struct depthwise_reach *row = l->rows + y;
    size_t first = 0, count = l->kernel == FULL && row->count == FULL ? whole(&first, l) : 0;
    for (size_t x = 0; x < l->width; x++)
        if (x < first || x >= first + count)
            spread(sum, src, lanes_get(diff, (y * l->width + x) * l->channels + s.at, s.n, half), l, row,
                   l->columns + x, s, half);
    f32x16 inner[FULL * FULL] = {{0}};
    for (size_t x = first; x < first + count; x++) {
        size_t corner = (row->pixel * l->source_width + l->columns[x].pixel) * l->channels + s.at;
        f32x16 g = lanes_get(diff, (y * l->width + x) * l->channels + s.at, s.n, half);
#pragma GCC unroll 9
        for (size_t i = 0; i < FULL * FULL; i++)
            inner[i] +=
                g * lanes_get(src, corner + (i / FULL * l->source_width + i % FULL) * l->channels, s.n, half);
    }
    if (count)
        for (size_t i = 0; i < FULL * FULL; i++)
            sum[i] += inner[i];
}

INLINE void weights_span(float *diff_weight, const void *src, const void *diff,
                         const struct depthwise_lines *l, struct span s, int half)
{
    f32x16 sum[DEPTHWISE_KERNEL_MAX * DEPTHWISE_KERNEL_MAX] = {{0}};
    for (size_t y = 0; y < l->height; y++)
        weights_row(sum, src, diff, l, y, s, half);
    for (size_t tap = 0; tap < l->kernel * l->kernel; tap++)
        lanes_put(diff_weight, tap * l->channels + s.at, sum[tap], s.n, 0);
}

INLINE void weights(float *diff_weight, const void *src, const void *diff, const struct depthwise_lines *l,
                    int half)
{
    size_t at = 0;
    for (; at + LANES <= l->channels; at += LANES)
        weights_span(diff_weight, src, diff, l, (struct span){at, LANES}, half);
    if (at < l->channels)
        weights_span(diff_weight, src, diff, l, (struct span){at, l->channels - at}, half);
}

#define EACH_TYPE(TYPE, HALF)                                                                                \
    static void gather_##TYPE(void *dst, const void *src, const float *weight,                               \
                              const struct depthwise_lines *lines)                                           \
    {                                                                                                        \
        gather(dst, src, weight, lines, HALF);                                                               \
    }                                                                                                        \
    static void weights_##TYPE(float *diff_weight, const void *src, const void *diff,                        \
                               const struct depthwise_lines *lines)                                          \
    {                                                                                                        \
        weights(diff_weight, src, diff, lines, HALF);                                                        \
    }
EACH_TYPE(f32, 0)
EACH_TYPE(bf16, 1)

extern const struct depthwise_kernels ISA_NAME(depthwise_kernels);
const struct depthwise_kernels ISA_NAME(depthwise_kernels) = {.gather = {gather_f32, gather_bf16},
                                                              .weights = {weights_f32, weights_bf16}};
