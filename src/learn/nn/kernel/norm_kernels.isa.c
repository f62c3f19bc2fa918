/* Blocks of up to 64 channels down all rows, so that the sums stay in registers and memory is read in order;
 * where there are fewer channels several rows go at once, so that always four additions are under way. Every
 * pass is bound by memory; chunks are small enough for the second pass to come from cache.
 *
 * Sums have the same bits at every level: how many rows go at once depends on the channels alone. Vectors are as
 * long as the level's registers, as compilers keep longer ones in memory; a block has as many of them, shorter or
 * not. */
#include "nn/kernel/norm_kernels.h"

#include "base/cpu.h"
#include "nn/kernel/vector_math.h"

enum { UNROLL = 4, WIDTH = VECTOR_BYTES / sizeof(float) };

/* Runs BODY for every block of channels with `at` = first channel, `vectors` and `n` = lanes in use of each,
 * constants for whole vectors. The channels are cut at multiples of 4 and 2 `unit`s: LANES for sums, the order of
 * which this decides, WIDTH elsewhere. */
#define EACH_BLOCK(unit, body, ...)                                                                          \
    do {                                                                                                     \
        size_t at = 0;                                                                                       \
        for (; at < channels / (4 * (unit)) * (4 * (unit)); at += 4 * WIDTH)                                 \
            body(__VA_ARGS__, at, 4, WIDTH);                                                                 \
        for (; at < channels / (2 * (unit)) * (2 * (unit)); at += 2 * WIDTH)                                 \
            body(__VA_ARGS__, at, 2, WIDTH);                                                                 \
        for (; at + WIDTH <= channels; at += WIDTH)                                                          \
            body(__VA_ARGS__, at, 1, WIDTH);                                                                 \
        if (at < channels)                                                                                   \
            body(__VA_ARGS__, at, 1, channels - at);                                                         \
    } while (0)

/* The same for every vector of UNROLL / vectors rows at once, and of the rows left over: BODY(slot, v, i)
 * with a slot of its own for each, the vector's number and its first element. */
#define EACH_VECTOR(BODY)                                                                                    \
    do {                                                                                                     \
        size_t r = 0;                                                                                        \
        for (; r + UNROLL / vectors <= rows; r += UNROLL / vectors)                                          \
            _Pragma("GCC unroll 4") for (size_t u = 0; u < UNROLL; u++)                                      \
                BODY(u, u % vectors, (r + u / vectors) * channels + at + u % vectors * WIDTH);               \
        for (; r < rows; r++)                                                                                \
            _Pragma("GCC unroll 4") for (size_t v = 0; v < vectors; v++)                                     \
                BODY(v, v, r *channels + at + v * WIDTH);                                                    \
    } while (0)

INLINE void get_block(vf32 out[UNROLL], const float *x, size_t at, size_t vectors, size_t n)
{
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++)
        out[v] = wide_get(x, at + v * WIDTH, n, 0);
}

/* Adds up the slots of each vector. */
INLINE void put_block(float *sum, vf32 total[UNROLL], size_t at, size_t vectors, size_t n)
{
#pragma GCC unroll 4
    for (size_t u = vectors; u < UNROLL; u++)
        total[u % vectors] += total[u];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; v++)
        wide_put(sum, at + v * WIDTH, total[v], n, 0);
}

INLINE void sums_block(float *sum, const void *x, size_t rows, size_t channels, int half, size_t at,
                       size_t vectors, size_t n)
{
    vf32 total[UNROLL] = {{0}};
#define BODY(slot, v, i) total[slot] += wide_get(x, i, n, half)
    EACH_VECTOR(BODY);
#undef BODY
    put_block(sum, total, at, vectors, n);
}

INLINE void add_square(vf32 *total, const void *x, size_t i, size_t n, int half, vf32 middle)
{
    vf32 d = wide_get(x, i, n, half) - middle;
    *total += d * d;
}

