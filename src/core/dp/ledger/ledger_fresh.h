/* ledger_fresh.h - tells a ledger that has no entry yet from one that lost them.
 *
 * LEDGER.new lies beside a ledger from before its file is made until its first entry is on disk. Noise is drawn after that, so where
 * the mark is, nothing was released. A ledger without an entry and without a mark lost what it had, which would be forgotten. */
#ifndef DP_LEDGER_LEDGER_FRESH_H
#define DP_LEDGER_LEDGER_FRESH_H

#include "base/memory.h"

/** Makes the mark, unless the ledger's file is there; called before that is made. In: path, in a folder that exists. ECREATE. */
sotto_status ledger_fresh_mark(const char *path);
/** The ledger has entries: no mark, for good. EIO. */
sotto_status ledger_fresh_forget(const char *path);
/** Of a ledger without a whole entry. In: size  its bytes, as they were read: one that has grown since was charged meanwhile.
 *  Returns: EFORMAT: it had entries, as there is no mark */
sotto_status ledger_fresh_require(const char *path, size_t size);

#endif
