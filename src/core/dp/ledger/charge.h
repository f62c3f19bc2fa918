/* charge.h - a charge to the ledger of a data set, and to those of other data sets that hold the same people. */
#ifndef DP_LEDGER_CHARGE_H
#define DP_LEDGER_CHARGE_H

#include "dp/ledger/ledger_account.h"
#include "dp/ledger_line/ledger_line.h"

/** The identity that is charged: `given`, or else that of the provenance. EINVAL: neither, or two that differ. */
sotto_status charge_identity(const char **dataset_id, const char *given, const struct sotto_provenance *p);

struct charge {
    const char *dataset_id;
    const struct sotto_source_records *source; /* or NULL: unknown */
    struct ledger *ledgers; /* (count): the data set's own, then those of same_people; locked */
    size_t count;
    struct ledger_lock lock; /* of the registry; .fd -1: a public set */
    bool opened;             /* the data set's own had no entry */
};

/** Finds and locks the ledgers, as `ledger` and `source` (struct sotto_release) ask. Nothing is charged.
 *  EUSAGE: another file than the data set's ledger; errors of ledger_open(). Texts are borrowed until charge_close(). */
sotto_status charge_open(struct charge *c, const char *dataset_id, const char *ledger,
                         const struct sotto_source_records *source, const struct sotto_context *ctx);
/** Every ledger stays within its budget (EBUDGET, and nothing is written); then hashes of new records and the
 * entry are on disk in all of them, the data set's own last. Its source is that of charge_open(). */
sotto_status charge_enter(struct charge *c, const struct charge_entry *entry,
                          const struct sotto_context *ctx);
/** What charge_enter() and budgets say from here on is written by charge_write_held(): all of it or nothing, in each ledger. */
void charge_hold(struct charge *c);
/** The data set's own ledger last. EIO. */
sotto_status charge_write_held(struct charge *c, const struct sotto_context *ctx);
/** A release of a plan (ledger_plan.h): its slot is spent, on disk, in the data set's own ledger; nothing is charged. The entry is of a
 * release, and becomes that of the slot.
 *  In:      asked    "ID:K"
 *  Out:     *slot    borrowed until charge_close()
 *  Returns: EINVAL   no such slot of this data set, or the release is not the one that was planned: names the first parameter
 *           EBUDGET  the slot is spent */
sotto_status charge_spend_slot(struct plan_slot *slot, struct charge *c, const struct charge_entry *entry,
                               const char *asked);
/** Harmless on {0} with lock.fd -1. */
void charge_close(struct charge *c);

#endif
