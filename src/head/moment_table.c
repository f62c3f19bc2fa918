#include "head/moments.h"

#include <string.h>

#define ROW(name) extern const struct moment_trainer moment_##name;
#include "head/moment_list.h"
#undef ROW

static const struct moment_trainer *const trainers[] = {
#define ROW(name) &moment_##name,
#include "head/moment_list.h"
#undef ROW
};

const struct moment_trainer *moment_trainer_at(size_t i)
{
    return i < sizeof trainers / sizeof *trainers ? trainers[i] : NULL;
}

const struct moment_trainer *moment_trainer_find(const char *name)
{
    const struct moment_trainer *t;
    for (size_t i = 0; (t = moment_trainer_at(i)); i++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

extern const struct moment_kernels moment_kernels_v2, moment_kernels_v3, moment_kernels_v4,
    moment_kernels_v4bf16;

const struct moment_kernels *moment_kernels_find(enum cpu_isa *isa)
{
    static const struct moment_kernels *const tables[CPU_ISA_COUNT] = {
        &moment_kernels_v2, &moment_kernels_v3, &moment_kernels_v4, &moment_kernels_v4bf16};
    *isa = cpu_best_isa();
    return tables[*isa];
}
