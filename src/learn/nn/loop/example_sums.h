/* example_sums.h - the sum of clipped gradients of a random sample of records, on any number of threads with the
 * same bits. docs/derivations/exact-sums.md.
 *
 * Records have numbers, 0 .. slots - 1, of which a step's sample is a part. Rows of a network's plan are worked
 * on by one thread each, in parts of one shape, so what a record adds is a function of the record alone. Where
 * fully connected layers take a good share of the work, the record numbers are cut into fixed groups, and the
 * gradients of a group are added in float before they are cut to the lattice; the limit k on the length of such a
 * chain gives the bound on what one record can move: a group of more records is cut record by record. */
#ifndef NN_LOOP_EXAMPLE_SUMS_H
#define NN_LOOP_EXAMPLE_SUMS_H

#include "nn/nn.h"

/** Input (count * views rows) and labels of examples first .. first + count - 1 of the sample of a step. Called
 * from several threads at a time. */
typedef void example_fill(float *input, int64_t *labels, void *state, size_t first, size_t count,
                          uint64_t step);
struct example_sums_config {
    const struct nn_backend *backend;
    enum nn_dtype dtype; /* f32; others are refused */
    size_t views;        /* rows of an example; its loss is their mean */
    size_t slots;        /* records that could be in a step: public */
    double rate;         /* the share of them that is in a step on average: public */
    size_t part;         /* examples in a part; 0: chosen */
    size_t rank, ranks;  /* of the processes that share a sample, this one; ranks 0: alone */
    int threads;
    const struct sotto_context *ctx; /* asked before each part */
    example_fill *fill;
    void *state;
};
struct example_sums;
/** Borrows the model, of which all plans are. ENOMEM; errors of nn_plan_create(); ENOTSUP: what an example adds
 * depends on others (example_part_check()). */
sotto_status example_sums_create(struct example_sums **out, struct nn_model *m,
                                 const struct example_sums_config *config);
void example_sums_free(struct example_sums *s);
/** nn_plan_train_top() of all its plans. */
void example_sums_train_top(struct example_sums *s, int top_only);
/** Examples in a part, the longest chain, and the bytes of all plans. */
size_t example_sums_part(const struct example_sums *s);
size_t example_sums_chain(const struct example_sums *s);
size_t example_sums_bytes(const struct example_sums *s);
/** The norm, in lattice steps, to which what an example adds must be bounded, so that one record that is in a
 * step or not moves the sum by at most `steps` in L2 norm, float chains and cuts included. */
double example_sums_bound(const struct example_sums *s, double steps);
/** First digits of a hash of the bits that this machine's kernels give for made-up examples: equal where what examples add is. */
const char *example_sums_kernels(const struct example_sums *s);
/** What a sample, or this rank's share of it, adds besides. Private numbers. */
struct example_counts {
    size_t examples, below; /* below: how many of them were not clipped */
};
/** sum (trained parameters) = the sum over a sample of what its examples add (nn_plan_clipped_sum()). On ranks: over the parts of
 * the sample that are this rank's; the sum over all ranks, of whole numbers, has the bits of one alone.
 *  In:  slot  (n) the numbers of the sample's records, rising
 *       clip  its bound is example_sums_bound() of something
 *  Errors: ESTOPPED; nothing of the sample is left */
sotto_status example_sums_take(double *sum, struct example_counts *counts, struct example_sums *s,
                               const uint32_t *slot, size_t n, const struct nn_clip *clip, uint64_t step);

#endif
