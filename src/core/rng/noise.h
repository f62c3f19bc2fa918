/* noise.h - cryptographic randomness for privacy noise. Training randomness is rng.h; the two never mix.
 *
 * A stream is ChaCha20 under a key from the operating system, with fast key erasure: every refill overwrites
 * the key by its own output, so what was drawn cannot be recomputed from memory. The state lives in a page
 * that the kernel zeroes in a forked child (MADV_WIPEONFORK), so parent and child never share noise. Sources:
 * Bernstein, "Fast-key-erasure random-number generators" (2017); RFC 8439. */
#ifndef RNG_NOISE_H
#define RNG_NOISE_H

#include "base/status.h"

#include <stdbool.h>

struct noise; /* one stream; not to be shared between threads */

/** A stream keyed by the operating system, rekeyed from it every MiB. ENOMEM; EINTERNAL: no usable
 * generator. */
sotto_status noise_open(struct noise **out);
/** The seeded twin: a pure function of the seed. It gives NO privacy; tests, papers and --insecure-noise-seed
 * only. */
sotto_status noise_open_insecure(struct noise **out, uint64_t seed);
bool noise_is_insecure(const struct noise *s);
/** Whether this process opened the stream; false in a child that was forked since, until it draws. */
bool noise_is_own(const struct noise *s);
/** Wipes and frees; NULL is fine. */
void noise_close(struct noise *s);

void noise_bytes(struct noise *s, void *out, size_t bytes);
uint64_t noise_u64(struct noise *s);
/** The next `count` <= 64 bits, as a number. */
uint64_t noise_bits(struct noise *s, unsigned count);
/** Uniform in the open interval (0, 1): odd multiples of 2^-54. */
double noise_unit(struct noise *s);

#endif
