/* poisson_sample.h - the records of a step: one coin for each record, exact to 2^-64, by vectors. */
#ifndef DP_NOISE_POISSON_SAMPLE_H
#define DP_NOISE_POISSON_SAMPLE_H

#include "rng/noise.h"

struct coin_kernels {
    /** rows[0 .. result): start + i for every i < n with byte[i] <= limit, ascending. Reads whole 64
     * bytes. */
    size_t (*list)(uint32_t *rows, const uint8_t *byte, size_t n, uint8_t limit, uint32_t start);
};
const struct coin_kernels *coin_kernels_find(void);

/** rows[0 .. result): each of 0 .. n - 1 with probability rate / 2^64, independently; ascending. The coins
 * come from a stream under a key from `s`, their last bits, where those decide, from `s` itself. */
size_t coins_draw(uint32_t *rows, size_t n, uint64_t rate, struct noise *s);

#endif
