/* ledger_runs.h - what a ledger tells of a run: its reservations, and the labels that it counts on. */
#ifndef DP_LEDGER_LEDGER_RUNS_H
#define DP_LEDGER_LEDGER_RUNS_H

#include "dp/dpsgd/dpsgd_reservations.h"

/** The reservations of run `id` among the entries of a ledger whose chain was checked, up to the entry `last` (its number
 *  among the charges, or where by_line among all lines). `facts`: what they must agree with. EINVAL: they do not; ENOENT, EIO, ENOMEM. */
sotto_status dpsgd_reservations_read(struct dpsgd_reservations *out, const char *ledger, const char *id,
                                     int64_t last, bool by_line, const struct dpsgd_facts *facts);
/** The entry of hash `entry`. EINVAL: the ledger has none, or it is no such release; ENOENT, EIO, ENOMEM. */
sotto_status run_labels_read(struct run_labels *out, const char *ledger, const char *entry);

#endif
