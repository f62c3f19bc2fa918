/* head_linear.h - the clipped sum of a LINEAR softmax head in one pass over a sample: what head_clip.h does
 * for any head, with logits, softmax, norms and products of a few records at a time, while they are in the
 * first-level cache. Compiled once per instruction-set level. */
#ifndef HEAD_KERNEL_HEAD_LINEAR_H
#define HEAD_KERNEL_HEAD_LINEAR_H

#include "base/memory.h"

#include <stdint.h>

struct linear_scratch {
    float *x;      /* (stride / HEAD_PAD, block, HEAD_PAD): the current records; inputs from `in` on stay 0 */
    float *logits; /* (HEAD_PAD, ld) */
    float *softmax;           /* (out, HEAD_PAD): a record in each lane */
    double *diff;             /* (block / HEAD_PAD, out, HEAD_PAD): their scaled gradients */
    double *product, *bias;   /* (out, stride), (out, HEAD_PAD): the sum so far */
    size_t stride, block, ld; /* `in` and `out` padded to HEAD_PAD; current records, a multiple of HEAD_PAD */
};
/** Called twice, to measure and to place; sets the sizes. */
void head_linear_layout(struct linear_scratch *scratch, struct arena *memory, size_t in, size_t out);

struct linear_sum {
    size_t in, out;
    const float *x; /* (n, in), finite */
    const int64_t *y;
    const double *square; /* (n): clip_kernels.squares() of the records */
    const float *balance; /* (out): factors of the gradients of a class */
    const float *w;       /* (in + 1, ld), 64-byte aligned */
    struct linear_scratch scratch;
    double *sum; /* (out, in), then (out): the order of a head's file */
};
struct linear_kernels {
    /** sum = gradients of the records rows[0 .. count), each scaled to a norm of at most `norm`, as
     * clip_kernels.add() does it and with the same error. A gradient that is not finite adds nothing. */
    void (*sum)(const struct linear_sum *s, const uint32_t *rows, size_t count, double norm);
};
const struct linear_kernels *head_linear_kernels_find(void);

#endif
