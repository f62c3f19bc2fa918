/* head_kernels.h - one training step of a small softmax network, compiled once per instruction-set level.
 *
 * Layout: weights are (in + 1, ld) with one row per INPUT and the bias as last row; ld is `out` rounded up to
 * HEAD_PAD. So forward, weight gradient and input gradient are all "broadcast one number, multiply a vector
 * of outputs", and the padding lanes stay exactly zero. Every sum runs over its index in order (inputs, then
 * records of the batch), for any blocking: the bits depend on the instruction set (fused multiply-add or not)
 * and on nothing else.
 *
 * The same source compiles over double (HEAD_REAL) for the gradient check. */
#ifndef HEAD_KERNEL_HEAD_KERNELS_H
#define HEAD_KERNEL_HEAD_KERNELS_H

#include "base/cpu.h"
#include "sotto/head.h"

#include <stdbool.h>

#ifndef HEAD_REAL
#define HEAD_REAL float
#endif
typedef HEAD_REAL real;

enum { HEAD_PAD = 16, HEAD_TILE_ROWS = 12 };

static inline size_t head_padded(size_t columns)
{
    return (columns + HEAD_PAD - 1) / HEAD_PAD * HEAD_PAD;
}

/** One dense layer. Pointers are 64-byte aligned and borrowed from the trainer's arena. */
struct head_layer {
    size_t in, out, ld;
    real *w;             /* (in + 1, ld) */
    real *mean, *square; /* Adam's moments, same shape; NULL for SGD */
    /* (out, ld of the layer below): scratch of the backward pass; NULL in the first layer */
    real *transposed;
    real *value; /* (batch, ld): logits in the last layer, ReLU outputs elsewhere */
    real *diff;  /* (batch, ld): gradient of the mean loss with respect to the pre-activation */
};
struct head_net {
    size_t layers;
    struct head_layer layer[SOTTO_MAX_HIDDEN + 1];
    real *balance; /* (classes): factors of the losses of their records, of mean 1 */
    real *tile; /* (HEAD_TILE_ROWS, largest ld): a strip of the weight gradient on its way into the update */
};

/** What a strip of gradient does to its weights. SGD: w -= rate g. Adam (Kingma & Ba 2015, the form of
 * section 2 with the corrected rate, as Keras): rate = lr sqrt(1 - beta2^t) / (1 - beta1^t). */
struct head_update {
    int adam;
    int flush; /* Adam: moments that became too small to matter (below 2^-100) are set to 0 in this step */
    real rate, forget1, forget2, epsilon; /* forget = 1 - beta, rounded once */
};

struct head_bit_rows; /* head_bits.h */
struct head_kernels {
    /** Fills value of every layer for x (rows, layer[0].in). */
    void (*forward)(const struct head_net *net, const real *x, size_t rows);
    /** The same for records of zeros and ones, bit for bit. */
    void (*forward_bits)(const struct head_net *net, const struct head_bit_rows *bits, size_t rows);
    /** Forward, gradient of the MEAN cross-entropy over the rows, update. Returns the summed loss in nats. */
    double (*step)(const struct head_net *net, const real *x, const int64_t *y, size_t rows,
                   const struct head_update *update);
    /** out (head_bit_words(d)) = a record's features as bits; adds their ones. False if one is neither 0
     * nor 1. */
    bool (*pack_bits)(uint64_t *out, size_t *ones, const float *x, size_t d);
    /** Fills bits->records of the first `rows` records from bits->words, for `in` columns. */
    void (*turn_bits)(const struct head_bit_rows *bits, size_t rows, size_t in);
    /** A step for records of zeros and ones, bit for bit that of step(), without the loss. */
    void (*step_bits)(const struct head_net *net, const struct head_bit_rows *bits, const int64_t *y,
                      size_t rows, const struct head_update *update);
    /** Forward, then diff of every layer = gradients of each record's OWN loss; changes no weight. */
    void (*gradients)(const struct head_net *net, const real *x, const int64_t *y, size_t rows);
    /** out (rows, classes) = softmax of logits (rows, ld); out is dense. */
    void (*softmax)(real *out, const real *logits, size_t ld, size_t rows, size_t classes);
};

/** Table of the best level of this machine (SOTTO_ISA lowers it), and its level. */
const struct head_kernels *head_kernels_find(void);

#endif
