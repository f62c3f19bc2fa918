/* One vector of channels along a row at a time, with its nine weights (or nine sums) in registers: nine products for
 * each result, all from the first two caches. Meanwhile the lines that the next row reads come in, in order.
 *
 * A row outside of the image is met with weights of 0 in place of another; a column outside is left out. */
#include "nn/kernel/depthwise_rows.h"

#include "base/cpu.h"
#include "nn/kernel/vector_math.h"

#include <stdbool.h>

enum { SIDE = 3, TAPS = DEPTHWISE_TAPS, WIDTH = VECTOR_BYTES / sizeof(float) };

/* The share of vector `i` in what is fetched. */
INLINE void fetch(const struct depthwise_fetch from[DEPTHWISE_FETCHES], size_t i, int half)
{
    const size_t bytes = WIDTH * (half ? 2 : 4);
#pragma GCC unroll 3
    for (size_t f = 0; f < DEPTHWISE_FETCHES; f++)
        for (size_t k = 0; k < from[f].times; k++)
            __builtin_prefetch((const char *)from[f].from + (i * from[f].times + k) * bytes, 0, 2);
}

/* Taps first to end - 1 of each row, added in the order of the rows and, within them, of the columns. */
INLINE vf32 meet(const void *const src[SIDE], const vf32 w[TAPS], size_t at, size_t channels, size_t first,
                 size_t end, int half)
{
    vf32 sum = {0};
#pragma GCC unroll 3
    for (size_t i = 0; i < SIDE; i++)
#pragma GCC unroll 3
        for (size_t j = first; j < end; j++)
            sum += w[i * SIDE + j] * wide_get(src[i], at + (j - first) * channels, WIDTH, half);
    return sum;
}

/* Does the last result's right column lie outside? */
INLINE bool ends_outside(const struct depthwise_row *r)
{
    return (r->width - 1) * r->stride + 1 >= r->source_width;
}

/* Rows that lie outside become that at the middle. */
INLINE void inside(const void *out[SIDE], const struct depthwise_row *r)
{
    for (size_t i = 0; i < SIDE; i++)
        out[i] = r->src[i] ? r->src[i] : r->src[1];
}

INLINE void forward_span(void *dst, const struct depthwise_row *r, const float *weight, size_t at,
                         size_t stride, int half)
{
    const size_t channels = r->channels, first = at / WIDTH * r->width,
                 end = r->width - (ends_outside(r) ? 1 : 0);
    const void *src[SIDE];
    vf32 w[TAPS];
    inside(src, r);
#pragma GCC unroll 9
    for (size_t i = 0; i < TAPS; i++)
        w[i] = r->src[i / SIDE] ? wide_get(weight, i * channels + at, WIDTH, 0) : (vf32){0};
    wide_put(dst, at, meet(src, w, at, channels, 1, SIDE, half), WIDTH, half);
    for (size_t x = 1; x < end; x++) {
        fetch(r->fetch, first + x, half);
        wide_put(dst, x * channels + at,
                 meet(src, w, (x * stride - 1) * channels + at, channels, 0, SIDE, half), WIDTH, half);
    }
    if (end < r->width)
        wide_put(dst, end * channels + at,
                 meet(src, w, (end * stride - 1) * channels + at, channels, 0, SIDE - 1, half), WIDTH, half);
}

/* Pixels 2 q and 2 q + 1 of the source met results q, and q and q + 1. */
INLINE void back_pair(void *dst, const void *const diff[2], const vf32 w[2 * SIDE], size_t q, size_t at,
                      size_t channels, bool odd, bool next, int half)
{
    const size_t here = q * channels + at;
    vf32 even = {0}, sum = {0};
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        vf32 g = wide_get(diff[i], here, WIDTH, half);
        even += w[i * SIDE + 1] * g;
        sum += w[i * SIDE + 2] * g;
        if (next)
            sum += w[i * SIDE] * wide_get(diff[i], here + channels, WIDTH, half);
    }
    wide_put(dst, 2 * q * channels + at, even, WIDTH, half);
    if (odd)
        wide_put(dst, (2 * q + 1) * channels + at, sum, WIDTH, half);
}

INLINE void back_span(void *dst, const struct depthwise_back_row *r, const float *weight, size_t at, int half)
{
    const size_t channels = r->channels, first = at / WIDTH * r->diff_width, last = r->diff_width - 1;
    const void *diff[2] = {r->diff[0], r->diff[1] ? r->diff[1] : r->diff[0]};
    vf32 w[2 * SIDE];
#pragma GCC unroll 6
    for (size_t i = 0; i < 2 * SIDE; i++)
        w[i] = r->diff[i / SIDE]
                   ? wide_get(weight, (r->tap[i / SIDE] * SIDE + i % SIDE) * channels + at, WIDTH, 0)
                   : (vf32){0};
    for (size_t q = 0; q < last; q++) {
        fetch(r->fetch, first + q, half);
        back_pair(dst, diff, w, q, at, channels, true, true, half);
    }
    back_pair(dst, diff, w, last, at, channels, 2 * last + 1 < r->width, false, half);
}

