/* Element-wise kernels; the loops are plain and the compiler vectorises them for each level. */
#include "nn/kernel/kernels.h"

#include "base/cpu.h"
#include "nn/kernel/bf16.h"
#include "nn/kernel/vector_math.h"

static void relu_f32(void *data, size_t n)
{
    float *x = data;
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

/* Negative bf16 numbers are those with the sign bit: as int16 they are < 0. */
static void relu_bf16(void *data, size_t n)
{
    int16_t *x = data;
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

static void mask_f32(void *diff, const void *data, size_t n)
{
    float *d = diff;
    const float *x = data;
    for (size_t i = 0; i < n; i++)
        d[i] = x[i] > 0 ? d[i] : 0;
}

static void mask_bf16(void *diff, const void *data, size_t n)
{
    int16_t *d = diff;
    const int16_t *x = data;
    for (size_t i = 0; i < n; i++)
        d[i] = x[i] > 0 ? d[i] : 0;
}

static void add_f32(void *sum, const void *data, size_t n)
{
    float *y = sum;
    const float *x = data;
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

INLINE void add_some(void *sum, const void *data, size_t i, size_t n)
{
    wide_put(sum, i, wide_get(sum, i, n, 1) + wide_get(data, i, n, 1), n, 1);
}

static void add_bf16(void *sum, const void *data, size_t n)
{
    enum { WIDTH = VECTOR_BYTES / sizeof(float) };
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        add_some(sum, data, i, WIDTH);
    if (i < n)
        add_some(sum, data, i, n - i);
}

static void row_sums_f32(float *sums, const void *data, size_t rows, size_t columns)
{
    const float *x = data;
    for (size_t c = 0; c < columns; c++)
        sums[c] = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            sums[c] += x[r * columns + c];
}

static void row_sums_bf16(float *sums, const void *data, size_t rows, size_t columns)
{
    const bf16 *x = data;
    for (size_t c = 0; c < columns; c++)
        sums[c] = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            sums[c] += bf16_to_float(x[r * columns + c]);
}

/* (1 - e) / (1 + e) with e = exp(-2 |x|), then the sign of x: no overflow at either end. NaN stays NaN. */
INLINE f32x16 tanh_of(f32x16 x)
{
    const i32x16 sign = (i32x16)x & INT32_MIN;
    f32x16 e = lanes_exp((f32x16)((i32x16)(x * -2.0f) | INT32_MIN));
    return (f32x16)((i32x16)((1.0f - e) / (1.0f + e)) | sign);
}

INLINE void tanh_span(void *y, const void *x, size_t n, int half)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        lanes_put(y, i, tanh_of(lanes_get(x, i, LANES, half)), LANES, half);
    if (i < n)
        lanes_put(y, i, tanh_of(lanes_get(x, i, n - i, half)), n - i, half);
}

static void tanh_f32(void *y, const void *x, size_t n)
{
    tanh_span(y, x, n, 0);
}

static void tanh_bf16(void *y, const void *x, size_t n)
{
    tanh_span(y, x, n, 1);
}

static void tanh_back_f32(void *diff_x, const void *diff_y, const void *y, size_t n)
{
    float *to = diff_x;
    const float *from = diff_y, *t = y;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] * (1 - t[i] * t[i]);
}

static void tanh_back_bf16(void *diff_x, const void *diff_y, const void *y, size_t n)
{
    bf16 *to = diff_x;
    const bf16 *from = diff_y, *t = y;
    for (size_t i = 0; i < n; i++) {
        float value = bf16_to_float(t[i]);
        to[i] = bf16_from_float(bf16_to_float(from[i]) * (1 - value * value));
    }
}

static void leaky_f32(void *to, const void *from, float slope, size_t n)
{
    float *y = to;
    const float *x = from;
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : slope * x[i];
}

static void leaky_bf16(void *to, const void *from, float slope, size_t n)
{
    bf16 *y = to;
    const bf16 *x = from;
    for (size_t i = 0; i < n; i++) {
        float value = bf16_to_float(x[i]);
        y[i] = bf16_from_float(value > 0 ? value : slope * value);
    }
}

static void leaky_back_f32(void *diff_x, const void *diff_y, const void *result, float slope, size_t n)
{
    float *to = diff_x;
    const float *from = diff_y, *y = result;
    for (size_t i = 0; i < n; i++)
        to[i] = y[i] > 0 ? from[i] : slope * from[i];
}

static void leaky_back_bf16(void *diff_x, const void *diff_y, const void *result, float slope, size_t n)
{
    bf16 *to = diff_x;
    const bf16 *from = diff_y, *y = result;
    for (size_t i = 0; i < n; i++)
        to[i] = bf16_to_float(y[i]) > 0 ? from[i] : bf16_from_float(slope * bf16_to_float(from[i]));
}

static void most_f32(float *restrict most, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        most[i] = ((x[i] > most[i]) | (x[i] != x[i])) ? x[i] : most[i];
}

static void route_f32(float *restrict diff, float *restrict left, const float *restrict x,
                      const float *restrict most, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float taken = x[i] == most[i] ? left[i] : 0;
        diff[i] = taken;
        left[i] = x[i] == most[i] ? 0 : left[i];
    }
}

static void to_bf16(bf16 *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = bf16_from_float(x[i]);
}

static void to_f32(float *y, const bf16 *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = bf16_to_float(x[i]);
}

extern const struct kernels ISA_NAME(pointwise_kernels);
const struct kernels ISA_NAME(pointwise_kernels) = {.relu = {relu_f32, relu_bf16},
                                                    .mask = {mask_f32, mask_bf16},
                                                    .add = {add_f32, add_bf16},
                                                    .row_sums = {row_sums_f32, row_sums_bf16},
                                                    .tanh = {tanh_f32, tanh_bf16},
                                                    .tanh_back = {tanh_back_f32, tanh_back_bf16},
                                                    .leaky = {leaky_f32, leaky_bf16},
                                                    .leaky_back = {leaky_back_f32, leaky_back_bf16},
                                                    .most = most_f32,
                                                    .route = route_f32,
                                                    .to_bf16 = to_bf16,
                                                    .to_f32 = to_f32};
