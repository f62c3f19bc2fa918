/* convex_bound.h - how far one record can move a head that a convex trainer made: proofs in
 * docs/derivations/head.md, in the same letters. All figures are rounded to the safe side. */
#ifndef HEAD_CONVEX_CONVEX_BOUND_H
#define HEAD_CONVEX_CONVEX_BOUND_H

#include "sotto/head.h"

struct convex_bound {
    double lipschitz;         /* sqrt(2) R': gradient of one record's loss */
    double smoothness;        /* beta = R'^2 / 2 + lambda */
    double radius;            /* no iterate has a larger norm */
    double ball;              /* nor has a finished head; its bias counts as trained: stored / c_b */
    double stop;              /* "convex-lbfgs": gradient norm to reach (rounded down) */
    size_t fallback_steps;    /* "convex-lbfgs": gradient steps from zero that reach it for certain */
    double gradient_rounding; /* error of one computed gradient, L2 */
    double exact;             /* L2 sensitivity in exact arithmetic */
    double rounding;          /* what double arithmetic and f32 storage add to it */
    size_t dimension;         /* classes * (inputs + 1) */
    double l2, l1;            /* of all stored numbers; l1 = sqrt(dimension) l2 */
};

/** Largest step size of the proof, 2 / (beta + lambda), rounded down. */
double convex_largest_step(const struct sotto_head_recipe *r);
/** Records in a step of "convex-sgd" on so many records. */
size_t convex_batch(const struct sotto_head_recipe *r, size_t records);
/** For a checked recipe of a convex trainer. EDOMAIN: rounding errors would not stay small beside the
 * bound. */
sotto_status convex_bound_find(struct convex_bound *out, const struct sotto_head_recipe *r, size_t records,
                               size_t inputs, size_t classes);

#endif
