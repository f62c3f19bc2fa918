/* P(floor X = k) = F((k+1)/m) - F(k/m) = (1 - b) b^k / ((1 + b^k)(1 + b^(k+1))) for k >= 0, b = e^(-1/m): a
 * geometric proposal kept by two logistic coins. It is accepted with probability P(X >= 0) = 1/2 exactly, and
 * floor X is symmetric about -1/2, so the magnitude below has P(k) = 2 P(floor X = k). */
#include "dp/noise/lattice.h"

uint128 lattice_logistic(struct noise *s, uint64_t m)
{
    for (;;) {
        uint128 k = coin_geometric(s, m);
        if (coin_logistic(s, k, m) && coin_logistic(s, k + 1, m))
            return k;
    }
}
