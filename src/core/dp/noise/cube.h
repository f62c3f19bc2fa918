/* cube.h - noise of one radius on several numbers that may all move at once. */
#ifndef DP_NOISE_CUBE_H
#define DP_NOISE_CUBE_H

#include "dp/noise/lattice.h"

/** Floors of z in n numbers, of density in proportion to exp(-max |z_j| / scale), n and scale at least 1. Exact. If no number moves by more
 * than D, it is dominated by Laplace noise of that scale on one number that moves by D (docs/derivations/ask.md). The variance of a
 * number is (n + 1) (n + 2) / 3 scale^2. */
void cube_draw(int128 *out, size_t n, uint64_t scale, struct noise *s);

#endif
