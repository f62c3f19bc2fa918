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
};
/* True if every feature is 0 or 1, at most a third of them 1, and a column's number fits 16 bits. *ones: how
 * many. */
bool head_bits_suit(size_t *ones, const struct head_data *data);
void head_bits_fill(struct head_bits *b, const struct head_data *data);

/* One batch: a list of ones for each row, and a list of rows for each column. */
struct head_bit_rows {
    const uint16_t **column; /* (rows): into head_bits */
    size_t *count;           /* (rows) */
    size_t *start;           /* (in + 2): column j has row[start[j] .. start[j + 1]) */
    uint16_t *row;           /* rows of each column, rising; room for as many ones as a batch can have */
};
void head_bit_rows_turn(struct head_bit_rows *b, size_t rows, size_t in);

#endif
