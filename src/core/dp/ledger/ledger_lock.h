/* ledger_lock.h - one process at a time writes a ledger, also on a file system that several machines share. */
#ifndef DP_LEDGER_LEDGER_LOCK_H
#define DP_LEDGER_LEDGER_LOCK_H

#include "base/memory.h"

/** flock() of the file; on a network file system, where that may hold on one machine only, the file LEDGER.lock too, which
 * names its holder and which no process but its holder removes. Start with {0}. */
struct ledger_lock {
    int fd;     /* of the locked file; -1: not held */
    char *path; /* LEDGER.lock; NULL: none was made */
};
/** Opens the file with `flags`, or creates it (mode 0600), and takes its locks, waiting for up to 30 s.
 *
 *  SOTTO_LEDGER_LOCK=file in the environment: LEDGER.lock on every file system.
 *  Errors: ECREATE  the file, or LEDGER.lock, cannot be made
 *          EAGAIN   another process has it; or one that was killed left LEDGER.lock
 *          EUSAGE   SOTTO_LEDGER_LOCK has another value; EIO, ENOMEM */
sotto_status ledger_lock_open(struct ledger_lock *out, const char *path, int flags);
/** Harmless on {.fd = -1}. */
void ledger_lock_close(struct ledger_lock *l);

#endif
