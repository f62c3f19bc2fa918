/* Noise that is drawn one by one (discrete Gaussian, K-norm), the stream, and the time of closed-form accounts.
 * Continuous and discrete Laplace noise: bench_discretised_noise. */
#include "dp/mechanism/mechanism.h"
#include "dp/noise/knorm.h"
#include "rng/chacha.h"
#include "sotto/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine may be shared */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void integer_draws(const struct mechanism *m)
{
    struct noise *s;
    uint64_t ratio;
    unsigned shift;
    if (noise_open(&s) != SOTTO_OK || !lattice_ratio(&ratio, &shift, 12.3))
        return;
    unsigned long sum = 0, count = 300000;
    double start = now();
    for (unsigned long i = 0; i < count; i++)
        sum += (unsigned long)integer_signed(s, m->integer->magnitude, ratio, shift);
    printf("%-18s %.2f million exact draws/s (check %lu)\n", m->name, (double)count / (now() - start) * 1e-6,
           sum & 1);
    noise_close(s);
}

static void vector_draws(void)
{
    enum { DIMENSION = 1000, VECTORS = 300 };
    static double vector[DIMENSION];
    struct noise *s;
    if (noise_open(&s) != SOTTO_OK)
        return;
    double start = now();
    for (int i = 0; i < VECTORS; i++)
        knorm_draw(vector, DIMENSION, 1, s);
    printf("%-18s %.2f million coordinates/s (check %g)\n", "knorm",
           DIMENSION * VECTORS / (now() - start) * 1e-6, vector[0]);
    noise_close(s);
}

static void streams(void)
{
    static uint32_t words[64 * CHACHA_WORDS];
    const unsigned char key[CHACHA_KEY] = {1};
    double start = now();
    for (uint64_t i = 0; i < 2000; i++)
        chacha_kernels_find()->fill(words, key, 64 * i, 64);
    printf("ChaCha20 %.2f GB/s (check %u)\n", 2000 * sizeof words * 1e-9 / (now() - start), words[5]);
}

static void accounts(const struct mechanism *m)
{
    struct sotto_sensitivity s = {1, 1, 0, SOTTO_SENSITIVITY_GIVEN, "", 0};
    struct sotto_account a;
    double sum = 0, scale = 0, start = now();
    int count = 100;
    for (int i = 0; i < count; i++)
        if (sotto_account_release(&a, m->name, 1 + i * 0.01, &s, 1e-5, 1, NULL) == SOTTO_OK)
            sum += a.epsilon.upper;
    double account = (now() - start) / count;
    start = now();
    if (sotto_calibrate(&scale, m->name, &s, (struct sotto_dp){1, 1e-5}, NULL) != SOTTO_OK)
        scale = 0;
    printf("%-18s account %.1f us, calibration %.2f ms (check %g %g)\n", m->name, account * 1e6,
           (now() - start) * 1e3, sum, scale);
}

int main(void)
{
    for (size_t i = 0; mechanism_row(i); i++)
        if (mechanism_row(i)->integer && !mechanism_is_discretised(mechanism_row(i)))
            integer_draws(mechanism_row(i));
    vector_draws();
    streams();
    for (size_t i = 0; mechanism_at(i); i++)
        accounts(mechanism_at(i));
    return 0;
}
