/* cpu_set.h - which CPUs this process was given, and which there are. */
#ifndef BASE_CPU_SET_H
#define BASE_CPU_SET_H

#include <stdint.h>

/** Bit i % 64 of word i / 64: this process may run on CPU i (affinity). All 0 where the system does not say. */
enum { CPU_SET_WORDS = 16 };
void cpu_set_read(uint64_t out[CPU_SET_WORDS]);
/** CPUs of the machine that are switched on, at least 1. */
int cpu_installed(void);

#endif
