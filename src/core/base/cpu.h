/* cpu.h - which instruction set our own kernels may use on this machine. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

/* A file src/X/NAME.isa.c is compiled for v2, v3 and v4, some for v4bf16 too, with ISA_NAME(f) giving each copy its own suffix;
 * the table of the best level is picked once, when a plan or handle is made, and stored there. */
enum cpu_isa { CPU_V2, CPU_V3, CPU_V4, CPU_V4_BF16, CPU_ISA_COUNT };

/** Best level of this CPU. */
enum cpu_isa cpu_hardware_isa(void);
/** The level that SOTTO_ISA=v2|v3|v4|v4bf16 in the environment names; else the highest there is. An unknown
 * name counts as unset here: sotto_check_environment() refuses it. */
enum cpu_isa cpu_isa_limit(void);
/** The lower of both. */
enum cpu_isa cpu_best_isa(void);
const char *cpu_isa_name(enum cpu_isa isa);
/** CPUs this process may run on (affinity), at least 1. */
int cpu_count(void);

#define ISA_GLUE2(name, suffix) name##_##suffix
#define ISA_GLUE(name, suffix) ISA_GLUE2(name, suffix)
#define ISA_NAME(name) ISA_GLUE(name, SOTTO_ISA_SUFFIX)

/* Declares the copies of `name` (a table or a function of type `kind`) and lists them as name_levels[isa]. A CPU with bf16 takes the
 * copy of v4, which knows nothing of it; the few files that use its instructions have a fourth (cmake/library.cmake). */
#define ISA_LEVELS(kind, name) ISA_LIST(kind, name, v4)
#define ISA_LEVELS_BF16(kind, name) ISA_LIST(kind, name, v4bf16)
#define ISA_LIST(kind, name, last)                                                                           \
    extern kind name##_v2, name##_v3, name##_v4, name##_##last;                                              \
    static kind *const name##_levels[] = {&name##_v2, &name##_v3, &name##_v4, &name##_##last};               \
    _Static_assert(sizeof name##_levels / sizeof *name##_levels == CPU_ISA_COUNT, "a copy for each level")
/* The same, and the function `find` that returns the copy of the best level. */
#define ISA_TABLE(kind, name, find)                                                                          \
    ISA_LEVELS(kind, name);                                                                                  \
    ISA_FIND(kind, name, find)
#define ISA_TABLE_BF16(kind, name, find)                                                                     \
    ISA_LEVELS_BF16(kind, name);                                                                             \
    ISA_FIND(kind, name, find)
#define ISA_FIND(kind, name, find)                                                                           \
    kind *find(void)                                                                                         \
    {                                                                                                        \
        return name##_levels[cpu_best_isa()];                                                                \
    }                                                                                                        \
    _Static_assert(1, "")

#endif
