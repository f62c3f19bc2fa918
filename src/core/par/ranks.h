/* ranks.h - what the processes of one call say to each other (sotto/private/team.h), on any transport.
 *
 * Every exchange of a call goes after an agreement: each rank says whether it got so far. A rank that fails alone, wherever it
 * is, says so at the next agreement that the others come to, and all leave with its text. Between an agreement and its
 * exchanges nothing may fail by itself. An exchange that fails (the transport does) is remembered, and everything after it fails
 * with the same text; so a caller without a status may go on to the next agreement. A failure that all know of is agreed on
 * once: the calls that it passes through on its way out need not know whether others wait.
 *
 * Team NULL: one process; nothing is exchanged. */
#ifndef PAR_RANKS_H
#define PAR_RANKS_H

#include "par/transport.h"
#include "sotto/private/team.h"

#include <stdbool.h>
#include <stdint.h>

/** sotto_team_agree() with the thread's texts. */
sotto_status team_agree(const struct sotto_team *t, sotto_status mine);
/** The same with a question that rank 0 decides for all: *answer is its own, then that of rank 0 (if all got so far). */
sotto_status team_agree_on(const struct sotto_team *t, sotto_status mine, bool *answer);
/** After a failure that all ranks agreed on, and that all go on from, a stop for instance: what fails now is another one. */
void team_go_on(const struct sotto_team *t);

/** A number that goes with this rank's next agreement and costs no message of its own. */
void team_tell(const struct sotto_team *t, float number);
/** What all ranks told with the last agreement that succeeded (size); 0 where one told nothing. */
const float *team_told(const struct sotto_team *t);
/** Seconds that this rank has worked, which excludes waiting for others. Alone: 0. */
double team_worked(const struct sotto_team *t);

/** What this rank received from others, agreements aside. */
struct team_traffic {
    uint64_t messages, bytes; /* a gather counts as size - 1 messages */
};

/** sotto_team_open() on this transport. ENOMEM; ENOTSUP: it does not start. */
sotto_status team_start(struct sotto_team **out, const struct transport *transport, const int *communicator);
struct team_traffic team_traffic(const struct sotto_team *t);
/** Name of the machine on which the rank runs. */
const char *team_host(const struct sotto_team *t);
/** The CPUs that the launcher gave this rank (cpu_set_read()), as they were when the team began: OpenMP may bind threads later. */
const uint64_t *team_cpus(const struct sotto_team *t);
enum { TEAM_HOST = 64 };
/** Remembers, and says, on which machine another rank runs; "an unknown host" before. */
void team_know_host(const struct sotto_team *t, size_t rank, const char *host);
const char *team_host_of(const struct sotto_team *t, size_t rank);

/** Rank r has written rows firsts[r] .. firsts[r + 1] - 1, of `bytes` each; afterwards all ranks have all rows.
 *  In:  firsts (size + 1) */
sotto_status team_gather(const struct sotto_team *t, void *rows, size_t bytes, const size_t *firsts);
/** What each rank says of itself, `bytes` of it.
 *  Out: all  the address of a pointer: to (size) of these in the order of ranks, for base_free(); NULL after an error
 *  Returns: errors of any rank */
sotto_status team_gather_each(const struct sotto_team *t, void *all, const void *mine, size_t bytes);
/** Of rank 0 to all. */
sotto_status team_broadcast(const struct sotto_team *t, void *data, size_t bytes);
sotto_status team_exchange(const struct sotto_team *t, const void *send, size_t send_bytes, size_t to,
                           void *receive, size_t receive_bytes, size_t from);

#endif
