/* oracle_sweep.h - random arguments for sweeps of double functions against ball arithmetic. */
#ifndef TESTS_ORACLE_SWEEP_H
#define TESTS_ORACLE_SWEEP_H

#include "num/interval.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* splitmix64 */
static inline uint64_t sweep_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Uniform in [low, high). */
static inline double sweep_even(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(sweep_bits(state) >> 11) * 0x1p-53);
}

/** Uniform in its logarithm. */
static inline double sweep_log(uint64_t *state, double low, double high)
{
    return exp(sweep_even(state, log(low), log(high)));
}

/** The truth lies in `oracle` between neighbouring (or equal) doubles: `got` holds it only if it
 * holds both. */
static inline bool sweep_holds(struct interval got, struct interval oracle)
{
    return got.lo <= oracle.lo && got.hi >= oracle.hi;
}

#endif
