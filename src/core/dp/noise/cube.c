/* Whole numbers and coins alone. A cube [-k - 1, k + 1)^n with probability in proportion to q^k (k + 1)^n, q = e^(-1/scale), and a point
 * of it: its density is q^a, a the whole part of max |z_j|. It is kept with e^(-f/scale), f the fractional part. */
#include "dp/noise/cube.h"

static uint128 wide_below(struct noise *s, uint128 n)
{
    if (n <= ~(uint64_t)0)
        return coin_below(s, (uint64_t)n);
    for (;;) {
        const uint128 high = coin_below(s, (uint64_t)(n >> 64) + 1), x = high << 64 | noise_u64(s);
        if (x < n)
            return x;
    }
}

/* k with probability in proportion to q^k. */
static uint128 draw_geometric(uint64_t scale, struct noise *s)
{
    uint64_t rest, whole = 0;
    do
        rest = coin_below(s, scale);
    while (!coin_exp(s, rest, scale));
    while (coin_exp_one(s))
        whole++;
    return (uint128)whole * scale + rest;
}

/* A sum of n + 1 of these has k with q^k (k + 1) ... (k + n), so the i-th coin keeps it with (k + 1) / (k + i). */
static uint128 draw_cube(size_t n, uint64_t scale, struct noise *s)
{
    for (;;) {
        uint128 k = 0;
        bool keep = true;
        for (size_t i = 0; i <= n; i++)
            k += draw_geometric(scale, s);
        for (size_t i = 2; i <= n && keep; i++)
            keep = wide_below(s, k + i) >= i - 1;
        if (keep)
            return k;
    }
}

/* The mean of e^(-f/scale), f the largest of so many uniform numbers: the series of means of f^i / (scale^i i!), which are events each within
 * the one before (von Neumann). */
static bool keep_fraction(size_t uniforms, uint64_t scale, struct noise *s)
{
    uint64_t i = 1;
    while (coin_ratio(s, 1, scale) && coin_ratio(s, 1, i) && coin_ratio(s, uniforms + i - 1, uniforms + i))
        i++;
    return i % 2 == 1;
}

void cube_draw(int128 *out, size_t n, uint64_t scale, struct noise *s)
{
    for (;;) {
        const uint128 half = draw_cube(n, scale, s) + 1;
        int128 most = -1;
        size_t count = 0; /* of numbers with that whole part */
        for (size_t j = 0; j < n; j++) {
            out[j] = (int128)wide_below(s, 2 * half) - (int128)half;
            const int128 whole = out[j] < 0 ? -out[j] - 1 : out[j];
            count = whole > most ? 1 : count + (whole == most);
            most = whole > most ? whole : most;
        }
        if (keep_fraction(count, scale, s))
            return;
    }
}
