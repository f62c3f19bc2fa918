/* A tile of the weight gradient stays in 16 vector registers while the pixels go by: per pixel 4 loads and 4
 * broadcasts feed 16 multiply-adds. Both operands are packed first: the pixels of a stride-2 convolution lie
 * a power of two apart and would fall into a few sets of the first-level cache. Below AVX-512 there are too
 * few registers for this, and the caller uses oneDNN. */
#include "nn/conv/conv_kernels.h"

#include "base/cpu.h"

#ifdef __AVX512F__
#include <immintrin.h>
#include <math.h>
#include <string.h>

static void pack_src(float *panel, const float *src, const struct pixel_pair *pairs, size_t count,
                     size_t width)
{
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < width; c += TILE_VECTOR)
            _mm512_storeu_ps(panel + i * width + c, _mm512_loadu_ps(src + pairs[i].src + c));
}

static void pack_dst(float *panel, const float *diff_dst, const struct pixel_pair *pairs, size_t count,
                     size_t outputs, size_t width)
{
    size_t t = tile_outputs(width);
    for (size_t i = 0; i < count; i++) {
        const float *d = diff_dst + pairs[i].dst;
        for (size_t k = 0; k < outputs; k += t)
            if (t == 4)
                memcpy(panel + (k * count + i * 4), d + k, 4 * sizeof *d);
            else
                memcpy(panel + (k * count + i * 8), d + k, 8 * sizeof *d);
    }
}

static void sum_dst(float *sums, const float *diff_dst, const struct pixel_pair *pairs, size_t count,
                    size_t outputs)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < outputs; k++)
            sums[k] += diff_dst[pairs[i].dst + k];
}

/* `rows` and `vectors` are constants at each call, so the loops over them unroll and `sum` lives in
 * registers. */
