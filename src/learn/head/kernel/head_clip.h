/* head_clip.h - the clipped sum of DP-SGD without gradients of single records (Goodfellow 2015; Bu et al.
 * 2023, book-keeping). Compiled once per instruction-set level.
 *
 * A record's gradient of a dense layer is the outer product of its input (with a 1 for the bias) and its
 * output gradient, so its norm is a product of two norms, and the clipped sum is one product of matrices.
 * Norms and sums are taken in double: what a neighbouring data set may change is bounded to the last bit, see
 * head_clip_norm(). */
#ifndef HEAD_KERNEL_HEAD_CLIP_H
#define HEAD_KERNEL_HEAD_CLIP_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

/** One dense layer during a batch; rows are records. */
struct clip_layer {
    size_t in, out, ld; /* ld: outputs, padded to HEAD_PAD */
    const float *input; /* (rows, stride) */
    size_t stride;
    const double *square; /* (rows): squared norms of the inputs by squares(), or NULL: they are taken here */
    const float *diff;    /* (rows, ld): gradients of each record's own loss; padding 0 */
    double *sum;          /* (out, in), then the bias (out): the order of a head's file */
};
/** Scratch for `rows` records: factor (rows), row (rows), diff (rows, widest ld). */
struct clip_scratch {
    double *factor, *diff;
    uint32_t *row;
};
/** Rows that are clipped as one, such as those of a person: unit u ends before row end[u], and the next one begins there. */
struct clip_units {
    size_t count;
    const size_t *end;
};
/** How much larger than the norm that a unit is clipped to the sum of its rows' norms may be: rows that cancel out are scaled down
 * to it, so that the rounding of their sum is bounded too. */
enum { CLIP_CANCELS = 64 };

struct clip_kernels {
    /** square[r] = squared norm of row r of x (rows, count), too small by at most a rounding for every
     * term. */
    void (*squares)(double *square, const float *x, size_t rows, size_t count);
    /** Adds the rows' gradients to the sums, each scaled to a norm over all layers of at most `norm`. A
     * gradient that is not finite adds nothing. */
    void (*add)(const struct clip_layer *layer, size_t layers, size_t rows, double norm,
                const struct clip_scratch *scratch);
    /** The same of the MEAN of each unit's rows: it is scaled to a norm of at most `norm`, and the rows that are not finite do not
     * count in it. A unit of one row adds what add() adds. */
    void (*add_units)(const struct clip_layer *layer, size_t layers, const struct clip_units *units,
                      double norm, const struct clip_scratch *scratch);
};
const struct clip_kernels *head_clip_kernels_find(void);

/** The norm to clip to so that one record more or less among at most n changes the COMPUTED sums by at most
 * max_grad_norm: a double sum of n vectors of norm C errs by at most (n + 8) 2^-53 n C, in either data
 * set. */
double head_clip_norm(double max_grad_norm, size_t n);
/** The same for `units` with at most `rows` rows in a step, all together. The terms of a unit are at most CLIP_CANCELS times its
 * norm, and a sum of `rows` vectors errs by (rows + 8) 2^-53 of the norms of all. */
double head_clip_norm_of_units(double max_grad_norm, size_t units, size_t rows);

#endif
