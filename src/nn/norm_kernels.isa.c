/* Sixteen channels at a time down all rows, so that the sums stay in registers; four rows at once hide the
 * latency of the additions. Every pass is bound by memory; chunks are small enough for the second pass to
 * come from cache. */
#include "nn/norm_kernels.h"

#include "base/cpu.h"
#include "nn/vector_math.h"

enum { UNROLL = 4 };

/* Runs BODY for every block of channels with `at` = first channel and `n` = lanes in use, a constant for
 * whole blocks. */
#define EACH_BLOCK(body, ...)                                                                                \
    do {                                                                                                     \
        size_t at = 0;                                                                                       \
        for (; at + LANES <= channels; at += LANES)                                                          \
            body(__VA_ARGS__, at, LANES);                                                                    \
        if (at < channels)                                                                                   \
            body(__VA_ARGS__, at, channels - at);                                                            \
    } while (0)

LANE_INLINE void sums_block(float *sum, const void *x, size_t rows, size_t channels, int half, size_t at,
                            size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t r = 0;
    for (; r + UNROLL <= rows; r += UNROLL)
        for (size_t u = 0; u < UNROLL; u++)
            total[u] += lanes_get(x, (r + u) * channels + at, n, half);
    for (; r < rows; r++)
        total[0] += lanes_get(x, r * channels + at, n, half);
    lanes_put(sum, at, (total[0] + total[1]) + (total[2] + total[3]), n, 0);
}

LANE_INLINE void squares_block(float *square, const void *x, const float *center, size_t rows,
                               size_t channels, int half, size_t at, size_t n)
{
    lanes total[UNROLL] = {{0}}, middle = lanes_get(center, at, n, 0);
    size_t r = 0;
    for (; r + UNROLL <= rows; r += UNROLL)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes d = lanes_get(x, (r + u) * channels + at, n, half) - middle;
            total[u] += d * d;
        }
    for (; r < rows; r++) {
        lanes d = lanes_get(x, r * channels + at, n, half) - middle;
        total[0] += d * d;
    }
    lanes_put(square, at, (total[0] + total[1]) + (total[2] + total[3]), n, 0);
}

LANE_INLINE void apply_block(void *y, const void *x, const float *scale, const float *shift, int relu,
                             size_t rows, size_t channels, int half, size_t at, size_t n)
{
    const lanes zero = {0}, s = lanes_get(scale, at, n, 0), t = lanes_get(shift, at, n, 0);
    for (size_t r = 0; r < rows; r++) {
        lanes v = lanes_get(x, r * channels + at, n, half) * s + t;
        if (relu)
            v = lanes_select(v > zero, v, zero);
        lanes_put(y, r * channels + at, v, n, half);
    }
}

/* dy, or 0 where the ReLU after the norm was shut. */
LANE_INLINE lanes gated(lanes dy, lanes x, lanes scale, lanes shift, int gate)
{
    const lanes zero = {0};
    return gate ? lanes_select(x * scale + shift > zero, dy, zero) : dy;
}

LANE_INLINE void back_sums_block(float *sum, float *product, const void *dy, const void *x,
                                 const float *center, const float *scale, const float *shift, int gate,
                                 size_t rows, size_t channels, int half, size_t at, size_t n)
{
    const lanes s = lanes_get(scale, at, n, 0), t = lanes_get(shift, at, n, 0);
    lanes total[2] = {{0}}, along[2] = {{0}}, middle = lanes_get(center, at, n, 0);
    size_t r = 0;
    for (; r + 2 <= rows; r += 2)
        for (size_t u = 0; u < 2; u++) {
            lanes v = lanes_get(x, (r + u) * channels + at, n, half);
            lanes g = gated(lanes_get(dy, (r + u) * channels + at, n, half), v, s, t, gate);
            total[u] += g;
            along[u] += g * (v - middle);
        }
    if (r < rows) {
        lanes v = lanes_get(x, r * channels + at, n, half);
        lanes g = gated(lanes_get(dy, r * channels + at, n, half), v, s, t, gate);
        total[0] += g;
        along[0] += g * (v - middle);
    }
    lanes_put(sum, at, total[0] + total[1], n, 0);
    lanes_put(product, at, along[0] + along[1], n, 0);
}

