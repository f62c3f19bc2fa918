/* outer(): a tile of ROWS outputs by three vectors of the gradient stays in registers while the positions of
 * a slice go by; per position three loads and ROWS broadcasts feed 3 ROWS multiply-adds. The slice keeps its
 * rows of D and of the image in the first-level cache while the tiles pass over them.
 *
 * ghost(): four positions t against four positions s; sixteen dot products of A, then of D, and the products
 * of both are summed in double. Multiply-add is spelled out, as the build turns contraction off. */
#include "nn/kernel/example_kernels.h"

#include "base/simd.h"

#include <string.h>

enum {
    ROWS = VECTOR_BYTES == 64 ? 8 : 4,
    LANES = VECTOR_BYTES / sizeof(float),
    WIDE = 3,
    SLICE = 128,
    GRAM = 4
};

/* ---- the gradient itself ---- */

INLINE void clear_tile(int rows, int vectors, vf32 sum[ROWS][WIDE])
{
#pragma GCC unroll 8
    for (int k = 0; k < rows; k++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++)
            sum[k][v] = (vf32){0};
}

/* sum[k] += d[k] * x, of x the first `last` lanes of its last vector. */
INLINE void add_row(int rows, int vectors, size_t last, vf32 sum[ROWS][WIDE], const float *d, const float *x)
{
    vf32 a[WIDE];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++)
        a[v] =
            v + 1 < vectors || last == LANES ? f32_load(x + v * LANES) : f32_load_part(x + v * LANES, last);
#pragma GCC unroll 8
    for (int k = 0; k < rows; k++) {
        const vf32 all = f32_all(d[k]);
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++)
            sum[k][v] = f32_fma(all, a[v], sum[k][v]);
    }
}

/* One run of all positions of a slice. `rows` and `vectors` are constants at each call; `last` floats of the
 * last vector are of the run. */
INLINE void example_kernel_tile(int rows, int vectors, float *g, size_t stride, size_t last, const float *d,
                                size_t outputs, const float *base, const uint32_t *starts, size_t count)
{
    vf32 sum[ROWS][WIDE];
    clear_tile(rows, vectors, sum);
    for (size_t t = 0; t < count; t++, d += outputs) {
        __builtin_prefetch(d + count * outputs, 0, 2); /* the next slice */
        add_row(rows, vectors, LANES, sum, d, base + starts[t]);
    }
#pragma GCC unroll 8
    for (int k = 0; k < rows; k++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) {
            float *to = g + (size_t)k * stride + (size_t)(v * LANES);
            if (v + 1 < vectors || last == LANES)
                *(stored_f32 *)to += sum[k][v];
            else
                for (size_t i = 0; i < last; i++)
                    to[i] += sum[k][v][i];
        }
}

INLINE void tile_rows(int rows, float *g, size_t stride, size_t width, const float *d, size_t outputs,
                      const float *base, const uint32_t *starts, size_t count)
{
    for (size_t c = 0; c < width; c += WIDE * LANES) {
        size_t left = width - c, vectors = left >= WIDE * LANES ? WIDE : (left + LANES - 1) / LANES,
               last = left >= WIDE * LANES ? LANES : left - (vectors - 1) * LANES;
        if (vectors == 3)
            example_kernel_tile(rows, 3, g + c, stride, last, d, outputs, base + c, starts, count);
        else if (vectors == 2)
            example_kernel_tile(rows, 2, g + c, stride, last, d, outputs, base + c, starts, count);
        else
            example_kernel_tile(rows, 1, g + c, stride, last, d, outputs, base + c, starts, count);
    }
}

/* All outputs: `width` floats at base + starts[t] against the rows of d. */
static void all_outputs(float *g, size_t stride, size_t width, const float *d, size_t outputs,
                        const float *base, const uint32_t *starts, size_t count)
{
    size_t k = 0;
    for (; k + ROWS <= outputs; k += ROWS)
        tile_rows(ROWS, g + k * stride, stride, width, d + k, outputs, base, starts, count);
    for (; k < outputs; k++)
        tile_rows(1, g + k * stride, stride, width, d + k, outputs, base, starts, count);
}

enum { PANEL = WIDE * LANES };

/* Runs much shorter than a vector (few colours) are laid side by side first. */
static void packed_slice(float *g, const float *d, size_t outputs, const struct patches *a, size_t first,
                         size_t count)
{
    float panel[SLICE * PANEL] = {0};
    uint32_t rows[SLICE];
    for (size_t t = 0; t < count; t++) {
        const float *x = a->base + a->starts[first + t];
        float *to = panel + t * PANEL;
        rows[t] = (uint32_t)(t * PANEL);
        for (size_t r = 0; r < a->runs; r++, x += a->skip, to += a->width)
            memcpy(to, x, a->width * sizeof *to);
    }
    all_outputs(g, a->runs * a->width, a->runs * a->width, d, outputs, panel, rows, count);
}

