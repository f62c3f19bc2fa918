/* Philox 4x32-10: ten rounds of two 32x32 -> 64 multiplications over a 128-bit counter. The 64-bit key mixes
 * seed and purpose; the counter holds (block number, index, step), so distinct streams never overlap. */
#include "rng/rng.h"

#include <math.h>

static void rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c[0];
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[1] = (uint32_t)p1;
        c[3] = (uint32_t)p0;
        c[0] = n0;
        c[2] = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

/* SplitMix64's finaliser: spreads small seeds and purposes over the whole key. */
static uint64_t rng_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

struct rng rng_stream(uint64_t seed, enum rng_purpose purpose, uint64_t step, uint64_t index)
{
    /* 32 bits of block number leave 2^34 draws a stream; index takes 32 bits of counter, its upper half and
     * the upper half of step go into the key. */
    uint64_t key = rng_mix(seed ^ rng_mix((uint64_t)purpose) ^ rng_mix((step >> 32) << 32 | (index >> 32)));
    struct rng r = {.key = {(uint32_t)key, (uint32_t)(key >> 32)},
                    .counter = {0, (uint32_t)index, (uint32_t)step, (uint32_t)purpose}};
    return r;
}

uint32_t rng_u32(struct rng *r)
{
    if (r->left == 0) {
        rng_philox(r->block, r->counter, r->key);
        r->counter[0]++;
        r->left = 4;
    }
    return r->block[4 - r->left--];
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t low = rng_u32(r);
    return (uint64_t)rng_u32(r) << 32 | low;
}

float rng_unit_f(struct rng *r)
{
    return (float)(rng_u32(r) >> 8) * 0x1p-24f;
}

double rng_unit(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* The first 2^64 mod n values would be counted once too often. They are below n, so that the division which
 * tells is hardly ever needed. */
uint64_t rng_below(struct rng *r, uint64_t n)
{
    for (;;) {
        uint64_t x = rng_u64(r);
        if (x >= n || x >= (0 - n) % n)
            return x % n;
    }
}

double rng_normal(struct rng *r)
{
    double u = 1.0 - rng_unit(r); /* (0, 1] */
    double v = rng_unit(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * v);
}

void rng_shuffle(struct rng *r, int64_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(r, i);
        int64_t kept = items[i - 1];
        items[i - 1] = items[j];
        items[j] = kept;
    }
}
