#include "base/cpu.h"
#include "rng/chacha.h"

ISA_TABLE(const struct chacha_kernels, chacha_kernels, chacha_kernels_find);
