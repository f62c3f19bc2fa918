#include "nn/kernel/depthwise_kernels.h"

#include "base/cpu.h"

extern const struct depthwise_kernels depthwise_kernels_v2, depthwise_kernels_v3, depthwise_kernels_v4,
    depthwise_kernels_v4bf16;

const struct depthwise_kernels *depthwise_kernels_best(void)
{
    static const struct depthwise_kernels *const tables[CPU_ISA_COUNT] = {
        &depthwise_kernels_v2, &depthwise_kernels_v3, &depthwise_kernels_v4, &depthwise_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
