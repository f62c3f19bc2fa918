#include "dp/noise/poisson_sample.h"

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

/* rows[0 .. result) = first + i for every bit i of the mask. */
static size_t poisson_sample_scan(uint32_t *rows, uint64_t mask, uint32_t first)
{
    size_t count = 0;
    for (; mask; mask &= mask - 1)
        rows[count++] = first + (uint32_t)__builtin_ctzll(mask);
    return count;
}

/* The same where 64 rows fit: no branch that depends on the mask. */
static size_t scan_whole(uint32_t *rows, uint64_t mask, uint32_t first)
{
#if defined(__AVX512F__)
    const __m512i step = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    size_t count = 0;
    for (int i = 0; i < 64; i += 16) {
        __mmask16 part = (__mmask16)(mask >> i);
        __m512i number = _mm512_add_epi32(_mm512_set1_epi32((int)(first + (uint32_t)i)), step);
        _mm512_storeu_si512(rows + count, _mm512_maskz_compress_epi32(part, number));
        count += (size_t)__builtin_popcount(part);
    }
    return count;
#else
    return poisson_sample_scan(rows, mask, first);
#endif
}

static size_t poisson_sample_list(uint32_t *rows, const uint8_t *byte, size_t n, uint8_t limit,
                                  uint32_t start)
{
    size_t count = 0, i = 0;
    for (; i + 64 <= n; i += 64)
        count += scan_whole(rows + count, at_most(byte + i, limit), start + (uint32_t)i);
    if (i < n)
        count += poisson_sample_scan(rows + count, at_most(byte + i, limit) & (((uint64_t)1 << (n - i)) - 1),
                                     start + (uint32_t)i);
    return count;
}

extern const struct coin_kernels ISA_NAME(coin_kernels);
const struct coin_kernels ISA_NAME(coin_kernels) = {poisson_sample_list};
