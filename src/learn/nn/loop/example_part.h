/* example_part.h - a part of a sample: what its examples add to the sum of clipped gradients, and the check that each
 * adds what it would add alone. docs/derivations/exact-sums.md, section 1. */
#ifndef NN_LOOP_EXAMPLE_PART_H
#define NN_LOOP_EXAMPLE_PART_H

#include "base/sha256.h"
#include "nn/nn.h"

/** A plan for gradients of single examples, and what it was made of. */
struct example_part {
    struct nn_plan *plan;
    struct nn_model *model;
    const struct nn_backend *backend;
    size_t size, views, classes; /* size: examples that it has room for */
};
/** sum (trained parameters) += what the first `examples` examples of the plan's input add, by their own losses.
 *  In:   labels  (examples * views)
 *  Out:  *below  how many were not clipped: a private number
 *  Errors: ESTOPPED, by the plan's context; nothing was added or a part of it */
sotto_status example_part_add(double *sum, size_t *below, const struct example_part *p, const int64_t *labels,
                              size_t examples, const struct nn_chains *chains, const struct nn_clip *clip,
                              uint64_t step);
/** Runs made-up examples through the plan, at all its places and beside several numbers of others, and compares the
 * bits of what they add with what they add alone. Noise is added to the weights while it runs, as zeros would hide
 * what is below them.
 *  Out:    kernels  SHA-256 of these bits; NULL: not wanted
 *  Errors: ENOTSUP, a difference; ESTOPPED; ENOMEM */
sotto_status example_part_check(const struct example_part *p, char kernels[SHA256_HEX],
                                const struct sotto_context *ctx);

#endif