INLINE void squares_block(float *square, const void *x, const float *center, size_t rows, size_t channels,
                          int half, size_t at, size_t vectors, size_t n)
{
    vf32 total[UNROLL] = {{0}}, middle[UNROLL];
    get_block(middle, center, at, vectors, n);
#define BODY(slot, v, i) add_square(&total[slot], x, i, n, half, middle[v])
    EACH_VECTOR(BODY);
#undef BODY
    put_block(square, total, at, vectors, n);
}

INLINE void apply_to(void *y, const void *x, const void *more, int add, size_t i, size_t n, int half,
                     vf32 scale, vf32 shift, int relu, float most)
{
    const vf32 zero = {0}, top = zero + most;
    vf32 v = wide_get(x, i, n, half) * scale + shift;
    if (add)
        v += wide_get(more, i, n, half);
    wide_put(y, i, relu ? f32_smaller(top, f32_larger(v, zero)) : v, n, half);
}

INLINE void apply_block(void *y, const void *x, const void *more, int add, const float *scale,
                        const float *shift, int relu, float most, size_t rows, size_t channels, int half,
                        size_t at, size_t vectors, size_t n)
{
    vf32 s[UNROLL], t[UNROLL];
    get_block(s, scale, at, vectors, n);
    get_block(t, shift, at, vectors, n);
#define BODY(slot, v, i) apply_to(y, x, more, add, i, n, half, s[v], t[v], relu, most)
    EACH_VECTOR(BODY);
#undef BODY
}

/* dy, or 0 where the ReLU after the norm was shut. */
INLINE vf32 gated(vf32 dy, vf32 x, vf32 scale, vf32 shift, int gate, float most)
{
    const vf32 zero = {0}, top = zero + most;
    return gate ? f32_between(dy, x * scale + shift, zero, top) : dy;
}

INLINE void back_sums_block(float *sum, float *product, const void *dy, const void *x, const float *center,
                            const float *scale, const float *shift, int gate, float most, size_t rows,
                            size_t channels, int half, size_t at, size_t vectors, size_t n)
{
    vf32 total[UNROLL] = {{0}}, along[UNROLL] = {{0}}, middle[UNROLL], s[UNROLL], t[UNROLL];
    get_block(middle, center, at, vectors, n);
    get_block(s, scale, at, vectors, n);
    get_block(t, shift, at, vectors, n);
#define BODY(slot, v, i)                                                                                     \
    do {                                                                                                     \
        vf32 value = wide_get(x, i, n, half);                                                                \
        vf32 g = gated(wide_get(dy, i, n, half), value, s[v], t[v], gate, most);                             \
        total[slot] += g;                                                                                    \
        along[slot] += g * (value - middle[v]);                                                              \
    } while (0)
    EACH_VECTOR(BODY);
#undef BODY
    put_block(sum, total, at, vectors, n);
    put_block(product, along, at, vectors, n);
}

INLINE void back_apply_block(void *dx, int add, const void *dy, const void *x, const struct norm_slopes *k,
                             const float *scale, const float *shift, int gate, float most, size_t rows,
                             size_t channels, int half, size_t at, size_t vectors, size_t n)
{
    vf32 s[UNROLL], t[UNROLL], a[UNROLL], b[UNROLL], d[UNROLL];
    get_block(s, scale, at, vectors, n);
    get_block(t, shift, at, vectors, n);
    get_block(a, k->a, at, vectors, n);
    get_block(b, k->b, at, vectors, n);
    get_block(d, k->d, at, vectors, n);
#define BODY(slot, v, i)                                                                                     \
    do {                                                                                                     \
        vf32 value = wide_get(x, i, n, half);                                                                \
        vf32 g = gated(wide_get(dy, i, n, half), value, s[v], t[v], gate, most);                             \
        vf32 slope = g * a[v] + (value * b[v] + d[v]);                                                       \
        if (add)                                                                                             \
            slope += wide_get(dx, i, n, half);                                                               \
        wide_put(dx, i, slope, n, half);                                                                     \
    } while (0)
    EACH_VECTOR(BODY);
#undef BODY
}

