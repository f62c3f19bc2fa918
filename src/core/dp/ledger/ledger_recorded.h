/* ledger_recorded.h - is what a line records as much as its own facts imply? */
#ifndef DP_LEDGER_LEDGER_RECORDED_H
#define DP_LEDGER_LEDGER_RECORDED_H

#include "dp/ledger/ledger.h"

/** Totals count what lines recorded where that is less than what their facts compose to. So a line that records less than
 * its own mechanism, scale and sensitivity imply was not written by a charge.
 *
 *  In:   known     of ledger_charge_event()
 *        item      of that line, as it counts
 *        recorded  of that line; of a settlement its numbers
 *        where     the line, for errors
 *  Out:  *derived  all of it was derived again, in closed form. Not so: curves of sampled steps, the composition of a plan, mechanisms
 *                  without a formula, stated guarantees
 *  Returns: EFORMAT */
sotto_status ledger_require_recorded(bool *derived, struct part_memory *known, const struct ledger_item *item,
                                     const struct ledger_charge *recorded, const char *where);

#endif
