#include "nn/kernel/example_kernels.h"

extern const struct example_kernels example_kernels_v2, example_kernels_v3, example_kernels_v4,
    example_kernels_v4bf16;

const struct example_kernels *example_kernels_best(void)
{
    static const struct example_kernels *const tables[CPU_ISA_COUNT] = {
        &example_kernels_v2, &example_kernels_v3, &example_kernels_v4, &example_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
