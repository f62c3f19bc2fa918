/* Scale m 2^-shift: with V geometric, P(V) proportional to e^(-V/m), floor(V / 2^shift) is geometric with
 * P(k) proportional to e^(-k 2^shift / m). */
#include "dp/noise/lattice.h"

uint128 integer_laplace(struct noise *s, uint64_t m, unsigned shift)
{
    return coin_geometric(s, m) >> shift;
}

int128 integer_signed(struct noise *s, integer_magnitude *magnitude, uint64_t m, unsigned shift)
{
    for (;;) {
        int128 k = (int128)magnitude(s, m, shift);
        bool negative = noise_bits(s, 1);
        if (!negative)
            return k;
        if (k != 0)
            return -k;
    }
}
