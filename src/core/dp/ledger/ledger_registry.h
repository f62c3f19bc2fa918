/* ledger_registry.h - which file is the ledger of which data set. A data set has one: ID.jsonl in the ledger
 * folder, or the file that ID.where names. */
#ifndef DP_LEDGER_LEDGER_REGISTRY_H
#define DP_LEDGER_LEDGER_REGISTRY_H

#include "dp/ledger/ledger.h"

/** $XDG_DATA_HOME/sotto/ledger/ID.jsonl; free with base_free(). A name that is no plain file name is hashed.
 * EINVAL: no identity, or no such folder can be named. */
sotto_status ledger_default_path(char **out, const char *dataset_id);
/** Makes the folder and takes its lock, which is held while a data set is charged, so all locks of ledgers are taken in one order.
 * Errors of ledger_lock_open(). */
sotto_status registry_lock(struct ledger_lock *lock);
/** The ledger that `dataset_id` has been charged to (base_free); NULL: none yet. EUSAGE: it is not there. */
sotto_status registry_find(char **path, const char *dataset_id);
/** Registers a file, of which the absolute path is kept. */
sotto_status registry_put(const char *dataset_id, const char *path);
/** Opens the ledger that was found. Where it says that it was moved, its new place is registered and opened. */
sotto_status registry_open(struct ledger *l, const char *dataset_id, const char *path,
                           const struct sotto_context *ctx);
/** Moves an open ledger to a file which must be new, empty, or what an interrupted move left: a copy, a last
 * entry in the old file, the registry, in this order, so that at any time exactly one of them takes charges. */
sotto_status registry_move(struct ledger *l, const char *dataset_id, const char *to,
                           const struct sotto_context *ctx);
/** The same file, under whatever names; files that are not there: the same name. */
bool registry_same_file(const char *a, const char *b);

#endif
