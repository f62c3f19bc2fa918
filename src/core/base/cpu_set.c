#include "base/cpu_set.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

void cpu_set_read(uint64_t out[CPU_SET_WORDS])
{
    cpu_set_t set;
    memset(out, 0, CPU_SET_WORDS * sizeof *out);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (size_t i = 0; i < 64 * (size_t)CPU_SET_WORDS; i++)
        out[i / 64] |= (uint64_t)(CPU_ISSET(i, &set) != 0) << i % 64;
}

int cpu_installed(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}
