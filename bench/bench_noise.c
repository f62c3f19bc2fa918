/* Noise draws per second on one core, by mechanism; whole sums of fast noise; how far the time of a draw
 * tells its size, for the exact samplers and for those of constant time; the time of closed-form accounts. */
#include "dp/noise/knorm.h"
#include "dp/mechanism/mechanism.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine may be shared */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void draws(const struct mechanism *m)
{
    struct noise *s;
    if (noise_open(&s) != SOTTO_OK)
        return;
    struct lattice lattice = lattice_make(0.1);
    unsigned long sum = 0, count = 1000000;
    double start = now();
    for (unsigned long i = 0; i < count; i++)
        sum += (unsigned long)lattice_release(s, 0, m->magnitude(s, lattice.m));
    double seconds = now() - start;
    noise_close(s);
    printf("%-18s %.2f million exact draws/s (check %lu)\n", m->name, (double)count / seconds * 1e-6,
           sum & 1);
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

static void fixed_draws(const struct mechanism *m, const struct fixed_table *table)
{
    struct noise *s;
    if (noise_open(&s) != SOTTO_OK)
        return;
    unsigned long sum = 0, count = 1000000;
    double start = now();
    for (unsigned long i = 0; i < count; i += 2) {
        uint64_t pair[2];
        m->fixed(pair, s, table);
        sum += (unsigned long)(lattice_release(s, 0, pair[0]) + lattice_release(s, 0, pair[1]));
    }
    printf("%-18s %.2f million draws/s in constant time (check %lu)\n", m->name,
           (double)count / (now() - start) * 1e-6, sum & 1);
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

/* --- fast noise on whole sums --- */

static int by_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Microseconds of a sum: CPU time of one thread (median), or what the clock says for two (at best: other work
 * keeps one of them waiting). */
static double sum_time(size_t n, enum fast_law law, bool single, int threads)
{
    enum { ROUNDS = 31 };
    static double sum[1 << 20], times[ROUNDS];
    unsigned char key[CHACHA_KEY] = {1};
    const struct fast_sum how = {law, 1.5, single, threads};
    size_t calls = 1 + 200000 / n;
    for (int r = 0; r < ROUNDS; r++) {
        double start = threads > 1 ? wall() : now();
        for (size_t i = 0; i < calls; i++) {
            key[1] = (unsigned char)i;
            fast_noise_add(sum, n, &how, key);
        }
        times[r] = ((threads > 1 ? wall() : now()) - start) / (double)calls;
    }
    qsort(times, ROUNDS, sizeof *times, by_seconds);
    return 1e6 * times[threads > 1 ? 0 : ROUNDS / 2];
}

static void fast_sums(const struct mechanism *m)
{
    const size_t sizes[] = {1290, 179556, 1 << 20};
    for (int i = 0; i < 6; i++) {
        size_t n = sizes[i / 2];
        bool single = i % 2;
        double one = sum_time(n, m->fast, single, 1), two = sum_time(n, m->fast, single, 2);
        printf("%-9s fast, %7zu %s: %8.1f us (%.2f ns each); two threads at best %.1f us by the clock\n",
               m->name, n, single ? "floats " : "doubles", one, 1e3 * one / (double)n, two);
    }
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

/* --- does the time tell the size? --- */

static unsigned long long ticks(void)
{
#if defined(__x86_64__)
    unsigned auxiliary;
    return __builtin_ia32_rdtscp(&auxiliary);
#else
    return (unsigned long long)(now() * 1e9);
#endif
}

struct timed {
    double size, time; /* in scales; in ticks */
};

static int by_time(const void *a, const void *b)
{
    double x = ((const struct timed *)a)->time, y = ((const struct timed *)b)->time;
    return x < y ? -1 : x > y;
}
static int by_size(const void *a, const void *b)
{
    double x = ((const struct timed *)a)->size, y = ((const struct timed *)b)->size;
    return x < y ? -1 : x > y;
}

/* Pearson's r between size and time, and the mean time of the largest tenth over that of the smallest,
 * without the slowest 1 % (interrupts, refills of the stream). Under independence |r| stays below 3 /
 * sqrt(n). */
static void report_timing(const char *name, const char *variant, struct timed *draws, size_t n)
{
    double mean_size = 0, mean_time = 0, product = 0, size2 = 0, time2 = 0, first = 0, last = 0;
    qsort(draws, n, sizeof *draws, by_time);
    n -= n / 100;
    for (size_t i = 0; i < n; i++) {
        mean_size += draws[i].size / (double)n;
        mean_time += draws[i].time / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double x = draws[i].size - mean_size, y = draws[i].time - mean_time;
        product += x * y;
        size2 += x * x;
        time2 += y * y;
    }
    qsort(draws, n, sizeof *draws, by_size);
    for (size_t i = 0; i < n / 10; i++) {
        first += draws[i].time;
        last += draws[n - 1 - i].time;
    }
    printf("%-9s %-14s %7.0f ticks a draw, correlation of time and size %+.4f (3 sigma of none: %.4f), "
           "largest / "
           "smallest tenth %.3f\n",
           name, variant, mean_time, product / sqrt(size2 * time2), 3 / sqrt((double)n), last / first);
}

static void timing(const struct mechanism *m, const struct fixed_table *table, uint64_t scale)
{
    enum { DRAWS = 400000 };
    static struct timed exact[DRAWS], fixed[DRAWS];
    struct noise *s;
    if (noise_open(&s) != SOTTO_OK)
        return;
    for (size_t i = 0; i < DRAWS; i++) { /* interleaved: both see the same machine */
        unsigned long long start = ticks();
        uint128 k = m->magnitude(s, scale);
        unsigned long long middle = ticks();
        uint64_t pair[2];
        m->fixed(pair, s, table);
        unsigned long long end = ticks();
        exact[i] = (struct timed){(double)k / (double)scale, (double)(middle - start)};
        fixed[i] = (struct timed){(double)(pair[0] + pair[1]) / (double)scale, (double)(end - middle)};
    }
    noise_close(s);
    report_timing(m->name, "exact", exact, DRAWS);
    report_timing(m->name, "constant time", fixed, DRAWS);
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
    static struct fixed_table table;
    struct lattice lattice = lattice_make(0.1);
    double start = now();
    fixed_table_make(&table, lattice.m);
    printf("table of the sampler of constant time: %.2f ms\n", (now() - start) * 1e3);
    for (size_t i = 0; mechanism_at(i); i++)
        draws(mechanism_at(i));
    for (size_t i = 0; mechanism_row(i); i++) {
        const struct mechanism *m = mechanism_row(i);
        if (m->integer)
            integer_draws(m);
        if (m->fixed)
            fixed_draws(m, &table);
    }
    vector_draws();
    streams();
    for (size_t i = 0; mechanism_at(i); i++)
        if (mechanism_at(i)->fast)
            fast_sums(mechanism_at(i));
    for (size_t i = 0; mechanism_at(i); i++)
        if (mechanism_at(i)->fixed)
            timing(mechanism_at(i), &table, lattice.m);
    for (size_t i = 0; mechanism_at(i); i++)
        accounts(mechanism_at(i));
    return 0;
}
