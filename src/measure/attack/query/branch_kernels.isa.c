/* Sums run along outputs, or in sixteen lanes: the same bits at every level. */
#include "attack/query/branch_net.h"

#include <math.h>

enum { LANES = 16 };

static void branch_kernel_forward(float *restrict value, const float *restrict x, const float *restrict w,
                                  size_t in, size_t out)
{
    for (size_t i = 0; i < in; i++) {
        const float scale = x[i];
        if (scale == 0)
            continue;
        for (size_t o = 0; o < out; o++)
            value[o] += scale * w[i * out + o];
    }
}

static float branch_kernel_product(const float *restrict a, const float *restrict b, size_t n)
{
    float lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        lanes[i % LANES] += a[i] * b[i];
    for (size_t k = 0; k < LANES; k++)
        sum += lanes[k];
    return sum;
}

static void branch_kernel_backward(float *restrict grad, float *restrict below, const float *restrict x,
                                   const float *restrict w, const float *restrict diff, size_t in, size_t out)
{
    for (size_t i = 0; i < in; i++) {
        const float scale = x[i];
        for (size_t o = 0; scale != 0 && o < out; o++)
            grad[i * out + o] += scale * diff[o];
        if (below)
            below[i] = branch_kernel_product(w + i * out, diff, out);
    }
    for (size_t o = 0; o < out; o++)
        grad[in * out + o] += diff[o];
}

static void branch_kernel_update(float *restrict w, float *restrict grad, float *restrict mean,
                                 float *restrict square, size_t n, const struct branch_update *u)
{
    for (size_t j = 0; j < n; j++) {
        float g = grad[j] * u->share;
        mean[j] = u->keep1 * mean[j] + (1 - u->keep1) * g;
        square[j] = u->keep2 * square[j] + (1 - u->keep2) * g * g;
        w[j] -= u->rate * mean[j] / (sqrtf(square[j] + 1e-30f) + u->epsilon);
        grad[j] = 0;
    }
}

extern const struct branch_kernels ISA_NAME(branch_kernels);
const struct branch_kernels ISA_NAME(branch_kernels) = {branch_kernel_forward, branch_kernel_backward,
                                                        branch_kernel_update};
