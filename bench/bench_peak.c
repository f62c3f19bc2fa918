/* What this machine can do at most: products a second with all operands in registers, in f32 and (where the CPU has
 * them) by pairs of bf16; and bytes a second to and from memory (a = b + s c on arrays beyond every cache: two reads
 * and a write, where the line that is written is read before, which is counted). bench/floor.py turns them into the
 * least time of a step. SOTTO_ISA lowers the level. usage: bench_peak [--threads N]. One JSON line; the best of 9. */
#include "base/cpu.h"
#include "par/par.h"
#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __x86_64__
int main(void)
{
    puts("bench_peak: written for x86-64 only");
    return 0;
}
#else
#include <immintrin.h>

enum { RUNS = 9, CHAINS = 12, TURNS = 1 << 20, TRIAD = 1 << 24 /* floats of an array */, TRIAD_CHUNKS = 64 };

/* Twelve independent chains hide the latency of each; the empty assembly keeps them from being folded. */
#define GO_ON(x, step)                                                                                       \
    x = step(x, x, x);                                                                                       \
    __asm__ volatile("" : "+v"(x))
#define CHAINS_OF(name, level, type, step)                                                                   \
    __attribute__((target(level))) static sotto_status name(void *unused, size_t share, int thread)          \
    {                                                                                                        \
        type a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0}, i = {0}, j = {0},       \
             k = {0}, l = {0};                                                                               \
        (void)unused, (void)share, (void)thread;                                                             \
        for (int turn = 0; turn < TURNS; turn++) {                                                           \
            GO_ON(a, step);                                                                                  \
            GO_ON(b, step);                                                                                  \
            GO_ON(c, step);                                                                                  \
            GO_ON(d, step);                                                                                  \
            GO_ON(e, step);                                                                                  \
            GO_ON(f, step);                                                                                  \
            GO_ON(g, step);                                                                                  \
            GO_ON(h, step);                                                                                  \
            GO_ON(i, step);                                                                                  \
            GO_ON(j, step);                                                                                  \
            GO_ON(k, step);                                                                                  \
            GO_ON(l, step);                                                                                  \
        }                                                                                                    \
        return SOTTO_OK;                                                                                     \
    }
#define PAIRS(x, y, z) _mm512_dpbf16_ps(x, (__m512bh)(y), (__m512bh)(z))
CHAINS_OF(f32_v3, "avx2,fma", __m256, _mm256_fmadd_ps)
CHAINS_OF(f32_v4, "avx512f", __m512, _mm512_fmadd_ps)
CHAINS_OF(bf16_v4, "avx512f,avx512bf16", __m512, PAIRS)

/* GFLOP/s of all threads together; a step of a chain is `products` multiplications and as many sums. */
static double rate(par_body chains, int products, int threads)
{
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        const double start = wall_seconds();
        (void)par_shares((size_t)threads, threads, NULL, chains, NULL);
        const double flops = 2e-9 * products * CHAINS * TURNS * threads / (wall_seconds() - start);
        best = flops > best ? flops : best;
    }
    return best;
}

struct triad {
    float *a, *b, *c;
};

static sotto_status triad_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct triad *t = arg;
    const size_t from = chunk * (TRIAD / TRIAD_CHUNKS);
    for (size_t i = from; i < from + TRIAD / TRIAD_CHUNKS; i++)
        t->a[i] = t->b[i] + 3 * t->c[i];
    return SOTTO_OK;
}

/* GB/s of all threads together; 0: no memory for it. */
static double bandwidth(int threads)
{
    double best = 0;
    float *at = calloc((size_t)3 * TRIAD, sizeof *at);
    struct triad t = {at, at + TRIAD, at + 2 * TRIAD};
    for (int run = 0; at && run < RUNS + 1; run++) { /* the first makes the pages */
        const double start = wall_seconds();
        (void)par_shares(TRIAD_CHUNKS, threads, NULL, triad_chunk, &t);
        const double bytes = 4e-9 * sizeof *at * TRIAD / (wall_seconds() - start);
        best = run && bytes > best ? bytes : best;
    }
    free(at);
    return best;
}

int main(int argc, char **argv)
{
    int threads = cpu_count();
    if (argc == 3 && strcmp(argv[1], "--threads") == 0)
        threads = atoi(argv[2]);
    else if (argc != 1)
        return 64;
    const enum cpu_isa isa = cpu_best_isa();
    if (isa < CPU_V3 || threads < 1) {
        fprintf(stderr, "bench_peak: needs AVX2 and at least one thread\n");
        return 69;
    }
    par_set_threads(threads);
    const double f32 = isa == CPU_V3 ? rate(f32_v3, 8, threads) : rate(f32_v4, 16, threads);
    const double bf16 = isa == CPU_V4_BF16 ? rate(bf16_v4, 32, threads) : 0;
    printf("{\"bench\": \"peak\", \"isa\": \"%s\", \"threads\": %d, \"f32_gflops\": %.1f, \"bf16_gflops\": "
           "%.1f, "
           "\"memory_gbs\": %.1f}\n",
           cpu_isa_name(isa), threads, f32, bf16, bandwidth(threads));
    return 0;
}
#endif