static void example_kernel_outer(float *gradient, const float *diff, size_t outputs, const struct patches *a)
{
    size_t stride = a->runs * a->width;
    int packs = a->runs > 1 && a->width < LANES && stride <= PANEL;
    /* rows of many outputs lie a power of two apart: few fit into the sets of the cache that they fall
     * into */
    size_t slice = outputs > 32 ? SLICE / 2 : SLICE;
    for (size_t t = 0; t < a->count; t += slice) {
        size_t count = a->count - t < slice ? a->count - t : slice;
        if (packs)
            packed_slice(gradient, diff + t * outputs, outputs, a, t, count);
        else
            for (size_t r = 0; r < a->runs; r++)
                all_outputs(gradient + r * a->width, stride, a->width, diff + t * outputs, outputs,
                            a->base + r * a->skip, a->starts + t, count);
    }
}

/* ---- its norm from Gram matrices ---- */

/* sum[i][j] += <x[i], y[j]> over `width` floats. */
INLINE void example_kernel_dots(vf32 sum[GRAM][GRAM], const float *const x[GRAM], const float *const y[GRAM],
                                size_t width)
{
    size_t c = 0;
    for (; c + LANES <= width; c += LANES) {
        vf32 b[GRAM];
#pragma GCC unroll 4
        for (int j = 0; j < GRAM; j++)
            b[j] = f32_load(y[j] + c);
#pragma GCC unroll 4
        for (int i = 0; i < GRAM; i++) {
            vf32 a = f32_load(x[i] + c);
#pragma GCC unroll 4
            for (int j = 0; j < GRAM; j++)
                sum[i][j] = f32_fma(a, b[j], sum[i][j]);
        }
    }
    if (c == width)
        return;
#pragma GCC unroll 4
    for (int i = 0; i < GRAM; i++)
#pragma GCC unroll 4
        for (int j = 0; j < GRAM; j++)
            sum[i][j] =
                f32_fma(f32_load_part(x[i] + c, width - c), f32_load_part(y[j] + c, width - c), sum[i][j]);
}

INLINE void example_kernel_finish(float out[GRAM][GRAM], vf32 sum[GRAM][GRAM])
{
#pragma GCC unroll 4
    for (int i = 0; i < GRAM; i++)
#pragma GCC unroll 4
        for (int j = 0; j < GRAM; j++)
            out[i][j] = f32_total(sum[i][j]);
}

/* Positions past the end repeat the last one and do not count. */
static void gram_tile(float aa[GRAM][GRAM], float dd[GRAM][GRAM], const float *diff, size_t outputs,
                      const struct patches *a, size_t t, size_t s)
{
    const float *x[GRAM], *y[GRAM], *from[GRAM], *to[GRAM];
    vf32 sum[GRAM][GRAM] = {0};
    for (size_t i = 0; i < GRAM; i++) {
        size_t row = t + i < a->count ? t + i : a->count - 1,
               column = s + i < a->count ? s + i : a->count - 1;
        x[i] = a->base + a->starts[row];
        y[i] = a->base + a->starts[column];
        from[i] = diff + row * outputs;
        to[i] = diff + column * outputs;
    }
    for (size_t r = 0; r < a->runs; r++) {
        example_kernel_dots(sum, x, y, a->width);
        for (size_t i = 0; i < GRAM; i++) {
            x[i] += a->skip;
            y[i] += a->skip;
        }
    }
    example_kernel_finish(aa, sum);
    memset(sum, 0, sizeof sum);
    example_kernel_dots(sum, from, to, outputs);
    example_kernel_finish(dd, sum);
}

static struct ghost example_kernel_ghost(const float *diff, size_t outputs, int bias, const struct patches *a)
{
    struct ghost g = {0};
    float aa[GRAM][GRAM], dd[GRAM][GRAM];
    double one = bias ? 1 : 0;
    for (size_t t = 0; t < a->count; t += GRAM) {
        size_t rows = a->count - t < GRAM ? a->count - t : GRAM;
        for (size_t s = 0; s <= t; s += GRAM) {
            size_t columns = a->count - s < GRAM ? a->count - s : GRAM;
            double sum = 0;
            gram_tile(aa, dd, diff, outputs, a, t, s);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < columns; j++)
                    sum += ((double)aa[i][j] + one) * (double)dd[i][j];
            g.square += s == t ? sum : 2 * sum;
        }
        for (size_t i = 0; i < rows; i++) { /* the tile on the diagonal came last */
            g.size += sqrt(((double)aa[i][i] + one) * (double)dd[i][i]);
            g.values += (double)aa[i][i];
            g.gradients += (double)dd[i][i];
        }
    }
    return g;
}

