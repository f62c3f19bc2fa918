/* batch_parts.h - weight gradients of few weights: each part of the batch has sums of its own, which are added in order,
 * so that no thread waits for another. The same parts for any number of threads. */
#ifndef NN_CONV_BATCH_PARTS_H
#define NN_CONV_BATCH_PARTS_H

#include <stdbool.h>
#include <stddef.h>

enum { BATCH_PARTS = 16 };

/** Is that worth it? Sums of many weights would cost more than they save; `pieces` is what a batch can be cut into. */
bool batch_parts_fit(size_t weights, size_t pieces);
/** Part `part` of a batch of so many pieces begins here. */
size_t batch_parts_begin(size_t pieces, size_t part);
/** to (count) = the sum over parts of partial (parts, stride), the first `count` values of each. */
void batch_parts_add(float *to, const float *partial, size_t stride, size_t count);

#endif
