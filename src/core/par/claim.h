/* claim.h - which of several processes, on any machines with one shared folder, does which task.
 *
 * A task has a name; who works on it has the file NAME.claim, which says host, process, boot and time, and nothing of the
 * task. A thread renews its claims every minute. The claim of a process that is gone (on this machine), or one that was
 * not renewed for 15 minutes by the file server's clock, or that is empty for one minute, may be taken over. Two processes on one task are waste, never an
 * error: results are put in place by file_write_once() and are equal. */
#ifndef PAR_CLAIM_H
#define PAR_CLAIM_H

#include "base/status.h"

#include <stdbool.h>

enum { CLAIM_NAME = 80, CLAIM_OWNER = 384 };

struct claims;
/** Claims in a folder that exists. Free with claims_close(), which gives up what is still claimed. ENOMEM, EINVAL. */
sotto_status claims_open(struct claims **out, const char *folder);
void claims_close(struct claims *c);
/** *mine: the task is this call's, until claim_drop(); a second claim of the same process is refused like another's. From
 * any thread. ECREATE, EIO. */
sotto_status claim_take(bool *mine, struct claims *c, const char *name);
/** Harmless on what was not taken. */
void claim_drop(struct claims *c, const char *name);
/** Removes what killed processes left: claims NAME.claim beside a result NAME + ending, which no one needs. Harmless for a
 * process that is about to drop such a claim. */
void claims_tidy(const char *folder, const char *ending);
/** Who has the task, for people: "node7, process 4242"; "" if it is not known. */
void claim_owner(char out[CLAIM_OWNER], const struct claims *c, const char *name);
/** Waits before the next look at what others do: 0.1 s the first time (turn 0), 5 s in the end. ESTOPPED. */
sotto_status claim_wait(unsigned turn, const struct sotto_context *ctx);
/** A number that differs between processes, so that each may begin with another task. */
uint64_t claims_scatter(const struct claims *c);

#endif
