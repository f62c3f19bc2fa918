/* Karney 2016, section 7 (algorithm D with mean 0): P(i) proportional to e^(-i^2 / 2 sigma^2) on i >= 0,
 * sigma = m 2^-shift. Every i is sigma (k + x) for one whole k and one x in [0, 1) that is a multiple of 1/m:
 * k comes with probability proportional to e^(-k^2/2), then i uniformly among the candidates for the next
 * ceil(sigma) whole numbers (those with x >= 1 are rejected), and is kept with e^(-x (2k + x) / 2). Integers
 * only. */
#include "dp/noise/lattice.h"

/* 1 with probability e^(-x^2 / 2), x = n / m < 1: the first K at which Bern(x) Bern(x/2) Bern(1/K) fails is
 * odd with that probability. */
static bool keep_square(struct noise *s, uint64_t n, uint64_t m)
{
    uint64_t k = 1;
    while (coin_ratio(s, n, m) && coin_ratio(s, n, 2 * m) && coin_ratio(s, 1, k))
        k++;
    return k & 1;
}

uint128 integer_gaussian(struct noise *s, uint64_t m, unsigned shift)
{
    const uint128 one = (uint128)1 << shift;
    const uint64_t candidates = (uint64_t)((m + one - 1) >> shift); /* ceil(sigma) */
    for (;;) {
        uint64_t k = coin_half_normal(s);
        uint128 start = (uint128)k * m, first = (start + one - 1) >> shift; /* ceil(k sigma) */
        uint128 n = (first << shift) - start;                               /* x = n / m */
        uint64_t j = coin_below(s, candidates);
        n += (uint128)j << shift;
        if (n >= m)
            continue;
        bool keep = true;
        for (uint64_t i = 0; i < k && keep; i++)
            keep = coin_exp(s, (uint64_t)n, m);
        if (keep && keep_square(s, (uint64_t)n, m))
            return first + j;
    }
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
