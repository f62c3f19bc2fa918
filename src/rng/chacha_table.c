#include "base/cpu.h"
#include "rng/chacha.h"

extern const struct chacha_kernels chacha_kernels_v2, chacha_kernels_v3, chacha_kernels_v4,
    chacha_kernels_v4bf16;

const struct chacha_kernels *chacha_kernels_find(void)
{
    static const struct chacha_kernels *const tables[CPU_ISA_COUNT] = {
        &chacha_kernels_v2, &chacha_kernels_v3, &chacha_kernels_v4, &chacha_kernels_v4bf16};
    return tables[cpu_best_isa()];
}
