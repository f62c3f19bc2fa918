#include "rng/chacha.h"

#include <assert.h>
#include <sodium.h>

void chacha_words(uint64_t out[2], const unsigned char key[CHACHA_KEY], uint64_t nonce, uint64_t block)
{
    unsigned char bytes[16] = {0}, where[8];
    assert(nonce != 0);
    for (int i = 0; i < 8; i++)
        where[i] = (unsigned char)(nonce >> 8 * i);
    crypto_stream_chacha20_xor_ic(bytes, bytes, sizeof bytes, where, block, key);
    for (int i = 0; i < 2; i++) {
        out[i] = 0;
        for (int j = 0; j < 8; j++)
            out[i] |= (uint64_t)bytes[8 * i + j] << 8 * j;
    }
    sodium_memzero(bytes, sizeof bytes);
}
