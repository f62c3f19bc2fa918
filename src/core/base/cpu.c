#include "base/cpu.h"

#include "base/status.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CPU_ISA_COUNT] = {"v2", "v3", "v4", "v4bf16"};

enum cpu_isa cpu_isa_limit(void)
{
    const char *limit = getenv("SOTTO_ISA");
    int level = 0;
    while (level < CPU_V4_BF16 && !(limit && strcmp(limit, names[level]) == 0))
        level++;
    return (enum cpu_isa)level;
}

sotto_status sotto_check_environment(void)
{
    const char *limit = getenv("SOTTO_ISA");
    if (limit && strcmp(limit, names[cpu_isa_limit()]) != 0)
        return status_fail(
            SOTTO_EUSAGE,
            "SOTTO_ISA is '%s'; expected v2, v3, v4 or v4bf16 (unset it for the best level of this machine)",
            limit);
    return SOTTO_OK;
}

enum cpu_isa cpu_hardware_isa(void)
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
    return best;
}

enum cpu_isa cpu_best_isa(void)
{
    enum cpu_isa hardware = cpu_hardware_isa(), limit = cpu_isa_limit();
    return hardware < limit ? hardware : limit;
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
