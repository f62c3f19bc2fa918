/* Exact noise draws per second on one core, by mechanism, and the time of closed-form accounts. */
#include "dp/mechanism.h"

#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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
    printf("%-10s %.2f million exact draws/s (check %lu)\n", m->name, (double)count / seconds * 1e-6,
           sum & 1);
}

static void accounts(const struct mechanism *m)
{
    struct sotto_sensitivity s = {1, 1, 0, SOTTO_SENSITIVITY_GIVEN, "", 0};
    struct sotto_account a;
    double sum = 0, scale = 0, start = now();
    int count = 100;
    for (int i = 0; i < count; i++)
        if (sotto_account_release(&a, m->name, 1 + i * 0.01, &s, 1e-5, 1) == SOTTO_OK)
            sum += a.epsilon.upper;
    double account = (now() - start) / count;
    start = now();
    if (sotto_calibrate(&scale, m->name, &s, (struct sotto_dp){1, 1e-5}) != SOTTO_OK)
        scale = 0;
    printf("%-10s account %.1f us, calibration %.2f ms (check %g %g)\n", m->name, account * 1e6,
           (now() - start) * 1e3, sum, scale);
}

int main(void)
{
    for (size_t i = 0; mechanism_at(i); i++)
        draws(mechanism_at(i));
    for (size_t i = 0; mechanism_at(i); i++)
        accounts(mechanism_at(i));
    return 0;
}
