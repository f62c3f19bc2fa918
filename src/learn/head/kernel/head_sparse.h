/* head_sparse.h - the first layer of records of zeros and ones: sums of the rows that a mask selects.
 *
 * Sums are taken in order, as in the dense product without its fma(0, w, s) = s. Included by *.isa.c
 * only. */
#ifndef HEAD_KERNEL_HEAD_SPARSE_H
#define HEAD_KERNEL_HEAD_SPARSE_H

#include "head/kernel/head_bits.h"
#include "head/kernel/head_dense.h"

enum {
    SUM_VECTORS = 8,
    SOME_VECTORS = 2
}; /* vectors of a sum that registers hold at a time; of the rest of a row */

/* The pointer in a register, so that the vectors of a row lie at constant distances from it. Without this,
 * gcc gives each vector an index register of its own, and an addition becomes two operations. */
INLINE const real *in_register(const real *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* sum (vectors) += the rows of b that `mask` names, in order. */
INLINE void add_masked(vec sum[SUM_VECTORS], const real *b, size_t ldb, uint64_t mask, int vectors)
{
    for (; mask; mask &= mask - 1) {
        const real *row = in_register(b + (size_t)__builtin_ctzll(mask) * ldb);
#pragma GCC unroll 8
        for (int j = 0; j < vectors; j++)
            sum[j] += v_load(row + (size_t)j * LANES);
    }
}

/* 64 inputs at a time: their weights stay in the first-level cache while all records use them. */
INLINE void forward_columns(const struct head_layer *layer, const struct head_bit_rows *ones, size_t rows,
                            int open, size_t column, int vectors)
{
    size_t count = head_bit_words(layer->in), ld = layer->ld;
    const real *bias = layer->w + layer->in * ld + column;
    for (size_t w = 0; w < count; w++) {
        const real *b = layer->w + w * 64 * ld + column;
        const uint64_t *mask = ones->words + w * ones->batch;
        int closed = !open && w + 1 == count;
        for (size_t r = 0; r < rows; r++) {
            if (!mask[r] && w != 0 && !closed)
                continue;
            real *out = layer->value + r * ld + column;
            const real *from = w == 0 ? bias : out;
            vec sum[SUM_VECTORS];
#pragma GCC unroll 8
            for (int j = 0; j < vectors; j++)
                sum[j] = v_load(from + (size_t)j * LANES);
            add_masked(sum, b, ld, mask[r], vectors);
#pragma GCC unroll 8
            for (int j = 0; j < vectors; j++)
                v_store(out + (size_t)j * LANES, closed ? v_max(sum[j], (vec){0}) : sum[j]);
        }
    }
}

static void forward_bits(const struct head_layer *layer, const struct head_bit_rows *ones, size_t rows,
                         int open)
{
    size_t column = 0;
    for (; layer->ld - column >= (size_t)SUM_VECTORS * LANES; column += (size_t)SUM_VECTORS * LANES)
        forward_columns(layer, ones, rows, open, column, SUM_VECTORS);
    for (; layer->ld - column >= (size_t)SOME_VECTORS * LANES; column += (size_t)SOME_VECTORS * LANES)
        forward_columns(layer, ones, rows, open, column, SOME_VECTORS);
    for (; column < layer->ld; column += LANES)
        forward_columns(layer, ones, rows, open, column, 1);
}

/* A sum of output gradients goes from registers straight into the weights of its input. */
INLINE void update_columns(const struct head_layer *layer, const struct head_bit_rows *ones, size_t rows,
                           const struct head_update *u, size_t column, int vectors)
{
    size_t count = head_bit_words(rows), inputs = head_bit_words(layer->in) * 64, ld = layer->ld;
    for (size_t i = 0; i < layer->in; i++) {
        const real *b = layer->diff + column;
        vec sum[SUM_VECTORS] = {0};
        for (size_t w = 0; w < count; w++, b += 64 * ld)
            add_masked(sum, b, ld, ones->records[w * inputs + i], vectors);
        apply_vectors(u, layer, i * ld + column, sum, vectors);
    }
}

static void update_bits(const struct head_layer *layer, const struct head_bit_rows *ones, size_t rows,
                        real *tile, const struct head_update *u)
{
    size_t column = 0;
    for (; layer->ld - column >= (size_t)SUM_VECTORS * LANES; column += (size_t)SUM_VECTORS * LANES)
        update_columns(layer, ones, rows, u, column, SUM_VECTORS);
    for (; layer->ld - column >= (size_t)SOME_VECTORS * LANES; column += (size_t)SOME_VECTORS * LANES)
        update_columns(layer, ones, rows, u, column, SOME_VECTORS);
    for (; column < layer->ld; column += LANES)
        update_columns(layer, ones, rows, u, column, 1);
    bias_gradient(tile, layer, rows);
    apply(u, layer, layer->in * layer->ld, tile, layer->ld);
}

static bool pack_bits(uint64_t *out, size_t *ones, const float *x, size_t d)
{
    for (size_t first = 0; first < d; first += 64, x += 64) {
        size_t count = d - first < 64 ? d - first : 64;
        uint64_t set = 0, other = 0;
#if defined(__AVX512F__)
        for (size_t j = 0; j < count; j += 16) {
            __mmask16 here = (__mmask16)(count - j < 16 ? (1u << (count - j)) - 1 : 0xffff);
            __m512 v = _mm512_maskz_loadu_ps(here, x + j);
            set |= (uint64_t)_mm512_cmp_ps_mask(v, _mm512_set1_ps(1), _CMP_EQ_OQ) << j;
            other |= (uint64_t)_mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_NEQ_UQ) << j;
        }
#else
        for (size_t j = 0; j < count; j++) {
            set |= (uint64_t)(x[j] == 1) << j;
            other |= (uint64_t)(x[j] != 0) << j;
        }
#endif
        if (set != other)
            return false;
        *out++ = set;
        *ones += (size_t)__builtin_popcountll(set);
    }
    return true;
}

