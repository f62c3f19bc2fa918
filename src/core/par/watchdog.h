/* watchdog.h - ends this process when it waits for other ranks for too long: a lost link or a stopped rank shows in no other way, and
 * neither MPI nor its launcher ends then. */
#ifndef PAR_WATCHDOG_H
#define PAR_WATCHDOG_H

#include "base/status.h"

/** Too long: 300 s (or SOTTO_WATCHDOG_SECONDS in the environment), and 20 times as long as this rank itself has worked
 * between two waits so far, as others may have as much to do. The process then ends with a line on stderr and exit code 75. */
struct watchdog;
/** EUSAGE: the environment's seconds; ENOMEM, EAGAIN: no thread. */
sotto_status watchdog_start(struct watchdog **out, size_t rank, const char *host);
/** NULL: nothing, in all of these. */
void watchdog_stop(struct watchdog *w);
/** Before and after each wait. */
void watchdog_wait(struct watchdog *w);
void watchdog_go(struct watchdog *w);
/** Seconds that this process has worked between waits so far, the work before the next wait included. NULL: 0. */
double watchdog_worked(struct watchdog *w);

#endif
