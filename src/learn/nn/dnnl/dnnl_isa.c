#include "nn/dnnl/dnnl_isa.h"

#include "base/cpu.h"
#include "nn/backend.h"

void dnnl_limit_isa(void)
{
#if defined(__x86_64__)
    static const dnnl_cpu_isa_t levels[] = {
        [CPU_V2] = dnnl_cpu_isa_sse41, [CPU_V3] = dnnl_cpu_isa_avx2, [CPU_V4] = dnnl_cpu_isa_avx512_core};
    enum cpu_isa limit = cpu_isa_limit();
    if (limit < CPU_V4_BF16)
        (void)dnnl_set_max_cpu_isa(levels[limit]); /* refused after the first use, as the header says */
#endif
}

/* Instruction sets are bit sets: a better one contains the bits of those below it. */
bool dnnl_has_isa(dnnl_cpu_isa_t wanted)
{
    return ((unsigned)dnnl_get_effective_cpu_isa() & (unsigned)wanted) == (unsigned)wanted;
}
