/* convex_kernels.h - the gradient of softmax regression over all records, in double, once per
 * instruction-set level.
 *
 * Records lie in blocks of CONVEX_BLOCK, one record a lane: logits and probabilities of a block are (K,
 * BLOCK) and a weight matrix is (K, q), q = d + 1, the bias last. Every sum runs in a fixed order, so the
 * bits depend on the instruction set alone. */
#ifndef HEAD_KERNEL_CONVEX_KERNELS_H
#define HEAD_KERNEL_CONVEX_KERNELS_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

enum { CONVEX_BLOCK = 128, CONVEX_LANES = 8 };

/** Scratch of one thread. */
struct convex_scratch {
    double *x;    /* (q, CONVEX_BLOCK): a block in double, the last row the bias constant */
    double *p;    /* (K, CONVEX_BLOCK): logits, then probabilities minus one-hot */
    double *sums; /* (K, q, CONVEX_LANES): the gradient, a partial sum a lane */
};
struct convex_shape {
    size_t inputs, classes;
    double bias; /* the constant input */
};

struct convex_kernels {
    /** s->sums += the sums over one block of (softmax - one-hot) x'. Returns the summed loss in nats when `loss`, else
     * 0. x (d, CONVEX_BLOCK), y (CONVEX_BLOCK): -1 where there is no record. */
    double (*add)(const struct convex_shape *shape, const struct convex_scratch *s, const double *w,
                  const float *x, const int32_t *y, int loss);
    /** gradient (K, q) = s->sums, their lanes added up. */
    void (*finish)(double *gradient, const struct convex_shape *shape, const struct convex_scratch *s);
};
const struct convex_kernels *convex_kernels_find(void);

#endif