/* ---- spans ---- */

static double example_kernel_squares(const float *x, size_t n)
{
    double sum[16] = {0}, all_of = 0;
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (size_t j = 0; j < 16; j++)
            sum[j] += (double)x[i + j] * (double)x[i + j];
    for (; i < n; i++)
        all_of += (double)x[i] * (double)x[i];
    for (size_t j = 0; j < 16; j++)
        all_of += sum[j];
    return all_of;
}

static void example_kernel_scale(float *x, float factor, size_t n)
{
    if (factor == 0)
        memset(x, 0, n * sizeof *x);
    for (size_t i = 0; factor != 0 && factor != 1 && i < n; i++)
        x[i] *= factor;
}

/* ---- sums of whole numbers ---- */

INLINE vf64 example_kernel_cut(vf64 x)
{
#if defined(__AVX512F__)
    return (vf64)_mm512_roundscale_pd((__m512d)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#elif defined(__AVX2__)
    return (vf64)_mm256_round_pd((__m256d)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#elif defined(__SSE4_1__)
    return (vf64)_mm_round_pd((__m128d)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    for (size_t i = 0; i < LANES / 2; i++)
        x[i] = trunc(x[i]);
    return x;
#endif
}

/* Lanes 0 to LANES / 2 - 1 of x, or the others. */
INLINE vf64 half_of(vf32 x, int upper)
{
#if defined(__AVX512DQ__)
    return (vf64)_mm512_cvtps_pd(upper ? _mm512_extractf32x8_ps((__m512)x, 1)
                                       : _mm512_castps512_ps256((__m512)x));
#elif defined(__AVX2__)
    return (vf64)_mm256_cvtps_pd(upper ? _mm256_extractf128_ps((__m256)x, 1)
                                       : _mm256_castps256_ps128((__m256)x));
#elif defined(__SSE2__)
    return (vf64)_mm_cvtps_pd(upper ? _mm_movehl_ps((__m128)x, (__m128)x) : (__m128)x);
#else
    vf64 y;
    for (size_t i = 0; i < LANES / 2; i++)
        y[i] = (double)x[i + (upper ? LANES / 2 : 0)];
    return y;
#endif
}

static void add_whole(double *restrict sum, const float *restrict x, double factor, size_t n)
{
    const vf64 all = f64_all(factor);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vf32 v = f32_load(x + i);
        *(stored_f64 *)(sum + i) += example_kernel_cut(all * half_of(v, 0));
        *(stored_f64 *)(sum + i + LANES / 2) += example_kernel_cut(all * half_of(v, 1));
    }
    for (; i < n; i++)
        sum[i] += trunc(factor * (double)x[i]);
}

INLINE void add_cut(double *to, vf32 x, size_t n)
{
    if (n == LANES) {
        *(stored_f64 *)to += example_kernel_cut(half_of(x, 0));
        *(stored_f64 *)(to + LANES / 2) += example_kernel_cut(half_of(x, 1));
        return;
    }
    for (size_t i = 0; i < n; i++)
        to[i] += trunc((double)x[i]);
}

/* A tile of `rows` outputs by `vectors` vectors of inputs, of which the last has `last` lanes: all its chains. */
INLINE void chain_tile(int rows, int vectors, double *to, size_t inputs, size_t last, const float *diff,
                       size_t outputs, const float *src, const uint32_t *end, size_t chains)
{
    size_t t = 0;
    for (size_t c = 0; c < chains; c++) {
        vf32 sum[ROWS][WIDE];
        clear_tile(rows, vectors, sum);
        for (; t < end[c]; t++)
            add_row(rows, vectors, last, sum, diff + t * outputs, src + t * inputs);
#pragma GCC unroll 8
        for (int k = 0; k < rows; k++)
#pragma GCC unroll 3
            for (int v = 0; v < vectors; v++)
                add_cut(to + (size_t)k * inputs + (size_t)(v * LANES), sum[k][v],
                        v + 1 < vectors ? LANES : last);
    }
}

INLINE void chain_rows(int rows, double *to, size_t inputs, const float *diff, size_t outputs,
                       const float *src, const uint32_t *end, size_t chains)
{
    for (size_t c = 0; c < inputs; c += WIDE * LANES) {
        size_t left = inputs - c, vectors = left >= WIDE * LANES ? WIDE : (left + LANES - 1) / LANES,
               last = left >= WIDE * LANES ? LANES : left - (vectors - 1) * LANES;
        if (vectors == 3 && last == LANES)
            chain_tile(rows, 3, to + c, inputs, LANES, diff, outputs, src + c, end, chains);
        else if (vectors == 3)
            chain_tile(rows, 3, to + c, inputs, last, diff, outputs, src + c, end, chains);
        else if (vectors == 2)
            chain_tile(rows, 2, to + c, inputs, last, diff, outputs, src + c, end, chains);
        else
            chain_tile(rows, 1, to + c, inputs, last, diff, outputs, src + c, end, chains);
    }
}

/* The same for the positions of images: a chain for each example. `base` is where the tile begins in the first one. */
INLINE void patch_tile(int rows, int vectors, double *to, size_t stride, size_t last, const float *diff,
                       size_t outputs, const float *base, const struct patches *a, size_t image,
                       size_t examples)
{
    for (size_t i = 0; i < examples; i++, base += image) {
        vf32 sum[ROWS][WIDE];
        clear_tile(rows, vectors, sum);
        for (size_t t = 0; t < a->count; t++, diff += outputs)
            add_row(rows, vectors, last, sum, diff, base + a->starts[t]);
#pragma GCC unroll 8
        for (int k = 0; k < rows; k++)
#pragma GCC unroll 3
            for (int v = 0; v < vectors; v++)
                add_cut(to + (size_t)k * stride + (size_t)(v * LANES), sum[k][v],
                        v + 1 < vectors ? LANES : last);
    }
}

/* All outputs by `vectors` vectors: the values lie in the cache while the outputs pass. */
INLINE void patch_outputs(int vectors, size_t last, double *to, size_t stride, const float *diff,
                          size_t outputs, const float *base, const struct patches *a, size_t image,
                          size_t examples)
{
    size_t k = 0;
    for (; k + ROWS <= outputs; k += ROWS)
        patch_tile(ROWS, vectors, to + k * stride, stride, last, diff + k, outputs, base, a, image, examples);
    for (; k < outputs; k++)
        patch_tile(1, vectors, to + k * stride, stride, last, diff + k, outputs, base, a, image, examples);
}

static void add_patches(double *sum, const float *diff, size_t outputs, const struct patches *a, size_t image,
                        size_t examples)
{
    const size_t stride = a->runs * a->width;
    for (size_t r = 0; r < a->runs; r++)
        for (size_t c = 0; c < a->width; c += WIDE * LANES) {
            size_t left = a->width - c, vectors = left >= WIDE * LANES ? WIDE : (left + LANES - 1) / LANES,
                   last = left >= WIDE * LANES ? LANES : left - (vectors - 1) * LANES;
            double *to = sum + r * a->width + c;
            const float *base = a->base + r * a->skip + c;
            if (vectors == 3 && last == LANES)
                patch_outputs(3, LANES, to, stride, diff, outputs, base, a, image, examples);
            else if (vectors == 3)
                patch_outputs(3, last, to, stride, diff, outputs, base, a, image, examples);
            else if (vectors == 2)
                patch_outputs(2, last, to, stride, diff, outputs, base, a, image, examples);
            else
                patch_outputs(1, last, to, stride, diff, outputs, base, a, image, examples);
        }
}

/* Column sums of D. */
static void add_column_chains(double *sum, const float *diff, size_t outputs, const uint32_t *end,
                              size_t chains)
{
    for (size_t k = 0; k < outputs; k += LANES) {
        size_t n = outputs - k < LANES ? outputs - k : LANES, t = 0;
        for (size_t c = 0; c < chains; c++) {
            vf32 v = {0};
            for (; t < end[c]; t++)
                v += n == LANES ? f32_load(diff + t * outputs + k) : f32_load_part(diff + t * outputs + k, n);
            add_cut(sum + k, v, n);
        }
    }
}

static void add_chains(double *sum, const float *diff, size_t outputs, const float *src, size_t inputs,
                       const uint32_t *end, size_t chains)
{
    size_t k = 0;
    if (!src) {
        add_column_chains(sum, diff, outputs, end, chains);
        return;
    }
    for (; k + ROWS <= outputs; k += ROWS)
        chain_rows(ROWS, sum + k * inputs, inputs, diff + k, outputs, src, end, chains);
    for (; k + 2 <= outputs; k += 2)
        chain_rows(2, sum + k * inputs, inputs, diff + k, outputs, src, end, chains);
    for (; k < outputs; k++)
        chain_rows(1, sum + k * inputs, inputs, diff + k, outputs, src, end, chains);
}

extern const struct example_kernels ISA_NAME(example_kernels);
const struct example_kernels ISA_NAME(example_kernels) = {
    example_kernel_outer, example_kernel_ghost, example_kernel_squares, example_kernel_scale, add_whole,
    add_chains,           add_patches};
