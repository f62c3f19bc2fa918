/* synthetic.h - what the made-up sets share: options in the name, one stream per record.
 *
 * Record i is a pure function of (set, options other than n, i), so a longer set starts with the shorter one.
 * Only additions, multiplications, divisions and square roots are used: the same bits on every IEEE
 * machine. */
#ifndef DATA_SYNTHETIC_SYNTHETIC_H
#define DATA_SYNTHETIC_SYNTHETIC_H

#include "data/dataset.h"
#include "rng/rng.h"

/** An option "-x123" after the set's name: letter, default and range. Letter 0 ends a table. */
struct synthetic_option {
    char letter;
    size_t value, min, max;
    const char *what;
};
/** Reads the options of `name` into the `value`s. EINVAL lists what is known. */
sotto_status synthetic_options(struct synthetic_option *options, const char *stem, const char *name);

enum synthetic_kind {
    SYNTHETIC_IMAGES = 1,
    SYNTHETIC_BLOBS,
    SYNTHETIC_PURCHASE,
    SYNTHETIC_FACES,
    SYNTHETIC_SNPS
};
/** The stream of one record. Records are numbered from 1: index 0 is for what a whole set shares. */
static inline struct rng synthetic_stream(enum synthetic_kind kind, uint64_t record)
{
    return rng_stream(0x736f74746f, RNG_SYNTHETIC, (uint64_t)kind, record);
}
/** About normal: four bytes summed, centred, unit variance, no tail beyond 3.5. Cheap enough for every
 * pixel. */
static inline float synthetic_noise(struct rng *r)
{
    uint32_t x = rng_u32(r);
    int sum = (int)(x & 255) + (int)(x >> 8 & 255) + (int)(x >> 16 & 255) + (int)(x >> 24);
    return ((float)sum - 510.0f) * (1.0f / 147.8016f); /* sqrt(4 (256^2 - 1) / 12) */
}
static inline float synthetic_between(struct rng *r, float low, float high)
{
    return low + (high - low) * rng_unit_f(r);
}
/** Uniform point on the unit circle, without sine and cosine. */
void synthetic_direction(struct rng *r, float *c, float *s);

/** Rows [0, n) in fixed chunks on the context's threads; `fill` may not fail. */
sotto_status synthetic_fill(size_t n, void (*fill)(void *arg, size_t row), void *arg,
                            const struct sotto_context *ctx);

#endif
