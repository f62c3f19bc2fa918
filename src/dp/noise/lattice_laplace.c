/* The magnitude of Laplace noise is exponential, and the floor of an exponential variable is geometric. */
#include "dp/noise/lattice.h"

uint128 lattice_laplace(struct noise *s, uint64_t m)
{
    return coin_geometric(s, m);
}
