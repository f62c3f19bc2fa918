/* The table of the best instruction set, and one kernel over a whole tensor. */
#include "nn/example_kernels.h"

#include "par/par.h"

extern const struct example_kernels example_kernels_v2, example_kernels_v3, example_kernels_v4,
    example_kernels_v4bf16;

const struct example_kernels *example_kernels_best(void)
{
    static const struct example_kernels *const tables[CPU_ISA_COUNT] = {
        &example_kernels_v2, &example_kernels_v3, &example_kernels_v4, &example_kernels_v4bf16};
    return tables[cpu_best_isa()];
}

enum { CHUNK = 16384 };
struct addition {
    double *sum;
    const float *x;
    size_t n;
    const struct example_kernels *kernels;
};

static sotto_status add_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct addition *a = arg;
    size_t first = chunk * CHUNK, count = a->n - first < CHUNK ? a->n - first : CHUNK;
    a->kernels->add_scaled(a->sum + first, a->x + first, 1, count);
    return SOTTO_OK;
}

void example_add(double *sum, const float *x, size_t n, int threads)
{
    struct addition a = {sum, x, n, example_kernels_best()};
    (void)par_shares((n + CHUNK - 1) / CHUNK, threads, add_chunk, &a);
}
