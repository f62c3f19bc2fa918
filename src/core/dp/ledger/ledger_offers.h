/* ledger_offers.h - is what a line says of any order of choices as much as its release needs? */
#ifndef DP_LEDGER_LEDGER_OFFERS_H
#define DP_LEDGER_LEDGER_OFFERS_H

#include "dp/ledger/ledger.h"

/** Offers are written once and never computed again. But one that is certainly below what the line's own mechanism, noise and
 * sensitivity need was not written by a charge. Told are pure releases, Gaussian noise, stated pairs and products of them. The
 * curve of a sampled run takes too long: there an offer may not be below the lower end of epsilon that the line `recorded`. `where`:
 * the line, for errors; `known`: of ledger_charge_event(). EFORMAT, ENOMEM. */
sotto_status ledger_require_offers(struct part_memory *known, const struct ledger_item *item,
                                   const struct ledger_charge *recorded, const char *where);

/** What a line that opens columns says was spent before, likewise: each column that lives holds what the charges of `l` need, as if all
 * were planned together. Told as above; where a column may fail, the sum of pure releases beside stated pairs and Gaussians. EFORMAT,
 * ENOMEM. */
sotto_status ledger_require_spent(const struct ledger *l, const struct adaptive_columns *columns,
                                  const char *where);

#endif
