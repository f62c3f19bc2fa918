/* stopwatch.h - clocks and medians of the benchmarks. */
#ifndef BENCH_STOPWATCH_H
#define BENCH_STOPWATCH_H

#include <stdlib.h>
#include <time.h>

static inline double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double wall_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

/** Of all threads of this process: other programs disturb it less. */
static inline double cpu_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int stopwatch_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Sorts x. */
static inline double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, stopwatch_order);
    return x[n / 2];
}

#endif
