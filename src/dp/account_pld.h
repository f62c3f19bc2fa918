/* account_pld.h - releases by mechanism and shift, to their privacy-loss distributions. */
#ifndef DP_ACCOUNT_PLD_H
#define DP_ACCOUNT_PLD_H

#include "dp/pld_plan.h"

/** Does the mechanism's scalar curve bound a vector whose change is measured in this norm? */
bool scalar_curve_holds(const struct mechanism *m, enum sotto_norm norm);
/** Tells the part where the losses of its pair end, if they end in an atom or crowd together there. */
void account_mark_end(struct pld_part *part, const struct pair_sampled *p);
/** Epsilon of checked items together at delta in (0, 1): [of shifts along one coordinate, of all shifts
 * within the norm], the larger of both directions; above INFINITY where an item has no scalar curve. ENOMEM.
 */
sotto_status account_pld(struct interval *epsilon, const struct sotto_composed_release *items, size_t count,
                         double delta);

#endif
