/* Bernoulli(e^-x) from integers, after Canonne, Kamath and Steinke 2020, algorithm 1: for x <= 1 from coins
 * of probability x / K, larger x as that many coins of e^-1 and one of the rest. */
#include "dp/noise/lattice.h"

/* e^(-x) for x = p / q <= 1: the first K at which Bern(x / K) fails is odd with that probability. */
static bool exp_of_fraction(struct noise *s, uint64_t p, uint64_t q)
{
    uint64_t k = 1;
    for (;; k++) {
        uint64_t product;
        bool go = __builtin_mul_overflow(q, k, &product) ? coin_ratio(s, p, q) && coin_ratio(s, 1, k)
                                                         : coin_ratio(s, p, product);
        if (!go)
            return k & 1;
    }
}

bool coin_exp_one(struct noise *s)
{
    return exp_of_fraction(s, 1, 1);
}

bool coin_exp_parts(struct noise *s, uint128 whole, uint64_t p, uint64_t q)
{
    for (; whole > 0; whole--)
        if (!coin_exp_one(s))
            return false;
    return p == 0 || exp_of_fraction(s, p, q);
}

bool coin_exp(struct noise *s, uint64_t p, uint64_t q)
{
    return coin_exp_parts(s, p / q, p % q, q);
}

bool coin_exp_wide(struct noise *s, uint128 k, uint64_t m)
{
    return coin_exp_parts(s, k / m, (uint64_t)(k % m), m);
}
