/* A tile of 6 pixels by 64 results stays in 24 registers; for each pair of channels 4 loads of weights and 6
 * broadcasts feed 24 multiply-adds of pairs. */
#include "nn/conv/bf16_kernels.h"

#include "base/cpu.h"
#include "base/simd.h"

#ifdef __AVX512BF16__
enum { VECTOR = BF16_GROUP };

INLINE __m512bh pairs_load(const uint32_t *x)
{
    return (__m512bh)_mm512_loadu_si512(x);
}

/* The same pair in all lanes. */
INLINE __m512bh pairs_all(const void *pair)
{
    int32_t x;
    memcpy(&x, pair, sizeof x);
    return (__m512bh)_mm512_set1_epi32(x);
}

/* 16 values, widened. */
INLINE __m512 wide(const uint16_t *x)
{
    __m256i bits = _mm256_loadu_si256((const void *)x);
    return (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
}

/* `add` is a constant at each call, here and below. */
INLINE void finish(__m512 value, const struct bf16_results *r, bool add, size_t at, size_t column)
{
    if (r->bias)
        value = _mm512_add_ps(value, _mm512_loadu_ps(r->bias + column));
    if (r->relu)
        value = _mm512_max_ps(value, _mm512_setzero_ps());
    if (r->mask)
        value = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(wide(r->mask + at), _mm512_setzero_ps(), _CMP_GT_OQ),
                                    value);
    if (add)
        value = _mm512_add_ps(value, wide((const uint16_t *)r->out + at));
    if (r->stream)
        _mm256_stream_si256((void *)((uint16_t *)r->out + at), (__m256i)_mm512_cvtneps_pbh(value));
    else if (r->narrow)
        _mm256_storeu_si256((void *)((uint16_t *)r->out + at), (__m256i)_mm512_cvtneps_pbh(value));
    else
        _mm512_storeu_ps((float *)r->out + at, value);
}

/* Parts i to i + count - 1 of `n`, into the second-level cache. */
INLINE void fetch(const struct bf16_ahead *a, size_t i, size_t count, size_t n)
{
    size_t lines = a->bytes / 64;
    if (!lines)
        return;
    for (size_t k = lines * i / n; k < lines * (i + count) / n; k++)
        __builtin_prefetch((const char *)a->at + 64 * k, 0, 2);
}

/* Line number i of those that a tile of 64 columns writes or is masked by: all are far away, and fetched all at once they
 * would hold up the products. */
INLINE void fetch_line(const struct bf16_results *r, const size_t *row, size_t i)
{
    size_t at = r->out_at[row[i / 4]] + i / 2 % 2 * 32;
    if (i % 2 == 0 && !r->stream)
        __builtin_prefetch((const char *)r->out + (r->narrow ? sizeof(uint16_t) : sizeof(float)) * at, 1);
    else if (r->mask)
        __builtin_prefetch(r->mask + at);
}

/* What the tile after the next reads and writes. */
INLINE void fetch_pixels(const struct bf16_results *r, size_t first, size_t rows)
{
    const size_t size = r->narrow ? sizeof(uint16_t) : sizeof(float);
    for (size_t i = first + 2 * rows; i < first + 3 * rows && i < r->rows; i++) {
        __builtin_prefetch((const char *)r->out + size * r->out_at[i], 1);
        if (r->taps)
            __builtin_prefetch(r->in + r->in_at[i]);
    }
}

/* `rows` and `vectors` are constants at each call. Rows after the last are the last one again. */
INLINE void results_tile(size_t rows, size_t vectors, bool add, const struct bf16_results *r, size_t first)
{
    size_t row[8];
    __m512 sum[8][4];
    if (r->scattered)
        fetch_pixels(r, first, rows);
    fetch(&r->ahead, first, first + rows < r->rows ? rows : r->rows - first, r->rows);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        row[i] = first + i < r->rows ? first + i : r->rows - 1;
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[i][v] = r->start ? _mm512_loadu_ps(r->start + row[i] * (vectors * VECTOR) + v * VECTOR)
                                 : _mm512_setzero_ps();
    }
    for (size_t tap = 0; tap < r->taps; tap++) {
        const uint32_t *panel = r->panel + r->tap[tap] * (r->depth / 2 * vectors * VECTOR);
        const uint16_t *in[8];
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++)
            in[i] = (tap < r->near ? r->in : r->far) + r->in_at[tap * r->list + row[i]];
        const size_t lines = tap || vectors < 4 || r->depth < 8 * rows ? 0 : 4 * rows;
        for (size_t c = 0; c < r->depth; c += 2, panel += vectors * VECTOR) {
            __m512bh weights[4];
            if (c / 2 < lines)
                fetch_line(r, row, c / 2);
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                weights[v] = pairs_load(panel + v * VECTOR);
#pragma GCC unroll 8
            for (size_t i = 0; i < rows; i++) {
                __m512bh x = pairs_all(in[i] + c);
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; v++)
                    sum[i][v] = _mm512_dpbf16_ps(sum[i][v], x, weights[v]);
            }
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            if (!add || first + i < r->rows) /* once */
                finish(sum[i][v], r, add, r->out_at[row[i]] + v * VECTOR, v * VECTOR);
}