/* Eight words: a level without vectors as long takes several. */
/* Words and their partners, given as `other`, exchange bits: words in which `first` is set keep their `low`
 * bits and take the partner's as their high ones, the partners the other way round. */
INLINE u64x8 exchange(u64x8 word, u64x8 other, int step, uint64_t low, u64x8 first)
{
    u64x8 keep = (first & low) | (~first & ~low);
    return (word & keep) | (other << step & ~keep & first) | (other >> step & ~keep & ~first);
}

/* Bit j of word i changes places with bit i of word j: quarters, then quarters of quarters (Warren, Hacker's
 * Delight, section 7-3). */
INLINE void turn_square(u64x8 a[8])
{
    static const uint64_t low[] = {0xffffffff, 0xffff0000ffff, 0xff00ff00ff00ff};
    const uint64_t all = UINT64_MAX;
    for (int level = 0, step = 4; step; level++, step /= 2) /* words that lie in different vectors */
        for (int k = 0; k < 8; k++)
            if (!(k & step)) {
                u64x8 t = (a[k] >> (8 * step) ^ a[k + step]) & low[level];
                a[k] ^= t << (8 * step);
                a[k + step] ^= t;
            }
    for (int k = 0; k < 8; k++) { /* 4, 2 and 1 apart in one */
        u64x8 v = a[k];
        v = exchange(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3), 4, 0x0f0f0f0f0f0f0f0f,
                     (u64x8){all, all, all, all, 0, 0, 0, 0});
        v = exchange(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5), 2, 0x3333333333333333,
                     (u64x8){all, all, 0, 0, all, all, 0, 0});
        v = exchange(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6), 1, 0x5555555555555555,
                     (u64x8){all, 0, all, 0, all, 0, all, 0});
        a[k] = v;
    }
}

static void turn_bits(const struct head_bit_rows *b, size_t rows, size_t in)
{
    size_t count = head_bit_words(in);
    for (size_t first = 0; first < rows; first += 64)
        for (size_t w = 0; w < count; w++) {
            u64x8 a[8];
            uint64_t *from = b->words + w * b->batch + first;
            for (size_t r = rows - first; r < 64; r++)
                from[r] = 0; /* left there by a larger batch */
            memcpy(a, from, sizeof a);
            turn_square(a);
            memcpy(b->records + (first / 64 * count + w) * 64, a, sizeof a);
        }
}

#endif
