#define HEAD_REAL double
#define HEAD_REAL_IS_DOUBLE
#include "head/kernel/head_dense.h"
#include "head/private/moments.h"

static void moment_kernel_add(double *sums, const double *z, size_t ld, size_t rows, size_t first,
                              size_t strip, double *tile)
{
    size_t column = first / MOMENT_ALIGN * MOMENT_ALIGN;
    struct product p = {tile, ld, z + first, 1, ld, z + column, ld, strip, ld - column, rows, NULL};
    multiply(&p);
    for (size_t i = 0; i < strip; i++) {
        double *to = sums + (first + i) * ld + column;
        for (size_t j = 0; j < ld - column; j++)
            to[j] += tile[i * ld + j];
    }
}

extern const struct moment_kernels ISA_NAME(moment_kernels);
const struct moment_kernels ISA_NAME(moment_kernels) = {moment_kernel_add};
