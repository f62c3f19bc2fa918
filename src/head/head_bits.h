/* head_bits.h - batches of records made of zeros and ones, as lists of their ones.
 *
 * Tables of purchases, check-ins or one-hot categories are mostly zeros. A product with a bit is an addition
 * or nothing, so the first layer of a network only looks at the ones: the same sums in the same order, hence
 * the same bits as the dense product (leaving out fma(0, w, s) = s), in a fraction of the time. */
#ifndef HEAD_HEAD_BITS_H
#define HEAD_HEAD_BITS_H

#include "base/memory.h"
#include "head/head_model.h"

/* The ones of all records, by record. */
struct head_bits {
    size_t *start;    /* (n + 1) */
    uint16_t *column; /* (start[n] + 1): rising within a record; the last is not used */
    uint64_t *word;   /* (n, head_bit_words(d)): the same as bits, column j at bit j % 64 of word j / 64 */
};
static inline size_t head_bit_words(size_t count)
{
    return (count + 63) / 64;
}
/* True if every feature is 0 or 1, at most a third of them 1, and a column's number fits 16 bits. *ones: how
 * many. */
bool head_bits_suit(size_t *ones, const struct head_data *data);
void head_bits_fill(struct head_bits *b, const struct head_data *data);

/* One batch: a list of ones for each row, and the rows of each column as bits. */
struct head_bit_rows {
    const uint16_t **column; /* (rows): into head_bits */
    size_t *count;           /* (rows) */
    const uint64_t **word;   /* (rows): into head_bits */
    uint64_t *rows;   /* (in rounded up to 64, row_words): row r of column j at bit r % 64 of word r / 64 */
    size_t row_words; /* of the batch's size */
};
/* Fills `rows` from `word`: the batch's bits turned over, 64 x 64 of them at a time. */
void head_bit_rows_turn(struct head_bit_rows *b, size_t rows, size_t in);

#endif
