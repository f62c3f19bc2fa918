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
    size_t at = 0;
    for (size_t i = 0; i < data->n; i++) {
        b->start[i] = at;
        for (size_t j = 0; j < data->d; j++) {
            b->column[at] = (uint16_t)j; /* overwritten unless it counts: branches here are never guessed */
            at += data->x[i * data->d + j] == 1;
        }
    }
    b->start[data->n] = at;
}

void head_bit_rows_turn(struct head_bit_rows *b, size_t rows, size_t in)
{
    size_t *next = b->start + 1; /* where the next row of a column goes; ends up as the starts */
    memset(b->start, 0, (in + 2) * sizeof *b->start);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < b->count[r]; k++)
            next[b->column[r][k] + 1]++;
    for (size_t j = 1; j <= in; j++)
        next[j] += next[j - 1];
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < b->count[r]; k++)
            b->row[next[b->column[r][k]]++] = (uint16_t)r;
}
