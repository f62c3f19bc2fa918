/* fixed_sample.h - the records of a step of fixed size: a set of so many records, all such sets equally
 * likely, exactly. */
#ifndef DP_NOISE_FIXED_SAMPLE_H
#define DP_NOISE_FIXED_SAMPLE_H

#include "rng/noise.h"
#include "sotto/account.h"

struct fixed_sample {
    size_t records, size;
    uint64_t *taken; /* (records / 64, rounded up): a bit for each, all 0 between draws */
};
/** rate in (0, 1]. EINVAL: the sample would be empty, or there are 2^32 records or more; ENOMEM. */
sotto_status fixed_sample_make(struct fixed_sample *out, double rate, size_t records);
/** rows[0 .. size), ascending. Returns size. */
size_t fixed_sample_draw(uint32_t *rows, const struct fixed_sample *f, struct noise *s);
void fixed_sample_free(struct fixed_sample *f);
/** Returns: the rate of samples of `sample` records out of `records` > 0; of a fixed size: rounded up, so that the
 *           account holds. */
double sampling_rate(enum sotto_sampling sampling, size_t sample, size_t records);

#endif
