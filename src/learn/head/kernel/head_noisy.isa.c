#include "head/kernel/head_noisy.h"

#include <math.h>
#include <stdint.h>

static void head_noisy_sgd(double *restrict w, double *restrict mean, const double *restrict sum,
                           size_t count, const struct noisy_update *u)
{
    double share = u->share, rate = u->rate, momentum = u->momentum;
    for (size_t i = 0; i < count; i++) {
        double m = momentum * mean[i] + sum[i] * share;
        mean[i] = m;
        w[i] -= rate * m;
    }
}

static void head_noisy_adam(double *restrict w, double *restrict mean, double *restrict square,
                            const double *restrict sum, size_t count, const struct noisy_update *u)
{
    double share = u->share, rate = u->rate, keep1 = u->keep1, keep2 = u->keep2, epsilon = u->epsilon;
    for (size_t i = 0; i < count; i++) {
        double g = sum[i] * share, m = mean[i], s = square[i];
        m += (1 - keep1) * (g - m);
        s += (1 - keep2) * (g * g - s);
        mean[i] = m;
        square[i] = s;
        w[i] -= rate * m / (sqrt(s) + epsilon);
    }
}

static bool head_noisy_within(const double *x, size_t count, double most)
{
    uint64_t out = 0;
    for (size_t i = 0; i < count; i++)
        out |= fabs(x[i]) <= most ? 0 : 1;
    return !out;
}

extern const struct noisy_kernels ISA_NAME(noisy_kernels);
const struct noisy_kernels ISA_NAME(noisy_kernels) = {head_noisy_sgd, head_noisy_adam, head_noisy_within};