INLINE void results_of(const struct bf16_results *r, bool add)
{
    if (r->columns == 4 * VECTOR) {
        size_t i = 0, left = r->rows % 6;
        for (; i + 6 <= r->rows; i += 6)
            results_tile(6, 4, add, r, i);
        if (left > 4)
            results_tile(6, 4, add, r, i);
        else if (left > 2)
            results_tile(4, 4, add, r, i);
        else if (left)
            results_tile(2, 4, add, r, i);
    } else if (r->columns == 2 * VECTOR)
        for (size_t i = 0; i < r->rows; i += 8)
            results_tile(8, 2, add, r, i);
    else
        for (size_t i = 0; i < r->rows; i += 8)
            results_tile(8, 1, add, r, i);
    if (r->stream)
        _mm_sfence();
}

static void bf16_kernel_results(const struct bf16_results *given)
{
    const struct bf16_results copy = *given; /* which no store can change */
    if (copy.add)
        results_of(&copy, true);
    else
        results_of(&copy, false);
}

INLINE void sum_tile(size_t rows, size_t vectors, const struct bf16_sum *s, size_t first)
{
    float *out = s->out + first * s->stride;
    const uint32_t *left = s->left + first, *right = s->right;
    __m512 sum[16][4];
    fetch(&s->ahead[0], first, rows, s->rows);
    fetch(&s->ahead[1], first, rows, s->rows);
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[i][v] = s->add ? _mm512_loadu_ps(out + i * s->stride + v * VECTOR) : _mm512_setzero_ps();
    for (size_t p = 0; p < s->pairs; p++, left += s->rows, right += vectors * VECTOR) {
        __m512bh b[4];
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            b[v] = pairs_load(right + v * VECTOR);
#pragma GCC unroll 16
        for (size_t i = 0; i < rows; i++) {
            __m512bh a = pairs_all(left + i);
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                sum[i][v] = _mm512_dpbf16_ps(sum[i][v], a, b[v]);
        }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            _mm512_storeu_ps(out + i * s->stride + v * VECTOR, sum[i][v]);
}

static void bf16_kernel_sum(const struct bf16_sum *s)
{
    if (s->columns == 4 * VECTOR)
        for (size_t i = 0; i < s->rows; i += 4)
            sum_tile(4, 4, s, i);
    else if (s->columns == 2 * VECTOR)
        for (size_t i = 0; i < s->rows; i += 8)
            sum_tile(8, 2, s, i);
    else
        for (size_t i = 0; i < s->rows; i += 16)
            sum_tile(16, 1, s, i);
}

/* Lane i of the result: low 16 bits of lane i of a, those of b above. */
INLINE __m512i interleaved(__m256i a, __m256i b)
{
    return _mm512_or_si512(_mm512_cvtepu16_epi32(a), _mm512_slli_epi32(_mm512_cvtepu16_epi32(b), 16));
}

static void pack_pixels(uint32_t *panel, const uint16_t *in, const uint32_t *at, size_t count, size_t columns)
{
    for (size_t i = 0; i < count; i += 2, panel += columns)
        for (size_t c = 0; c < columns; c += VECTOR) {
            uint32_t first = at[i], second = i + 1 < count ? at[i + 1] : BF16_NONE;
            __m256i a = _mm256_setzero_si256(), b = a;
            if (first != BF16_NONE)
                a = _mm256_loadu_si256((const void *)(in + first + c));
            if (second != BF16_NONE)
                b = _mm256_loadu_si256((const void *)(in + second + c));
            _mm512_storeu_si512(panel + c, interleaved(a, b));
        }
}

INLINE __m256i sum_of(const uint16_t *in, uint32_t at, size_t step)
{
    return at == BF16_NONE ? _mm256_setzero_si256()
                           : (__m256i)_mm512_cvtneps_pbh(_mm512_add_ps(wide(in + at), wide(in + at + step)));
}

static void pack_sums(uint32_t *panel, const uint16_t *in, const uint32_t *at, size_t step, size_t count,
                      size_t columns)
{
    for (size_t i = 0; i < count; i += 2, panel += columns)
        for (size_t c = 0; c < columns; c += VECTOR)
            _mm512_storeu_si512(panel + c,
                                interleaved(sum_of(in + c, at[i], step),
                                            sum_of(in + c, i + 1 < count ? at[i + 1] : BF16_NONE, step)));
}

static void bf16_kernel_differences(uint16_t *to, const uint16_t *in, size_t step, size_t count,
                                    size_t channels)
{
    for (size_t i = 0; i < count; i++, in += 2 * step, to += 2 * channels)
        for (size_t c = 0; c < channels; c += VECTOR) {
            __m512 a = wide(in + c), b = wide(in + c + step), d = wide(in + c + 2 * step);
            _mm256_storeu_si256((void *)(to + c), (__m256i)_mm512_cvtneps_pbh(_mm512_sub_ps(a, b)));
            _mm256_storeu_si256((void *)(to + channels + c),
                                (__m256i)_mm512_cvtneps_pbh(_mm512_sub_ps(d, b)));
        }
}

/* Lanes of a kernel's row that lie in the image when it starts `before` columns left of it, or `after` right. */
INLINE __mmask32 lanes_of(const struct bf16_patches *s, size_t first, size_t end)
{
    uint64_t to = ((uint64_t)1 << end * s->channels) - 1, from = ((uint64_t)1 << first * s->channels) - 1;
    return (__mmask32)(to & ~from);
}

/* A kernel's row is one masked load; what it writes too far, the next one overwrites. */
static void make_patches(uint16_t *to, const uint16_t *image, const struct bf16_patches *s)
{
    size_t run = s->kernel_width * s->channels;
    for (size_t p = 0; p < s->down * s->across; p++, to += s->room) {
        size_t y = p / s->across * s->stride, x = p % s->across * s->stride, right = s->width + s->pad - x;
        __mmask32 lanes =
            lanes_of(s, x < s->pad ? s->pad - x : 0, right < s->kernel_width ? right : s->kernel_width);
        for (size_t row = 0; row < s->kernel_height; row++) {
            size_t h = y + row - s->pad; /* before the first row: wraps to a huge one */
            ptrdiff_t at = ((ptrdiff_t)(h * s->width + x) - (ptrdiff_t)s->pad) * (ptrdiff_t)s->channels;
            __m512i values =
                h < s->height ? _mm512_maskz_loadu_epi16(lanes, image + at) : _mm512_setzero_si512();
            _mm512_storeu_si512(to + row * run, values);
        }
        for (size_t i = s->kernel_height * run + BF16_RUN - run; i < s->room; i += BF16_RUN)
            _mm512_storeu_si512(to + i, _mm512_setzero_si512());
    }
}

/* Columns lie side by side. */
static void pack_rows(uint32_t *panel, const float *weights, size_t row, size_t depth, size_t columns)
{
    for (size_t k = 0; k < depth; k += 2, panel += columns, weights += 2 * row)
        for (size_t c = 0; c < columns; c += VECTOR)
            _mm512_storeu_si512(panel + c,
                                interleaved((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(weights + c)),
                                            (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(weights + row + c))));
}

/* Depth lies side by side: 16 values of it become 8 pairs, a column of the panel. */
static void pack_columns(uint32_t *panel, const float *weights, size_t column, size_t depth, size_t columns)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t k = 0; k < depth; k += 16) {
            uint32_t pairs[8];
            _mm256_storeu_si256((void *)pairs,
                                (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(weights + c * column + k)));
            for (size_t i = 0; i < 8; i++)
                panel[(k / 2 + i) * columns + c] = pairs[i];
        }
}

static void pack_weights(uint32_t *panel, const float *weights, size_t row, size_t column, size_t depth,
                         size_t columns)
{
    if (column == 1)
        pack_rows(panel, weights, row, depth, columns);
    else
        pack_columns(panel, weights, column, depth, columns);
}

extern const struct bf16_kernels ISA_NAME(bf16_kernels);
const struct bf16_kernels ISA_NAME(bf16_kernels) = {.results = bf16_kernel_results,
                                                    .sum = bf16_kernel_sum,
                                                    .pack_pixels = pack_pixels,
                                                    .pack_sums = pack_sums,
                                                    .differences = bf16_kernel_differences,
                                                    .make_patches = make_patches,
                                                    .pack_weights = pack_weights};

#else

extern const struct bf16_kernels ISA_NAME(bf16_kernels);
const struct bf16_kernels ISA_NAME(bf16_kernels) = {0};

#endif
