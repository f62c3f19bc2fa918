/* Noise on one core: draws per second by law, scale and instruction set, ChaCha20 and slow path included; beside it
 * the parts (ChaCha20 and kernel) alone. CPU time, median of 31; the levels take turns in every round, so that a busy machine slows all of them. */
#include "stopwatch.h"

#include "base/cpu.h"
#include "dp/noise/discretised_noise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRAWS = 1 << 15, ROUNDS = 31 };

static const char *const laws[] = {"logistic", "laplace", "gaussian", "discrete laplace"};

static double seconds_of_fill(const struct discretised_noise *f, const char *level)
{
    static double k[DRAWS];
    setenv("SOTTO_ISA", level, 1);
    double start = cpu_seconds();
    if (discretised_noise_fill_doubles(f, k, 0, DRAWS, 1) != SOTTO_OK)
        exit(1);
    return cpu_seconds() - start;
}

static void row(enum discretised_law law, double exponent, struct noise *keys)
{
    double times[CPU_ISA_COUNT][ROUNDS];
    struct discretised_noise f;
    if (discretised_noise_open(&f, law, 1.37 * exp2(exponent - 1), false, keys) != SOTTO_OK)
        exit(1);
    for (int r = 0; r < ROUNDS; r++)
        for (enum cpu_isa isa = 0; isa <= cpu_hardware_isa() && isa <= CPU_V4; isa++)
            times[isa][r] = seconds_of_fill(&f, cpu_isa_name(isa));
    printf("%-17s m = 1.37 x 2^%-2.0f", laws[law], exponent - 1);
    for (enum cpu_isa isa = 0; isa <= cpu_hardware_isa() && isa <= CPU_V4; isa++) {
        double each = median(times[isa], ROUNDS) / DRAWS;
        printf("   %s %6.2f ns (%3.0f M/s)", cpu_isa_name(isa), 1e9 * each, 1e-6 / each);
    }
    printf("\n");
    discretised_noise_close(&f);
}

/* ns a draw of what a draw is made of, in the first-level cache. */
static void parts(enum cpu_isa isa)
{
    enum { GROUPS = 4, CALLS = 128, EACH = GROUPS * DISCRETISED_GROUP * CALLS };
    static _Alignas(64) uint64_t words[GROUPS * DISCRETISED_GROUP];
    static _Alignas(64) double k[GROUPS * DISCRETISED_GROUP];
    uint64_t doubt[2 * GROUPS];
    const unsigned char key[CHACHA_KEY] = {1};
    double stream[ROUNDS], kernel[DISCRETISED_LAWS][ROUNDS];
    setenv("SOTTO_ISA", cpu_isa_name(isa), 1);
    const struct chacha_kernels *chacha = chacha_kernels_find();
    const struct floor_kernels *floors = floor_kernels_find();
    for (int r = 0; r < ROUNDS; r++) {
        double start = cpu_seconds();
        for (uint64_t i = 0; i < CALLS; i++)
            chacha->fill((uint32_t *)words, key, i * GROUPS, GROUPS);
        stream[r] = cpu_seconds() - start;
        for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++) {
            const struct floor_bounds bounds = floor_bounds_make(law, 0x1.5p31, false, 64);
            start = cpu_seconds();
            for (int i = 0; i < CALLS; i++)
                floors->draw[law](k, doubt, words, GROUPS, &bounds);
            kernel[law][r] = cpu_seconds() - start;
        }
    }
    printf("%s: ChaCha20 %.2f ns, kernels", cpu_isa_name(isa), 1e9 * median(stream, ROUNDS) / EACH);
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++)
        printf(" %.2f", 1e9 * median(kernel[law], ROUNDS) / EACH);
    printf(" ns (logistic, laplace, gaussian, discrete laplace)\n");
}

/* One law at the best level, as bench/run reads it. */
static void rate(enum discretised_law law, struct noise *keys)
{
    double times[ROUNDS];
    struct discretised_noise f;
    if (discretised_noise_open(&f, law, 0x1.5p31, false, keys) != SOTTO_OK)
        exit(1);
    for (int r = 0; r < ROUNDS; r++)
        times[r] = seconds_of_fill(&f, cpu_isa_name(cpu_hardware_isa()));
    printf("{\"bench\": \"noise\", \"law\": \"%s\", \"draws_per_second\": %.0f}\n", laws[law],
           DRAWS / median(times, ROUNDS));
    discretised_noise_close(&f);
}

/* usage: bench_discretised_noise [--law NAME] */
int main(int argc, char **argv)
{
    struct noise *keys;
    if (noise_open(&keys) != SOTTO_OK)
        return 1;
    for (enum discretised_law law = 0; argc > 2 && law < DISCRETISED_LAWS; law++)
        if (strcmp(argv[2], laws[law]) == 0)
            rate(law, keys);
    if (argc > 2)
        return 0;
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++)
        for (double exponent = 24; exponent <= 40; exponent += 8)
            row(law, exponent, keys);
    for (enum cpu_isa isa = 0; isa <= cpu_hardware_isa() && isa <= CPU_V4; isa++)
        parts(isa);
    noise_close(keys);
    return 0;
}
