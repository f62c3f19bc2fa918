/* The stream of fast noise and of accounted draws by vectors: ChaCha20 against RFC 8439 and libsodium,
 * ChaCha8 against its published vectors, at every level. */
#include "support/test.h"

#include "base/cpu.h"
#include "rng/chacha.h"
#include "rng/rng.h"

#include <stdio.h>
#include <sodium.h>
#include <string.h>

extern const struct chacha_kernels chacha_kernels_v2, chacha_kernels_v3, chacha_kernels_v4;
static const struct chacha_kernels *const streams[CPU_ISA_COUNT] = {&chacha_kernels_v2, &chacha_kernels_v3,
                                                                    &chacha_kernels_v4, &chacha_kernels_v4};

static uint32_t word_at(const unsigned char *bytes, size_t i)
{
    bytes += 4 * i;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* RFC 8439, appendix A.1, vectors 1 to 4 (nonce 0). */
TEST(vectors_of_the_rfc)
{
    static const struct {
        int at, byte; /* the one byte of the key that is not 0 */
        size_t block;
        const char *keystream;
    } vectors[] = {{0, 0, 0,
                    "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
                    "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"},
                   {0, 0, 1,
                    "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
                    "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"},
                   {31, 1, 1,
                    "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
                    "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"},
                   {1, 255, 2,
                    "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
                    "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096"}};
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t v = 0; v < 4; v++) {
            unsigned char key[CHACHA_KEY] = {0}, bytes[64];
            uint32_t out[CHACHA_WORDS];
            key[vectors[v].at] = (unsigned char)vectors[v].byte;
            for (int i = 0; i < 64; i++) {
                unsigned byte;
                assert_int_equal(sscanf(vectors[v].keystream + 2 * i, "%2x", &byte), 1);
                bytes[i] = (unsigned char)byte;
            }
            streams[isa]->fill(out, key, 0, 1);
            for (size_t w = 0; w < 16; w++)
                assert_int_equal(out[w * CHACHA_BLOCKS + vectors[v].block], word_at(bytes, w));
        }
}

/* ChaCha8, first block of key 0: draft-strombergson-chacha-test-vectors-01, TC1, 256-bit key, 8 rounds. */
TEST(eight_rounds_are_chacha8)
{
    static const char keystream[] = "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
                                    "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42";
    static const unsigned char key[CHACHA_KEY];
    static uint32_t out[CHACHA_WORDS];
    unsigned char bytes[64];
    for (size_t i = 0; i < 64; i++) {
        unsigned byte;
        assert_int_equal(sscanf(keystream + 2 * i, "%2x", &byte), 1);
        bytes[i] = (unsigned char)byte;
    }
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++) {
        streams[isa]->fill_short(out, key, 0, 1);
        for (size_t w = 0; w < 16; w++)
            assert_int_equal(out[w * CHACHA_BLOCKS], word_at(bytes, w));
    }
}

/* Many groups, counters that pass 2^32 blocks and that end just below 2^64. */
TEST(the_same_as_libsodium)
{
    enum { GROUPS = 5 };
    static const uint64_t firsts[] = {0, 1, 77, ((uint64_t)1 << 28) - 2, ((uint64_t)1 << 60) - GROUPS};
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    static unsigned char bytes[GROUPS * 4 * CHACHA_WORDS], zeros[sizeof bytes];
    static uint32_t out[GROUPS * CHACHA_WORDS + 1];
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    assert_true(sodium_init() >= 0);
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
            unsigned char key[CHACHA_KEY];
            for (int i = 0; i < CHACHA_KEY; i++)
                key[i] = (unsigned char)rng_u32(&r);
            crypto_stream_chacha20_xor_ic(bytes, zeros, sizeof bytes, nonce, firsts[f] * CHACHA_BLOCKS, key);
            out[GROUPS * CHACHA_WORDS] = 0x600dcafe;
            streams[isa]->fill(out, key, firsts[f], GROUPS);
            for (size_t g = 0; g < GROUPS; g++)
                for (size_t b = 0; b < CHACHA_BLOCKS; b++)
                    for (size_t w = 0; w < 16; w++)
                        assert_int_equal(out[(g * 16 + w) * CHACHA_BLOCKS + b],
                                         word_at(bytes, (g * CHACHA_BLOCKS + b) * 16 + w));
            assert_int_equal(out[GROUPS * CHACHA_WORDS], 0x600dcafe);
        }
}
