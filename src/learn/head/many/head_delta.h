/* head_delta.h - many linear heads that stay near one of them, at twice the speed.
 *
 * The heads of replace-one pairs start alike and see the same batches but for a record or two, so each is the
 * head of all records, the reference, plus a small difference. The reference is trained once, in single
 * precision, and every step of it is kept. Of the other heads only differences are multiplied: logits are the
 * reference's plus x times the difference of the weights, gradients are the reference's plus x' times the
 * difference of the output gradients. Both factors are whole numbers of at most 12 and 16 bits, scaled by
 * column, and summed exactly in 32 bits: a vector instruction does twice the products that it does in single
 * precision. Weights, moments, softmax and updates stay in single precision.
 *
 * Rounding: a product is off by about 1e-4 of the difference that it adds, so a change between two heads is
 * known to about that relative accuracy (docs/derivations/head.md), wherever the heads go. */
#ifndef HEAD_MANY_HEAD_DELTA_H
#define HEAD_MANY_HEAD_DELTA_H

#include "head/kernel/head_lanes.h"
#include "head/model/head_model.h"

enum { NEAR_INPUT = 4095, NEAR_VALUE = 32767, NEAR_SUM = 1 << 19 }; /* NEAR_INPUT * NEAR_SUM < 2^31 */

/** Two whole numbers of 16 bits each, the first in the low half. */
typedef uint32_t delta_pair __attribute__((may_alias));

/** The training of a linear head on all records. Read by many threads once it is made. */
struct head_reference {
    struct arena memory;
    size_t n, d, others, batch, steps; /* others: classes - 1, relative to the last one; steps of an epoch */
    size_t pairs;                      /* of inputs: (d + 1) / 2 */
    delta_pair *x;                     /* (n, pairs): inputs in whole units, at most NEAR_INPUT of them */
    float *unit;                       /* (2 pairs): of an input */
    float *w, *gradient;  /* (epochs, steps, d + 1, others): before the step, and of its mean loss */
    float *logits, *diff; /* (epochs, n, others), in the order of the epoch; diff: of the mean loss */
};
/** Can heads of this recipe be trained so: sums fit and a reference takes at most 1/4 GiB? A function of the
 * recipe and the sizes alone, so that a head gives the same bits in any company. */
bool head_reference_fits(const struct head_data *data, const struct sotto_head_recipe *recipe);
/** ENOMEM, ESTOPPED. A head that diverges is found by the heads beside it. Clear it in any case. */
sotto_status head_reference_make(struct head_reference *r, const struct head_data *data,
                                 const struct sotto_head_recipe *recipe, const struct sotto_context *ctx);
void head_reference_clear(struct head_reference *r);
/** The reference from the step on that begins at place `start` of an epoch's order; borrows all of it. */
struct head_reference head_reference_at(const struct head_reference *r, size_t epoch, size_t start);

/** A record of the batch that is not one of a head's. */
struct delta_hole {
    size_t row, head;
    const float *x; /* (d): the record */
};
/** What a block of heads needs besides struct head_lanes; its `relative.w` holds differences. */
struct head_delta {
    const struct head_reference *reference; /* borrowed; NULL: heads are trained without */
    delta_pair *x;                          /* (batch, pairs) */
    delta_pair *x_rows;                     /* (batch / 2 rounded up, 2 pairs): two rows of an input */
    delta_pair *w;                          /* (pairs, ld): two inputs of a column */
    delta_pair *diff;                       /* (batch / 2 rounded up, ld): two rows of a column */
    float *sum, *most, *scale;              /* (ld): of sizes in a column; what a whole number is worth */
    struct delta_hole *holes;               /* (2 heads) */
    size_t hole_count;
};

struct delta_kernels {
    /** One step of the reference, in head_kernels.h's layout: writes down w, gradient, logits and diff. */
    void (*reference)(const struct head_layer *layer, float *tile, const float *x, const int64_t *y,
                      size_t rows, const struct head_update *update, size_t classes,
                      const struct head_reference *out);
    /** One step of a block; `at`: w, gradient, logits and diff of this step. */
    void (*step)(const struct head_lanes *lanes, const struct head_delta *near,
                 const struct head_reference *at, const int64_t *y, size_t rows,
                 const struct head_update *update);
};
const struct delta_kernels *delta_kernels_find(void);

#endif
