/* noise_script.h - noise from given words: what happens with probability 2^-64 happens in tests.
 *
 * Tests alone include this header (tools/check-includes); nothing public leads here. */
#ifndef RNG_NOISE_SCRIPT_H
#define RNG_NOISE_SCRIPT_H

#include "rng/noise.h"

enum { NOISE_SCRIPT_WORDS = 1020 };

/** An insecure stream: noise_u64() gives words[0 .. count), then goes on as the stream of seed 0 behind its
 * first block. ENOMEM; EINVAL: more than NOISE_SCRIPT_WORDS words. */
sotto_status noise_open_script(struct noise **out, const uint64_t *words, size_t count);

#endif
