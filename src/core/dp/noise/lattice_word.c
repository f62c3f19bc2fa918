/* The two questions that are answered from raw words. Bern(p / q) is one comparison of a random fraction with
 * p / q, 64 bits at a time: the first 64 bits decide except with probability 2^-64, and then the remainder of
 * the division continues exactly. */
#include "dp/noise/lattice.h"

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
