/* Eight bits decide all but one coin in 256, which then looks at 56 more. */
#include "dp/noise/poisson_sample.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "rng/chacha.h"

ISA_TABLE(const struct coin_kernels, coin_kernels, coin_kernels_find);

enum { PIECE_GROUPS = 4, PIECE = PIECE_GROUPS * CHACHA_WORDS * 4 /* coins */ };

size_t coins_draw(uint32_t *rows, size_t n, uint64_t rate, struct noise *s)
{
    const struct chacha_kernels *stream = chacha_kernels_find();
    const struct coin_kernels *kernels = coin_kernels_find();
    const uint8_t first = (uint8_t)(rate >> 56);
    const uint64_t rest = rate << 8 >> 8;
    _Alignas(64) uint8_t coin[PIECE];
    unsigned char key[CHACHA_KEY];
    size_t count = 0;
    noise_bytes(s, key, sizeof key);
    for (size_t start = 0; start < n; start += PIECE) {
        size_t coins = n - start < PIECE ? n - start : PIECE, listed;
        stream->fill((uint32_t *)coin, key, start / (4 * CHACHA_WORDS),
                     (coins + 4 * CHACHA_WORDS - 1) / (4 * CHACHA_WORDS));
        listed = kernels->list(rows + count, coin, coins, first, (uint32_t)start);
        for (size_t i = count, end = count + listed; i < end; i++) {
            uint32_t row = rows[i];
            rows[count] = row;
            count += coin[row - start] < first || noise_bits(s, 56) < rest;
        }
    }
    base_wipe(coin, sizeof coin);
    base_wipe(key, sizeof key);
    return count;
}
