/* lattice_fixed.h - the same lattice noise in a fixed number of steps, without branches: its running time
 * does not depend on the noise. It is not exact: per coordinate the law is within FIXED_DISTANCE of the exact
 * one in total variation (proved below 2^-120, docs/derivations/mechanisms.md, section 7), which the account
 * adds to delta, so there is no pure epsilon. */
#ifndef DP_NOISE_LATTICE_FIXED_H
#define DP_NOISE_LATTICE_FIXED_H

#include "dp/noise/lattice.h"

enum { FIXED_BITS = 60, FIXED_LIMBS = 3 };
#define FIXED_DISTANCE 0x1p-110

/** e^(-2^i / m) as 192-bit fractions, least significant limb first, each at most 2 * 2^-192 too small. */
struct fixed_table {
    uint64_t factor[FIXED_BITS][FIXED_LIMBS];
};
/** 2^52 <= m < 2^53. */
void fixed_table_make(struct fixed_table *out, uint64_t m);

/** floor(|X| / r) as lattice_magnitude, two draws at once; always 384 random bits and FIXED_BITS steps. */
typedef void fixed_magnitude(uint64_t out[2], struct noise *s, const struct fixed_table *table);
fixed_magnitude fixed_laplace, fixed_logistic;

#endif
