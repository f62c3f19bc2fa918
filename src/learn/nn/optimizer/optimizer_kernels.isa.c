/* One pass over value, state and gradient. Plain loops: the compiler vectorises them at every level. */
#include "nn/optimizer/optimizer.h"

#include "base/cpu.h"

#include <math.h>

static void optimizer_kernel_adam(float *restrict value, float *restrict m, float *restrict v,
                                  const float *restrict grad, size_t n, const struct optimizer_step *s)
{
    const float beta1 = s->beta1, beta2 = s->beta2, rate = s->rate, root_scale = s->root_scale,
                epsilon = s->epsilon, decay = s->weight_decay;
    for (size_t i = 0; i < n; i++) {
        float g = grad[i] + decay * value[i];
        m[i] = beta1 * m[i] + (1 - beta1) * g;
        v[i] = beta2 * v[i] + (1 - beta2) * (g * g);
        value[i] -= rate * m[i] / (sqrtf(v[i]) * root_scale + epsilon);
    }
}

static void optimizer_kernel_sgd(float *restrict value, float *restrict velocity, const float *restrict grad,
                                 size_t n, const struct optimizer_step *s)
{
    const float rate = s->rate, momentum = s->momentum, decay = s->weight_decay;
    if (s->nesterov)
        for (size_t i = 0; i < n; i++) {
            float g = grad[i] + decay * value[i];
            velocity[i] = momentum * velocity[i] + g;
            value[i] -= rate * (g + momentum * velocity[i]);
        }
    else
        for (size_t i = 0; i < n; i++) {
            float g = grad[i] + decay * value[i];
            velocity[i] = momentum * velocity[i] + g;
            value[i] -= rate * velocity[i];
        }
}

const struct optimizer_kernels ISA_NAME(optimizer_kernels) = {optimizer_kernel_adam, optimizer_kernel_sgd};