#define EACH_TYPE(TYPE, HALF)                                                                                \
    static void sums_##TYPE(float *sum, const void *x, size_t rows, size_t channels)                         \
    {                                                                                                        \
        EACH_BLOCK(LANES, sums_block, sum, x, rows, channels, HALF);                                         \
    }                                                                                                        \
    static void squares_##TYPE(float *square, const void *x, const float *center, size_t rows,               \
                               size_t channels)                                                              \
    {                                                                                                        \
        EACH_BLOCK(LANES, squares_block, square, x, center, rows, channels, HALF);                           \
    }                                                                                                        \
    static void apply_##TYPE(void *y, const void *x, const void *more, const float *scale,                   \
                             const float *shift, float most, size_t rows, size_t channels)                   \
    {                                                                                                        \
        if (most > 0 && more)                                                                                \
            EACH_BLOCK(WIDTH, apply_block, y, x, more, 1, scale, shift, 1, most, rows, channels, HALF);      \
        else if (most > 0)                                                                                   \
            EACH_BLOCK(WIDTH, apply_block, y, x, x, 0, scale, shift, 1, most, rows, channels, HALF);         \
        else if (more)                                                                                       \
            EACH_BLOCK(WIDTH, apply_block, y, x, more, 1, scale, shift, 0, most, rows, channels, HALF);      \
        else                                                                                                 \
            EACH_BLOCK(WIDTH, apply_block, y, x, x, 0, scale, shift, 0, most, rows, channels, HALF);         \
    }                                                                                                        \
    static void back_sums_##TYPE(float *sum, float *product, const void *dy, const void *x,                  \
                                 const float *center, const struct norm_gate *gate, size_t rows,             \
                                 size_t channels)                                                            \
    {                                                                                                        \
        if (gate)                                                                                            \
            EACH_BLOCK(LANES, back_sums_block, sum, product, dy, x, center, gate->scale, gate->shift, 1,     \
                       gate->most, rows, channels, HALF);                                                    \
        else                                                                                                 \
            EACH_BLOCK(LANES, back_sums_block, sum, product, dy, x, center, center, center, 0, 0, rows,      \
                       channels, HALF);                                                                      \
    }                                                                                                        \
    static void back_apply_##TYPE(void *dx, int add, const void *dy, const void *x,                          \
                                  const struct norm_slopes *slopes, const struct norm_gate *gate,            \
                                  size_t rows, size_t channels)                                              \
    {                                                                                                        \
        const float *scale = gate ? gate->scale : slopes->a, *shift = gate ? gate->shift : slopes->a;        \
        const float most = gate ? gate->most : 0;                                                            \
        if (gate && add)                                                                                     \
            EACH_BLOCK(WIDTH, back_apply_block, dx, 1, dy, x, slopes, scale, shift, 1, most, rows, channels, \
                       HALF);                                                                                \
        else if (gate)                                                                                       \
            EACH_BLOCK(WIDTH, back_apply_block, dx, 0, dy, x, slopes, scale, shift, 1, most, rows, channels, \
                       HALF);                                                                                \
        else if (add)                                                                                        \
            EACH_BLOCK(WIDTH, back_apply_block, dx, 1, dy, x, slopes, scale, shift, 0, most, rows, channels, \
                       HALF);                                                                                \
        else                                                                                                 \
            EACH_BLOCK(WIDTH, back_apply_block, dx, 0, dy, x, slopes, scale, shift, 0, most, rows, channels, \
                       HALF);                                                                                \
    }
EACH_TYPE(f32, 0)
EACH_TYPE(bf16, 1)

extern const struct norm_kernels ISA_NAME(norm_kernels);
const struct norm_kernels ISA_NAME(norm_kernels) = {.sums = {sums_f32, sums_bf16},
                                                    .squares = {squares_f32, squares_bf16},
                                                    .apply = {apply_f32, apply_bf16},
                                                    .back_sums = {back_sums_f32, back_sums_bf16},
                                                    .back_apply = {back_apply_f32, back_apply_bf16}};
