#include "dp/coins.h"

#include "base/cpu.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Bit i: byte[i] <= limit, for 64 bytes. */
static inline uint64_t at_most(const uint8_t *byte, uint8_t limit)
{
    uint64_t mask = 0;
#if defined(__AVX512BW__)
    mask = _mm512_cmple_epu8_mask(_mm512_loadu_si512(byte), _mm512_set1_epi8((char)limit));
#elif defined(__AVX2__)
    const __m256i most = _mm256_set1_epi8((char)limit);
    for (int i = 0; i < 2; i++) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(byte + 32 * i));
        __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(x, most), x);
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(low) << 32 * i;
    }
#elif defined(__SSE2__)
    const __m128i most = _mm_set1_epi8((char)limit);
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(byte + 16 * i));
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, most), x);
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(low) << 16 * i;
    }
#else
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)(byte[i] <= limit) << i;
#endif
    return mask;
}

static size_t list(uint32_t *rows, const uint8_t *byte, size_t n, uint8_t limit, uint32_t start)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += 64) {
        uint64_t mask = at_most(byte + i, limit);
        if (n - i < 64)
            mask &= ((uint64_t)1 << (n - i)) - 1;
        for (; mask; mask &= mask - 1)
            rows[count++] = start + (uint32_t)i + (uint32_t)__builtin_ctzll(mask);
    }
    return count;
}

extern const struct coin_kernels ISA_NAME(coin_kernels);
const struct coin_kernels ISA_NAME(coin_kernels) = {list};
