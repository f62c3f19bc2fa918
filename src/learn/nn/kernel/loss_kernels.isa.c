/* Softmax of rows, l2 normalisation and its gradient. Two passes per row (largest entry, then the sum
 * of exponentials below it) so that saturated logits neither overflow nor lose the sum. */
#include "nn/kernel/loss_kernels.h"

#include "nn/kernel/vector_math.h"

#include <float.h>
#include <math.h>

static void row_log_sum(float *top, float *log_sum, size_t *ties, const float *row, size_t width)
{
    size_t whole = width - width % LANES, rest = width - whole;
    f32x16 most = (f32x16){0} - FLT_MAX;
    for (size_t j = 0; j < whole; j += LANES)
        most = lanes_max(lanes_load(row + j), most);
    f32x16 tail = lanes_load_part(row + whole, rest, -FLT_MAX);
    float m = lanes_top(lanes_max(tail, most));
    f32x16 sum = {0};
    i32x16 equal = {0};
    for (size_t j = 0; j < whole; j += LANES) {
        f32x16 x = lanes_load(row + j);
        sum += lanes_exp(x - m);
        equal -= x == m;
    }
    if (rest) {
        float last[LANES];
        lanes_store(last, lanes_exp(tail - m));
        equal -= tail == m;
        memset(last + rest, 0, (LANES - rest) * sizeof *last);
        sum += lanes_load(last);
    }
    size_t count = 0;
    for (int i = 0; i < LANES; i++)
        count += (size_t)equal[i];
    *top = m;
    *log_sum = m + logf(lanes_sum(sum));
    *ties = count;
}

static void pair_gradient(float *grad, const float *s, float row_lse, const float *column_lse, float scale,
                          size_t width)
{
    for (size_t j = 0; j < width; j += LANES) {
        f32x16 x = lanes_load(s + j);
        lanes_store(grad + j, (lanes_exp(x - row_lse) + lanes_exp(x - lanes_load(column_lse + j))) * scale);
    }
}

static void row_softmax(float *prob, const float *row, float lse, float scale, size_t width)
{
    size_t whole = width - width % LANES;
    for (size_t j = 0; j < whole; j += LANES)
        lanes_store(prob + j, lanes_exp(lanes_load(row + j) - lse) * scale);
    if (whole < width) {
        f32x16 last = lanes_exp(lanes_load_part(row + whole, width - whole, 0) - lse) * scale;
        memcpy(prob + whole, &last, (width - whole) * sizeof *prob);
    }
}

static float loss_kernel_dot(const float *a, const float *b, size_t width)
{
    size_t whole = width - width % LANES;
    f32x16 sum = {0};
    for (size_t j = 0; j < whole; j += LANES)
        sum += lanes_load(a + j) * lanes_load(b + j);
    sum += lanes_load_part(a + whole, width - whole, 0) * lanes_load_part(b + whole, width - whole, 0);
    return lanes_sum(sum);
}

static float loss_kernel_normalize(float *dst, const float *src, float floor, size_t width)
{
    float square = loss_kernel_dot(src, src, width);
    float inverse = 1.0f / sqrtf(square > floor ? square : floor);
    if (!(square < FLT_MAX)) /* |src|^2 left the range of float, or src holds a NaN: let the loss show it */
        inverse = NAN;
    for (size_t j = 0; j < width; j++)
        dst[j] = src[j] * inverse;
    return inverse;
}

static void normalize_back(float *diff_src, const float *diff_dst, const float *dst, float inverse,
                           int project, size_t width)
{
    float along = project ? loss_kernel_dot(dst, diff_dst, width) : 0;
    for (size_t j = 0; j < width; j++)
        diff_src[j] = inverse * (diff_dst[j] - dst[j] * along);
}

/* One vector; returns its part without the logarithm, which *product collects: factors are at most 2. */
INLINE f32x16 logistic_lanes(f32x16 *grad, f32x16 *product, f32x16 z, f32x16 t, float scale)
{
    f32x16 e = lanes_exp((f32x16)((i32x16)z | INT32_MIN)), most = lanes_select(z > 0, z, (f32x16){0});
    *product *= 1.0f + e;
    *grad = scale * (lanes_select(z > 0, (f32x16){0} + 1.0f, e) / (1.0f + e) - t);
    return most - z * t;
}

static double lanes_total(f32x16 sum, f32x16 product)
{
    double total = 0;
    for (int i = 0; i < LANES; i++)
        total += (double)sum[i] + log((double)product[i]);
    return total;
}

static double loss_kernel_logistic(float *grad, const float *z, const float *t, float scale, size_t width)
{
    enum { SPAN = 64 * LANES }; /* 2^64 is a float */
    double total = 0;
    size_t whole = width - width % LANES;
    f32x16 slope;
    for (size_t first = 0; first < whole; first += SPAN) {
        f32x16 sum = {0}, product = (f32x16){0} + 1.0f;
        for (size_t j = first; j < whole && j < first + SPAN; j += LANES) {
            sum += logistic_lanes(&slope, &product, lanes_load(z + j), lanes_load(t + j), scale);
            if (grad)
                lanes_store(grad + j, slope);
        }
        total += lanes_total(sum, product);
    }
    for (size_t j = whole; j < width; j++) {
        double e = exp(-fabs((double)z[j]));
        total += (z[j] > 0 ? (double)z[j] : 0) - (double)z[j] * (double)t[j] + log1p(e);
        if (grad)
            grad[j] = (float)((double)scale * ((z[j] > 0 ? 1 : e) / (1 + e) - (double)t[j]));
    }
    return total;
}

const struct loss_kernels ISA_NAME(loss_kernels) = {
    row_log_sum, pair_gradient, row_softmax, loss_kernel_normalize, normalize_back, loss_kernel_logistic};