/* sum += diff of result x times what taps first to end - 1 of each row meet. */
INLINE void spread(vf32 sum[TAPS], const void *const src[SIDE], vf32 diff, size_t at, size_t channels,
                   size_t first, size_t end, int half)
{
#pragma GCC unroll 3
    for (size_t i = 0; i < SIDE; i++)
#pragma GCC unroll 3
        for (size_t j = first; j < end; j++)
            sum[i * SIDE + j] += diff * wide_get(src[i], at + (j - first) * channels, WIDTH, half);
}

INLINE void load_sums(vf32 sum[TAPS], const float *from, size_t at, size_t channels)
{
#pragma GCC unroll 9
    for (size_t i = 0; i < TAPS; i++)
        sum[i] = wide_get(from, i * channels + at, WIDTH, 0);
}

INLINE void store_sums(float *to, const vf32 sum[TAPS], const struct depthwise_row *r, size_t at)
{
#pragma GCC unroll 9
    for (size_t i = 0; i < TAPS; i++)
        if (r->src[i / SIDE])
            wide_put(to, i * r->channels + at, sum[i], WIDTH, 0);
}

INLINE void spread_inner(vf32 sum[TAPS], const void *const src[SIDE], const struct depthwise_row *r,
                         const void *diff, size_t at, size_t end, size_t stride, int half)
{
    for (size_t x = 1; x < end; x++) {
        fetch(r->fetch, at / WIDTH * r->width + x, half);
        spread(sum, src, wide_get(diff, x * r->channels + at, WIDTH, half),
               (x * stride - 1) * r->channels + at, r->channels, 0, SIDE, half);
    }
}

/* Where all nine taps meet a pixel they have sums of their own, as in depthwise_kernels.isa.c; rows at the border
 * have not. */
INLINE void weights_span(float *to, const struct depthwise_row *r, const void *diff, size_t at, size_t stride,
                         int half)
{
    const size_t channels = r->channels, end = r->width - (ends_outside(r) ? 1 : 0);
    const bool whole = r->src[0] && r->src[2];
    const void *src[SIDE];
    vf32 sum[TAPS], inner[TAPS] = {{0}};
    inside(src, r);
    load_sums(sum, to, at, channels);
    spread(sum, src, wide_get(diff, at, WIDTH, half), at, channels, 1, SIDE, half);
    if (!whole)
        spread_inner(sum, src, r, diff, at, end, stride, half);
    if (end < r->width)
        spread(sum, src, wide_get(diff, end * channels + at, WIDTH, half), (end * stride - 1) * channels + at,
               channels, 0, SIDE - 1, half);
    store_sums(to, sum, r, at);
    if (!whole)
        return;
    spread_inner(inner, src, r, diff, at, end, stride, half);
    load_sums(sum, to, at, channels);
    for (size_t i = 0; i < TAPS; i++)
        sum[i] += inner[i];
    store_sums(to, sum, r, at);
}

#define EACH_TYPE(TYPE, HALF)                                                                                \
    static void forward_##TYPE(void *dst, const struct depthwise_row *row, const float *weight)              \
    {                                                                                                        \
        for (size_t at = 0; at < row->channels; at += WIDTH)                                                 \
            if (row->stride == 1)                                                                            \
                forward_span(dst, row, weight, at, 1, HALF);                                                 \
            else                                                                                             \
                forward_span(dst, row, weight, at, 2, HALF);                                                 \
    }                                                                                                        \
    static void back_##TYPE(void *dst, const struct depthwise_back_row *row, const float *weight)            \
    {                                                                                                        \
        for (size_t at = 0; at < row->channels; at += WIDTH)                                                 \
            back_span(dst, row, weight, at, HALF);                                                           \
    }                                                                                                        \
    static void weights_##TYPE(float *sum, const struct depthwise_row *row, const void *diff)                \
    {                                                                                                        \
        for (size_t at = 0; at < row->channels; at += WIDTH)                                                 \
            if (row->stride == 1)                                                                            \
                weights_span(sum, row, diff, at, 1, HALF);                                                   \
            else                                                                                             \
                weights_span(sum, row, diff, at, 2, HALF);                                                   \
    }
EACH_TYPE(f32, 0)
EACH_TYPE(bf16, 1)

extern const struct depthwise_rows ISA_NAME(depthwise_rows);
const struct depthwise_rows ISA_NAME(depthwise_rows) = {.forward = {forward_f32, forward_bf16},
                                                        .back = {back_f32, back_bf16},
                                                        .weights = {weights_f32, weights_bf16}};
