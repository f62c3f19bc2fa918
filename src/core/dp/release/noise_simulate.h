/* noise_simulate.h - noise as it is released, from a seed, for what is measured and not released. */
#ifndef DP_RELEASE_NOISE_SIMULATE_H
#define DP_RELEASE_NOISE_SIMULATE_H

#include "sotto/base.h"

/** For MEASURING only: the same noise law by a fast double sampler from a seeded stream. No ledger is charged, so what
 * comes out must never be released. */
sotto_status noise_simulate(float *vector, size_t n, const char *mechanism, double scale, uint64_t seed,
                            uint64_t draw);

#endif
