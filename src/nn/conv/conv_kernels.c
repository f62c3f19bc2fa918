#include "nn/conv/conv_kernels.h"

#include "base/cpu.h"

extern const struct conv_kernels conv_kernels_v2, conv_kernels_v3, conv_kernels_v4, conv_kernels_v4bf16;

const struct conv_kernels *conv_kernels_best(void)
{
    static const struct conv_kernels *const tables[CPU_ISA_COUNT] = {&conv_kernels_v2, &conv_kernels_v3,
                                                                     &conv_kernels_v4, &conv_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
