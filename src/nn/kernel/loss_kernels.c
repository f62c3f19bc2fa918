#include "nn/kernel/loss_kernels.h"

extern const struct loss_kernels loss_kernels_v2, loss_kernels_v3, loss_kernels_v4, loss_kernels_v4bf16;

const struct loss_kernels *loss_kernels_best(void)
{
    static const struct loss_kernels *const tables[CPU_ISA_COUNT] = {&loss_kernels_v2, &loss_kernels_v3,
                                                                     &loss_kernels_v4, &loss_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
