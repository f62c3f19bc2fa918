/* As many blocks at once as a vector has words: word w of all of them is one vector, so that the rounds are
 * those of one block written for vectors. */
#include "rng/chacha.h"

#include "base/cpu.h"
#include "base/simd.h"

#include <string.h>

enum { LANES = VECTOR_BYTES / 4 };

INLINE vu32 chacha_turn(vu32 x, int n)
{
    return x << n | x >> (32 - n);
}

/* Whole bytes are turned by one shuffle where there is no rotation of vectors; clang sees that by itself. */
INLINE vu32 turn_bytes(vu32 x, int bytes)
{
#if defined(__SSSE3__) && !defined(__AVX512F__) && !defined(__clang__)
    vu8 at;
    for (int i = 0; i < VECTOR_BYTES; i++)
        at[i] = (uint8_t)((i & ~3) | ((i - bytes) & 3));
    return (vu32)__builtin_shuffle((vu8)x, at);
#else
    return chacha_turn(x, 8 * bytes);
#endif
}

INLINE void quarter_round(vu32 *a, vu32 *b, vu32 *c, vu32 *d)
{
    *a += *b;
    *d = turn_bytes(*d ^ *a, 2);
    *c += *d;
    *b = chacha_turn(*b ^ *c, 12);
    *a += *b;
    *d = turn_bytes(*d ^ *a, 1);
    *c += *d;
    *b = chacha_turn(*b ^ *c, 7);
}

INLINE void chacha_blocks(uint32_t *out, const uint32_t state[12], uint64_t counter, int rounds)
{
    vu32 x[16], low = u32_all((uint32_t)counter), high = u32_all((uint32_t)(counter >> 32));
    for (int i = 0; i < LANES; i++)
        low[i] += (uint32_t)i; /* no carry: counters are multiples of the lanes */
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
        x[i] = u32_all(state[i]);
    x[12] = low;
    x[13] = high;
    x[14] = x[15] = (vu32){0};
    for (int i = 0; i < rounds / 2; i++) {
        quarter_round(&x[0], &x[4], &x[8], &x[12]);
        quarter_round(&x[1], &x[5], &x[9], &x[13]);
        quarter_round(&x[2], &x[6], &x[10], &x[14]);
        quarter_round(&x[3], &x[7], &x[11], &x[15]);
        quarter_round(&x[0], &x[5], &x[10], &x[15]);
        quarter_round(&x[1], &x[6], &x[11], &x[12]);
        quarter_round(&x[2], &x[7], &x[8], &x[13]);
        quarter_round(&x[3], &x[4], &x[9], &x[14]);
    }
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
        x[i] += u32_all(state[i]);
    x[12] += low;
    x[13] += high;
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        *(stored_u32 *)(out + (size_t)i * CHACHA_BLOCKS) = x[i];
}

INLINE void fill_rounds(uint32_t *out, const unsigned char key[CHACHA_KEY], uint64_t first, size_t groups,
                        int rounds)
{
    uint32_t state[12] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; /* "expand 32-byte k" */
    for (int i = 0; i < 8; i++)
        state[4 + i] = (uint32_t)key[4 * i] | (uint32_t)key[4 * i + 1] << 8 | (uint32_t)key[4 * i + 2] << 16 |
                       (uint32_t)key[4 * i + 3] << 24;
    for (size_t g = 0; g < groups; g++, out += CHACHA_WORDS)
        for (unsigned b = 0; b < CHACHA_BLOCKS; b += LANES)
            chacha_blocks(out + b, state, (first + g) * CHACHA_BLOCKS + b, rounds);
}

static void chacha_fill_stream(uint32_t *out, const unsigned char key[CHACHA_KEY], uint64_t first,
                               size_t groups)
{
    fill_rounds(out, key, first, groups, 20);
}

static void fill_short(uint32_t *out, const unsigned char key[CHACHA_KEY], uint64_t first, size_t groups)
{
    fill_rounds(out, key, first, groups, 8);
}

extern const struct chacha_kernels ISA_NAME(chacha_kernels);
const struct chacha_kernels ISA_NAME(chacha_kernels) = {chacha_fill_stream, fill_short};
