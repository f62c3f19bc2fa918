/* worse.h - the larger of two errors; fmax() passes over a NaN, and a test with it. */
#ifndef TESTS_WORSE_H
#define TESTS_WORSE_H

#include <math.h>

/** Returns: the larger one; NaN if one is. */
static inline double worse(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

#endif