LANE_INLINE void back_apply_block(void *dx, int add, const void *dy, const void *x,
                                  const struct norm_slopes *k, const float *scale, const float *shift,
                                  int gate, size_t rows, size_t channels, int half, size_t at, size_t n)
{
    const lanes s = lanes_get(scale, at, n, 0), t = lanes_get(shift, at, n, 0);
    const lanes a = lanes_get(k->a, at, n, 0), b = lanes_get(k->b, at, n, 0), d = lanes_get(k->d, at, n, 0);
    for (size_t r = 0; r < rows; r++) {
        size_t i = r * channels + at;
        lanes v = lanes_get(x, i, n, half), g = gated(lanes_get(dy, i, n, half), v, s, t, gate);
        lanes slope = g * a + (v * b + d);
        lanes_put(dx, i, add ? slope + lanes_get(dx, i, n, half) : slope, n, half);
    }
}

#define EACH_TYPE(TYPE, HALF)                                                                                \
    static void sums_##TYPE(float *sum, const void *x, size_t rows, size_t channels)                         \
    {                                                                                                        \
        EACH_BLOCK(sums_block, sum, x, rows, channels, HALF);                                                \
    }                                                                                                        \
    static void squares_##TYPE(float *square, const void *x, const float *center, size_t rows,               \
                               size_t channels)                                                              \
    {                                                                                                        \
        EACH_BLOCK(squares_block, square, x, center, rows, channels, HALF);                                  \
    }                                                                                                        \
    static void apply_##TYPE(void *y, const void *x, const float *scale, const float *shift, int relu,       \
                             size_t rows, size_t channels)                                                   \
    {                                                                                                        \
        if (relu)                                                                                            \
            EACH_BLOCK(apply_block, y, x, scale, shift, 1, rows, channels, HALF);                            \
        else                                                                                                 \
            EACH_BLOCK(apply_block, y, x, scale, shift, 0, rows, channels, HALF);                            \
    }                                                                                                        \
    static void back_sums_##TYPE(float *sum, float *product, const void *dy, const void *x,                  \
                                 const float *center, const struct norm_gate *gate, size_t rows,             \
                                 size_t channels)                                                            \
    {                                                                                                        \
        if (gate)                                                                                            \
            EACH_BLOCK(back_sums_block, sum, product, dy, x, center, gate->scale, gate->shift, 1, rows,      \
                       channels, HALF);                                                                      \
        else                                                                                                 \
            EACH_BLOCK(back_sums_block, sum, product, dy, x, center, center, center, 0, rows, channels,      \
                       HALF);                                                                                \
    }                                                                                                        \
    static void back_apply_##TYPE(void *dx, int add, const void *dy, const void *x,                          \
                                  const struct norm_slopes *slopes, const struct norm_gate *gate,            \
                                  size_t rows, size_t channels)                                              \
    {                                                                                                        \
        const float *scale = gate ? gate->scale : slopes->a, *shift = gate ? gate->shift : slopes->a;        \
        if (gate && add)                                                                                     \
            EACH_BLOCK(back_apply_block, dx, 1, dy, x, slopes, scale, shift, 1, rows, channels, HALF);       \
        else if (gate)                                                                                       \
            EACH_BLOCK(back_apply_block, dx, 0, dy, x, slopes, scale, shift, 1, rows, channels, HALF);       \
        else if (add)                                                                                        \
            EACH_BLOCK(back_apply_block, dx, 1, dy, x, slopes, scale, shift, 0, rows, channels, HALF);       \
        else                                                                                                 \
            EACH_BLOCK(back_apply_block, dx, 0, dy, x, slopes, scale, shift, 0, rows, channels, HALF);       \
    }
EACH_TYPE(f32, 0)
EACH_TYPE(bf16, 1)

extern const struct norm_kernels ISA_NAME(norm_kernels);
const struct norm_kernels ISA_NAME(norm_kernels) = {.sums = {sums_f32, sums_bf16},
                                                    .squares = {squares_f32, squares_bf16},
                                                    .apply = {apply_f32, apply_bf16},
                                                    .back_sums = {back_sums_f32, back_sums_bf16},
                                                    .back_apply = {back_apply_f32, back_apply_bf16}};
