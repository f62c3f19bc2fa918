/* From coins of e^-x: the logistic coin, the geometric variable (Canonne, Kamath and Steinke 2020, algorithm
 * 2) and the half-normal integer (Karney 2016, step N1). */
#include "dp/noise/lattice.h"

/* A fair bit 1 ends with 1; else Bern(e^-x) ends with 0; else again: P(1) = (1/2) / (1/2 + e^-x / 2). */
bool coin_logistic(struct noise *s, uint128 k, uint64_t m)
{
    uint128 whole = k / m;
    uint64_t part = (uint64_t)(k % m);
    for (;;) {
        if (noise_bits(s, 1))
            return true;
        if (coin_exp_parts(s, whole, part, m))
            return false;
    }
}

uint128 coin_geometric(struct noise *s, uint64_t m)
{
    uint64_t part, whole = 0;
    do
        part = coin_below(s, m);
    while (!coin_exp(s, part, m));
    while (coin_exp_one(s))
        whole++;
    return (uint128)whole * m + part;
}

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
