#include "head/head_bits.h"

#include <string.h>

bool head_bits_suit(size_t *ones, const struct head_data *data)
{
    size_t cells = data->n * data->d, count = 0;
    for (size_t i = 0; i < data->n; i++) {
        const float *row = data->x + i * data->d;
        uint32_t set = 0, other = 0; /* without a branch in it the loop runs in vectors */
        for (size_t j = 0; j < data->d; j++) {
            set += row[j] == 1;
            other += row[j] != 0;
        }
        if (set != other)
            return false;
        count += set;
    }
    *ones = count;
    return data->d <= UINT16_MAX && count <= cells / 3;
}

void head_bits_fill(struct head_bits *b, const struct head_data *data)
{
    size_t at = 0, words = head_bit_words(data->d);
    for (size_t i = 0; i < data->n; i++) {
        b->start[i] = at;
        for (size_t j = 0; j < data->d; j++) {
            uint64_t one = data->x[i * data->d + j] == 1;
            b->column[at] = (uint16_t)j; /* overwritten unless it counts: branches here are never guessed */
            at += one;
            b->word[i * words + j / 64] |= one << j % 64;
        }
    }
    b->start[data->n] = at;
}

/* Bit j of a[i] changes places with bit i of a[j]: quarters, then quarters of quarters (Warren, Hacker's
 * Delight, section 7-3). */
static void turn_square(uint64_t a[64])
{
    uint64_t low = UINT32_MAX; /* the lower half of every 2 j bits */
    for (size_t j = 32; j; j /= 2, low ^= low << j)
        for (size_t k = 0; k < 64; k = (k + j + 1) & ~j) {
            uint64_t t = (a[k] >> j ^ a[k + j]) & low;
            a[k] ^= t << j;
            a[k + j] ^= t;
        }
}

void head_bit_rows_turn(struct head_bit_rows *b, size_t rows, size_t in)
{
    uint64_t a[64];
    for (size_t first = 0; first < rows; first += 64)
        for (size_t w = 0; w < head_bit_words(in); w++) {
            for (size_t r = 0; r < 64; r++)
                a[r] = first + r < rows ? b->word[first + r][w] : 0;
            turn_square(a);
            for (size_t j = 0; j < 64; j++)
                b->rows[(w * 64 + j) * b->row_words + first / 64] = a[j];
        }
    if (rows == 0)
        memset(b->rows, 0, head_bit_words(in) * 64 * b->row_words * sizeof *b->rows);
    for (size_t k = head_bit_words(rows); rows && k < b->row_words;
         k++) /* a smaller batch than planned for */
        for (size_t j = 0; j < in; j++)
            b->rows[j * b->row_words + k] = 0;
}
