/* From coins of e^-x: the half-normal integer (Karney 2016, step N1). */
#include "dp/noise/lattice.h"

/* k with probability proportional to exp(-k^2 / 2): geometric in e^(-1/2), kept with e^(-k (k-1) / 2). */
uint64_t coin_half_normal(struct noise *s)
{
    for (;;) {
        uint64_t k = 0;
        while (coin_exp(s, 1, 2))
            k++;
        uint64_t left = k > 1 ? k * (k - 1) : 0;
        while (left > 0 && coin_exp(s, 1, 2))
            left--;
        if (left == 0)
            return k;
    }
}
