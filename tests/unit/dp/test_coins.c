/* Poisson samples: coins against words read by hand, at every level. */
#include "support/test.h"

#include "base/cpu.h"
#include "dp/noise/poisson_sample.h"
#include "rng/chacha.h"
#include "rng/noise_script.h"
#include "rng/rng.h"

#include <string.h>

extern const struct coin_kernels coin_kernels_v2, coin_kernels_v3, coin_kernels_v4;
static const struct coin_kernels *const levels[CPU_ISA_COUNT] = {&coin_kernels_v2, &coin_kernels_v3,
                                                                 &coin_kernels_v4, &coin_kernels_v4};

enum { N = 10000 };
static uint8_t bytes[N + 64];
static uint32_t rows[N], wanted[N];

TEST(lists_by_every_level)
{
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)rng_u32(&r);
    static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 1000, N};
    static const uint8_t limits[] = {0, 1, 7, 127, 128, 254, 255};
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t s = 0; s < 8; s++)
            for (size_t l = 0; l < 7; l++) {
                size_t count = 0;
                for (size_t i = 0; i < sizes[s]; i++)
                    if (bytes[i] <= limits[l])
                        wanted[count++] = (uint32_t)i + 77;
                assert_int_equal(levels[isa]->list(rows, bytes, sizes[s], limits[l], 77), count);
                assert_memory_equal(rows, wanted, count * sizeof *rows);
            }
}

/* The first four words are the key of the coins' first bytes; the last 56 bits of a coin with the first byte
 * of the rate are the upper bits of a word of their own. */
TEST(coins_are_compared_with_the_whole_rate)
{
    static const uint64_t rates[] = {(uint64_t)655 << 48, (uint64_t)1 << 63, 0x00c0ffee12345678,
                                     0xff00000000000001, 0x0400000000000000};
    static uint32_t stream[(N / 1024 + 1) * CHACHA_WORDS];
    static uint64_t script[NOISE_SCRIPT_WORDS];
    struct rng r = rng_stream(2, RNG_TEST, 0, 0);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        uint64_t rest = rates[i] & 0xffffffffffffff;
        for (size_t w = 0; w < NOISE_SCRIPT_WORDS; w++) /* at the limit, a little below it, and above */
            script[w] = (rest << 8) + (w % 3) * 256 - 256 * (w % 5 == 0) + rng_below(&r, 256);
        for (size_t size = 1; size <= N; size = size * 7 + 1) {
            struct noise *s;
            size_t count = 0, at = 4;
            assert_int_equal(noise_open_script(&s, script, NOISE_SCRIPT_WORDS), SOTTO_OK);
            chacha_kernels_find()->fill(stream, (const unsigned char *)script, 0, N / 1024 + 1);
            for (size_t n = 0; n < size; n++) {
                uint64_t first = ((const uint8_t *)stream)[n];
                if (first > rates[i] >> 56)
                    continue;
                if (first == rates[i] >> 56)
                    first = first << 56 | script[at++] >> 8;
                else
                    first <<= 56;
                if (first < rates[i])
                    wanted[count++] = (uint32_t)n;
            }
            assert_true(at < NOISE_SCRIPT_WORDS);
            assert_int_equal(coins_draw(rows, size, rates[i], s), count);
            assert_memory_equal(rows, wanted, count * sizeof *rows);
            assert_true(noise_u64(s) == script[at]);
            noise_close(s);
        }
    }
}

TEST_GROUP(.tags = "matrix")
