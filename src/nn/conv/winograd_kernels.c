#include "nn/conv/winograd_kernels.h"

#include "base/cpu.h"

extern const struct winograd_kernels winograd_kernels_v2, winograd_kernels_v3, winograd_kernels_v4,
    winograd_kernels_v4bf16;

const struct winograd_kernels *winograd_kernels_best(void)
{
    static const struct winograd_kernels *const tables[CPU_ISA_COUNT] = {
        &winograd_kernels_v2, &winograd_kernels_v3, &winograd_kernels_v4, &winograd_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
