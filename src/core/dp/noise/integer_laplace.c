/* Discrete Laplace noise from coins: the tests of propose-test-release. (Releases take it from discretised_noise.h.) */
#include "dp/noise/lattice.h"

/* k with probability proportional to e^(-k 2^shift / m). */
uint128 integer_laplace(struct noise *s, uint64_t m, unsigned shift)
{
    uint128 k = 0;
    while (coin_exp(s, (uint64_t)1 << shift, m))
        k++;
    return k;
}
