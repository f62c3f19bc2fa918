/* head_bits.h - batches of records made of zeros and ones.
 *
 * Tables of purchases, check-ins or one-hot categories are mostly zeros. A product with a bit is an addition
 * or nothing, so the first layer of a network only looks at the ones: the same sums in the same order, hence
 * the same bits as the dense product (leaving out fma(0, w, s) = s), in a fraction of the time. */
#ifndef HEAD_KERNEL_HEAD_BITS_H
#define HEAD_KERNEL_HEAD_BITS_H

#include "base/memory.h"
#include "base/status.h"

/* Words that `count` bits need. Column j is bit j % 64 of word j / 64. */
static inline size_t head_bit_words(size_t count)
{
    return (count + 63) / 64;
}
/* *out (n, head_bit_words(d)) = the features, if every one is 0 or 1 and at most a third of them are 1;
 * otherwise NULL. Free it with base_free(). ENOMEM. */
sotto_status head_bits_make(uint64_t **out, const float *x, size_t n, size_t d);

/* One batch, both ways round. */
struct head_bit_rows {
    size_t batch;    /* most records, rounded up to 64 */
    uint64_t *words; /* (head_bit_words(d), batch): a word of each record side by side */
    /* (batch / 64, d rounded up to 64): record r of a column is bit r % 64 of word r / 64 */
    uint64_t *records;
};
/* Record `record` of a table of bits becomes row `row` of the batch. */
static inline void head_bit_rows_put(const struct head_bit_rows *b, size_t row, const uint64_t *table,
                                     size_t record, size_t d)
{
    size_t count = head_bit_words(d);
    for (size_t w = 0; w < count; w++)
        b->words[w * b->batch + row] = table[record * count + w];
}

#endif
