#include "base/cpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CPU_ISA_COUNT] = {"v2", "v3", "v4", "v4bf16"};

enum cpu_isa cpu_best_isa(void)
{
    enum cpu_isa best = CPU_V2;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        best = CPU_V3;
    if (best == CPU_V3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        best = CPU_V4;
    if (best == CPU_V4 && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni"))
        best = CPU_V4_BF16;
#endif
    const char *cap = getenv("SOTTO_ISA");
    for (int i = 0; cap && i < CPU_ISA_COUNT; i++)
        if (strcmp(cap, names[i]) == 0 && i < (int)best)
            best = (enum cpu_isa)i;
    return best;
}

const char *cpu_isa_name(enum cpu_isa isa)
{
    return (unsigned)isa < CPU_ISA_COUNT ? names[isa] : "unknown";
}

int cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? count : 1;
}
