/* Exact coins from random bits, after Canonne, Kamath and Steinke 2020, algorithms 1-2.
 * Bern(p / (q K)) runs as one comparison of a random fraction with p / (q K), 64 bits at a time: the first 64
 * bits decide except with probability 2^-64, and then the remainder of the division continues exactly. */
#include "dp/lattice.h"

bool coin_ratio(struct noise *s, uint64_t p, uint64_t q)
{
    if (p >= q)
        return true;
    for (;;) {
        uint128 scaled = (uint128)p << 64;
        uint64_t digit = (uint64_t)(scaled / q); /* next 64 bits of p / q */
        uint64_t word = noise_u64(s);
        if (word != digit)
            return word < digit;
        p = (uint64_t)(scaled % q);
        if (p == 0)
            return false; /* the random fraction is at least p / q */
    }
}

uint64_t coin_below(struct noise *s, uint64_t n)
{
    uint64_t mask = ~(uint64_t)0 >> (n > 1 ? __builtin_clzll(n - 1) : 63);
    for (;;) {
        uint64_t x = noise_u64(s) & mask;
        if (x < n)
            return x;
    }
}

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

/* The random fraction needed for e^(-1): P(word < 2^64 / K) chains without any division by the caller. */
static bool exp_of_one(struct noise *s)
{
    return exp_of_fraction(s, 1, 1);
}

static bool exp_of_parts(struct noise *s, uint128 whole, uint64_t p, uint64_t q)
{
    for (; whole > 0; whole--)
        if (!exp_of_one(s))
            return false;
    return p == 0 || exp_of_fraction(s, p, q);
}

bool coin_exp(struct noise *s, uint64_t p, uint64_t q)
{
    return exp_of_parts(s, p / q, p % q, q);
}

bool coin_exp_wide(struct noise *s, uint128 k, uint64_t m)
{
    return exp_of_parts(s, k / m, (uint64_t)(k % m), m);
}

/* A fair bit 1 ends with 1; else Bern(e^-x) ends with 0; else again: P(1) = (1/2) / (1/2 + e^-x / 2). */
bool coin_logistic(struct noise *s, uint128 k, uint64_t m)
{
    uint128 whole = k / m;
    uint64_t part = (uint64_t)(k % m);
    for (;;) {
        if (noise_bits(s, 1))
            return true;
        if (exp_of_parts(s, whole, part, m))
            return false;
    }
}

uint128 coin_geometric(struct noise *s, uint64_t m)
{
    uint64_t part, whole = 0;
    do
        part = coin_below(s, m);
    while (!coin_exp(s, part, m));
    while (exp_of_one(s))
        whole++;
    return (uint128)whole * m + part;
}
