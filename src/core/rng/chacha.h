/* chacha.h - ChaCha20 keystream in bulk, at the width of the machine (RFC 8439; Bernstein 2008).
 *
 * The counter is Bernstein's, 64 bits, and the nonce is 0: a key must be used for one purpose only. Words
 * come in the order in which vectors hold them, which spares a transposition and is the same at every level:
 * of a group of 16 blocks all first words, then all second words, and so on. */
#ifndef RNG_CHACHA_H
#define RNG_CHACHA_H

#include <stddef.h>
#include <stdint.h>

enum {
    CHACHA_KEY = 32,    /* bytes */
    CHACHA_BLOCKS = 16, /* of a group */
    CHACHA_WORDS = 256, /* of 32 bits in a group, 1 KiB */
};

/** Words of `groups` groups from group `first` on: out[(g * 16 + w) * 16 + b] is word w of the keystream's
 * block 16 (first + g) + b. */
typedef void chacha_fill(uint32_t *out, const unsigned char key[CHACHA_KEY], uint64_t first, size_t groups);

struct chacha_kernels {
    chacha_fill *fill;
    chacha_fill *fill_short; /* ChaCha8: for simulation, where the numbers need not be indistinguishable
                                from random ones; never for noise that is accounted */
};
const struct chacha_kernels *chacha_kernels_find(void);

/** The first 16 bytes of one block of the keystream with a nonce that is not 0: further words under the same key. */
void chacha_words(uint64_t out[2], const unsigned char key[CHACHA_KEY], uint64_t nonce, uint64_t block);

#endif
