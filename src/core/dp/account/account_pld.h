/* account_pld.h - releases by mechanism and shift, to their privacy-loss distributions. */
#ifndef DP_ACCOUNT_ACCOUNT_PLD_H
#define DP_ACCOUNT_ACCOUNT_PLD_H

#include "dp/pld/pld_plan.h"
#include "sotto/account.h"

/** `count` independent releases by one mechanism. */
struct composed_release {
    const char *mechanism;
    struct interval shift; /* norm of the change (sampled: of one record's contribution) / noise scale */
    enum sotto_norm norm;
    double rate;      /* 1, or the Poisson rate */
    bool replace_one; /* sampled: of a record replaced by another; else of one more or less */
    size_t count;
    enum sotto_sampling sampling; /* fixed: replace_one */
    size_t rows; /* above 1: of a person with at most so many, each of which is sampled by itself */
};

static inline const char *norm_name(enum sotto_norm norm)
{
    return norm == SOTTO_NORM_L1 ? "l1" : "l2";
}
/** Does the mechanism's scalar curve bound a vector with its change measured in this norm? */
bool scalar_curve_holds(const struct mechanism *m, enum sotto_norm norm);
/** Room for the pairs above and below an item. */
struct item_pairs {
    struct pair_sampled above, below;
    struct pair_rows rows_above, rows_below;
};
/** The part of an item, in one direction of add-remove (`way`), or in the only one that there is. `room` must outlive it. */
void account_item_part(struct pld_part *out, struct item_pairs *room, const struct composed_release *item,
                       enum pld_direction way);
/** Tells the part where the losses of its pair end, if they end in an atom or crowd together there. */
void account_mark_end(struct pld_part *part, const struct pair_sampled *p);
/** Accuracy for pld_epsilon() of releases of one kind, about 1e-6 of epsilon in less than a tenth of a
 * second. Only one of the two atoms of a sampled Laplace pair can lie on the grid, so it takes a finer
 * one. */
double account_accuracy(const struct mechanism *m, bool sampled);
/** Epsilon of checked items together at delta in (0, 1): [of shifts along one coordinate, of all shifts
 * within the norm], the larger of both directions; above INFINITY where an item has no scalar curve.
 * ENOMEM. */
sotto_status account_pld(struct interval *epsilon, const struct composed_release *items, size_t count,
                         double delta, const struct sotto_context *ctx);
/** An epsilon from which on the curve of items, whose scalar curves hold, is at most delta in (0, 1): not much more than the
 * smallest, where account_pld() takes longer for a better one. ENOMEM. */
sotto_status account_pld_end(double *end, const struct composed_release *items, size_t count, double delta,
                             const struct sotto_context *ctx);
/** Many points of the curve of items whose scalar curves hold: delta[i] at epsilon[i] >= 0 from above, the larger of both
 * directions. ENOMEM. */
sotto_status account_pld_deltas(double *delta, const double *epsilon, size_t n,
                                const struct composed_release *items, size_t count,
                                const struct sotto_context *ctx);
/** Pure epsilon of one sampled step clipped by L1, for a pure mechanism: of a person so many times that of a row. */
struct interval sampled_pure(const struct sotto_sampled *sampled);

#endif
