/* head_bits.h - batches of records made of zeros and ones.
 *
 * Tables of purchases, check-ins or one-hot categories are mostly zeros. A product with a bit is an addition
 * or nothing, so the first layer of a network only looks at the ones: the same sums in the same order, hence
 * the same bits as the dense product (leaving out fma(0, w, s) = s), in a fraction of the time. */
#ifndef HEAD_HEAD_BITS_H
#define HEAD_HEAD_BITS_H

#include "base/memory.h"
#include "head/head_model.h"

/* Words that `count` bits need. Column j is bit j % 64 of word j / 64. */
static inline size_t head_bit_words(size_t count)
{
    return (count + 63) / 64;
}
/* True if every feature is 0 or 1, at most a third of them 1. */
bool head_bits_suit(const struct head_data *data);
/* bits (n, head_bit_words(d)) = the features. */
void head_bits_fill(uint64_t *bits, const struct head_data *data);

/* One batch, both ways round. */
struct head_bit_rows {
    size_t batch;      /* most records, rounded up to 64 */
    uint64_t *words;   /* (head_bit_words(d), batch): a word of each record side by side */
    uint64_t *records; /* (batch / 64, d rounded up to 64): record r of a column is bit r % 64 of word r / 64 */
};

#endif
