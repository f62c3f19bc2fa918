/* checkpoint_lock.h - one run at a time continues a checkpoint. */
#ifndef BASE_CHECKPOINT_LOCK_H
#define BASE_CHECKPOINT_LOCK_H

#include "base/memory.h"

/** The file CHECKPOINT.lock. It names its holder, goes when it is released, and counts for nothing once its process has ended.
 * Start with {0}. */
struct checkpoint_lock {
    char *path; /* NULL: not held */
    int fd;
};
/** EAGAIN: another process, or another call of this one, holds it. ECREATE: the folder cannot be written to. ENOMEM. */
sotto_status checkpoint_lock_take(struct checkpoint_lock *out, const char *checkpoint);
/** Removes a checkpoint before a fresh start; it need not exist. EAGAIN: another run continues it, and it stays. Else as above. */
sotto_status checkpoint_discard(const char *checkpoint);
/** Harmless on {0}. */
void checkpoint_lock_release(struct checkpoint_lock *l);

#endif
