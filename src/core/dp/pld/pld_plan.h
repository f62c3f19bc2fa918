/* pld_plan.h - which grid, tilt and transform length answer a question about a composition. */
#ifndef DP_PLD_PLD_PLAN_H
#define DP_PLD_PLD_PLAN_H

#include "dp/pld/pld_compose.h"

/** `count` releases of a pair that lies below `upper` and not below `lower`. */
struct pld_part {
    struct pair upper, lower;
    double count;
    /* a loss of either sign that has a probability of its own: the grid then holds it; 0: none */
    double atom;
    /* by how many steps the grid's loss is smaller: 0, or a little where the curve ends there */
    double inset;
    bool slow;                          /* the curve takes long: a coarser grid */
    const struct pair_integer *lattice; /* what both pairs are, or NULL: alone, it needs no discretisation */
    /* (blend_count): between it and the part before it, which lies below it (pld_compose.h); */
    const struct pld_blend *blends;
    size_t blend_count; /* `count` may then be 0 */
};

/** Epsilon of all parts together at delta in (0, 1): lower end from the lower pairs, upper end from the upper
 * ones. `accuracy` (1: default) multiplies the aimed width. ENOMEM. Never fails for being hard: it widens. */
sotto_status pld_epsilon(struct interval *out, const struct pld_part *parts, size_t count, double delta,
                         double accuracy, const struct sotto_context *ctx);

/** Many points of the curve of all parts together, from above: delta[i] at epsilon[i] >= 0, at most 1. ENOMEM. */
sotto_status pld_deltas(double *delta, const double *epsilon, size_t n, const struct pld_part *parts,
                        size_t count, const struct sotto_context *ctx);

#endif