static inline __attribute__((always_inline)) void conv_kernel_tile(int rows, int vectors, float *weights,
                                                                   size_t stride, const float *d,
                                                                   const float *s, size_t count)
{
    __m512 sum[8][4];
#pragma GCC unroll 8
    for (int k = 0; k < rows; k++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sum[k][v] = _mm512_loadu_ps(weights + (size_t)k * stride + v * TILE_VECTOR);
    for (size_t i = 0; i < count; i++, d += rows, s += vectors * TILE_VECTOR) {
        __m512 x[4];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            x[v] = _mm512_loadu_ps(s + v * TILE_VECTOR);
#pragma GCC unroll 8
        for (int k = 0; k < rows; k++) {
            __m512 diff = _mm512_set1_ps(d[k]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                sum[k][v] = _mm512_fmadd_ps(diff, x[v], sum[k][v]);
        }
    }
#pragma GCC unroll 8
    for (int k = 0; k < rows; k++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            _mm512_storeu_ps(weights + (size_t)k * stride + v * TILE_VECTOR, sum[k][v]);
}

static void conv_kernel_multiply(float *weights, size_t stride, const float *dst_panel,
                                 const float *src_panel, size_t count, size_t outputs, size_t width)
{
    size_t t = tile_outputs(width);
    for (size_t k = 0; k < outputs; k += t, weights += t * stride, dst_panel += t * count)
        if (width == 64)
            conv_kernel_tile(4, 4, weights, stride, dst_panel, src_panel, count);
        else if (width == 32)
            conv_kernel_tile(8, 2, weights, stride, dst_panel, src_panel, count);
        else
            conv_kernel_tile(8, 1, weights, stride, dst_panel, src_panel, count);
}

enum { GROUP = 6 };

/* Six pixels by 64 results in 24 registers (four would leave the multiply-adds waiting for loads); a short
 * last group repeats its last pixel and stores only the real ones. */
static void conv_kernel_accumulate(float *out, const float *in, const struct pixel_pair *pairs, size_t count,
                                   int forward, const float *panel, size_t depth)
{
    for (size_t i = 0; i < count; i += GROUP) {
        size_t real = count - i < GROUP ? count - i : GROUP;
        float *o[GROUP];
        const float *d[GROUP];
#pragma GCC unroll 8
        for (size_t k = 0; k < GROUP; k++) {
            struct pixel_pair pair = pairs[i + (k < real ? k : real - 1)];
            o[k] = out + (forward ? pair.dst : pair.src);
            d[k] = in + (forward ? pair.src : pair.dst);
        }
        __m512 sum[GROUP][4];
#pragma GCC unroll 8
        for (int k = 0; k < GROUP; k++)
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                sum[k][v] = _mm512_loadu_ps(o[k] + v * TILE_VECTOR);
        const float *p = panel;
        for (size_t j = 0; j < depth; j++, p += 4 * TILE_VECTOR) {
            __m512 x[4];
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                x[v] = _mm512_loadu_ps(p + v * TILE_VECTOR);
#pragma GCC unroll 8
            for (int k = 0; k < GROUP; k++) {
                __m512 value = _mm512_set1_ps(d[k][j]);
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++)
                    sum[k][v] = _mm512_fmadd_ps(value, x[v], sum[k][v]);
            }
        }
#pragma GCC unroll 8
        for (int k = 0; k < GROUP; k++)
            if ((size_t)k < real)
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++)
                    _mm512_storeu_ps(o[k] + v * TILE_VECTOR, sum[k][v]);
    }
}

/* ---- images ---- */

/* Six pixels by 64 results, as above; every value of the source is broadcast straight from the image. */
static inline __attribute__((always_inline)) void image_group(float *dst, const float *const x[GROUP],
                                                              size_t real, const struct image *shape,
                                                              const float *panel)
{
    __m512 sum[GROUP][4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; v++) {
        sum[0][v] = _mm512_loadu_ps(panel + v * TILE_VECTOR);
#pragma GCC unroll 8
        for (int k = 1; k < GROUP; k++)
            sum[k][v] = sum[0][v];
    }
    const float *w = panel + PICTURE_PANEL;
    for (size_t r = 0, skip = 0; r < shape->rows; r++, skip += shape->stride)
        for (size_t j = skip; j < skip + PICTURE_RUN; j++, w += PICTURE_PANEL) {
            __m512 weight[4];
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                weight[v] = _mm512_loadu_ps(w + v * TILE_VECTOR);
#pragma GCC unroll 8
            for (int k = 0; k < GROUP; k++) {
                __m512 value = _mm512_set1_ps(x[k][j]);
#pragma GCC unroll 4
                for (int v = 0; v < 4; v++)
                    sum[k][v] = _mm512_fmadd_ps(value, weight[v], sum[k][v]);
            }
        }
    const __m512 floor = _mm512_set1_ps(shape->relu ? 0.0f : -INFINITY);
#pragma GCC unroll 8
    for (int k = 0; k < GROUP; k++, dst += shape->outputs)
        if ((size_t)k < real)
#pragma GCC unroll 4
            for (int v = 0; v < 4; v++)
                _mm512_storeu_ps(dst + v * TILE_VECTOR, _mm512_max_ps(floor, sum[k][v]));
}

static void image_forward(float *dst, const float *src, const uint32_t *pixels, size_t count,
                          const struct image *shape, const float *panels)
{
    size_t panel = (1 + shape->rows * PICTURE_RUN) * PICTURE_PANEL;
    for (size_t i = 0; i < count; i += GROUP) {
        size_t real = count - i < GROUP ? count - i : GROUP;
        const float *x[GROUP];
#pragma GCC unroll 8
        for (size_t k = 0; k < GROUP; k++)
            x[k] = src + pixels[i + (k < real ? k : real - 1)];
        for (size_t k = 0; k < shape->outputs; k += PICTURE_PANEL)
            image_group(dst + i * shape->outputs + k, x, real, shape, panels + k / PICTURE_PANEL * panel);
    }
}

/* One kernel row: nine weights by 32 outputs in 18 registers while the pixels go by. */
static void image_row(float *w, const float *d, size_t outputs, const float *src, const uint32_t *pixels,
                      size_t count)
{
    __m512 sum[PICTURE_RUN][2];
#pragma GCC unroll 16
    for (size_t j = 0; j < PICTURE_RUN; j++)
#pragma GCC unroll 2
        for (size_t v = 0; v < 2; v++)
            sum[j][v] = _mm512_loadu_ps(w + j * PICTURE_PANEL + v * TILE_VECTOR);
    for (size_t i = 0; i < count; i++, d += outputs) {
        const float *x = src + pixels[i];
        _mm_prefetch((const char *)(d + count * outputs), _MM_HINT_T1); /* the next slice */
        _mm_prefetch((const char *)(d + count * outputs + TILE_VECTOR), _MM_HINT_T1);
        __m512 diff[2] = {_mm512_loadu_ps(d), _mm512_loadu_ps(d + TILE_VECTOR)};
#pragma GCC unroll 16
        for (size_t j = 0; j < PICTURE_RUN; j++) {
            __m512 value = _mm512_set1_ps(x[j]);
#pragma GCC unroll 2
            for (size_t v = 0; v < 2; v++)
                sum[j][v] = _mm512_fmadd_ps(value, diff[v], sum[j][v]);
        }
    }
#pragma GCC unroll 16
    for (size_t j = 0; j < PICTURE_RUN; j++)
#pragma GCC unroll 2
        for (size_t v = 0; v < 2; v++)
            _mm512_storeu_ps(w + j * PICTURE_PANEL + v * TILE_VECTOR, sum[j][v]);
}

/* The biases come first: they read in order, which brings the slice into the first-level cache. */
static void image_weights(float *panels, const float *diff_dst, const float *src, const uint32_t *pixels,
                          size_t count, const struct image *shape)
{
    size_t outputs = shape->outputs, panel = (1 + shape->rows * PICTURE_RUN) * PICTURE_PANEL;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < outputs; k += TILE_VECTOR) {
            float *bias = panels + k / PICTURE_PANEL * panel + k % PICTURE_PANEL;
            _mm512_storeu_ps(
                bias, _mm512_add_ps(_mm512_loadu_ps(bias), _mm512_loadu_ps(diff_dst + i * outputs + k)));
        }
    for (size_t k = 0; k < outputs; k += 2 * TILE_VECTOR) {
        float *w = panels + k / PICTURE_PANEL * panel + k % PICTURE_PANEL + PICTURE_PANEL;
        for (size_t r = 0; r < shape->rows; r++, w += PICTURE_RUN * PICTURE_PANEL)
            image_row(w, diff_dst + k, outputs, src + r * shape->stride, pixels, count);
    }
}

extern const struct conv_kernels ISA_NAME(conv_kernels);
const struct conv_kernels ISA_NAME(conv_kernels) = {.image_forward = image_forward,
                                                    .image_weights = image_weights,
                                                    .accumulate = conv_kernel_accumulate,
                                                    .pack_src = pack_src,
                                                    .sum_dst = sum_dst,
                                                    .pack_dst = pack_dst,
                                                    .multiply = conv_kernel_multiply};

#else

extern const struct conv_kernels ISA_NAME(conv_kernels);
const struct conv_kernels ISA_NAME(conv_kernels) = {0};

#endif
