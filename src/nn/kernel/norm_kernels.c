#include "nn/kernel/norm_kernels.h"

#include "base/cpu.h"

extern const struct norm_kernels norm_kernels_v2, norm_kernels_v3, norm_kernels_v4, norm_kernels_v4bf16;

const struct norm_kernels *norm_kernels_best(void)
{
    static const struct norm_kernels *const tables[CPU_ISA_COUNT] = {&norm_kernels_v2, &norm_kernels_v3,
                                                                     &norm_kernels_v4, &norm_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
