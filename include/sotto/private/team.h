/* team.h - processes that work on one call together.
 *
 * mpirun or srun starts a program once for each rank; each opens the team, puts it into the context of the same calls with
 * the same arguments, and closes it. sotto_pretrain() and sotto_train() in order "exact" take a team: every rank gets the
 * bits that one process alone computes, on any number of ranks and threads; and so does sotto_train_private(). All other calls
 * refuse a context with a team (ENOTSUP). */
#ifndef SOTTO_TEAM_H
#define SOTTO_TEAM_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Loads the plug-in for MPI (libsotto_mpi.so beside the library, or the file that SOTTO_MPI_LIBRARY in the environment names)
 *  and starts MPI, unless the program has done so, before it made threads. The thread that calls this makes all later calls
 *  with the team.
 *
 *  A rank that waits for others for too long (300 s, or SOTTO_WATCHDOG_SECONDS in the environment, and 20 times as long as it ever
 *  worked between two waits) ends its process with a line on stderr and exit code 75: a link was lost, or a rank was stopped.
 *
 *  In:      communicator  by which the program knows its own in Fortran (MPI_Comm_c2f()); NULL: MPI_COMM_WORLD
 *  Out:     *out          close with sotto_team_close()
 *  Returns: ENOTSUP       no plug-in, or MPI refuses
 *           EUSAGE        on all ranks: SOTTO_WATCHDOG_SECONDS of one is no number from 1 to 1e9 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_team_open(struct sotto_team **out, const int *communicator);
/** Returns: 0 .. size - 1; 0 for NULL. Files, progress and log are rank 0's. */
SOTTO_API size_t sotto_team_rank(const struct sotto_team *team);
/** Returns: ranks; 1 for NULL. */
SOTTO_API size_t sotto_team_size(const struct sotto_team *team);
/** Lowers this process to the lowest instruction set of all ranks, so that all compute the same bits on machines of several kinds: it
 *  sets SOTTO_ISA in the environment. All ranks call it, before anything is computed and before there are threads.
 *
 *  In:      team    NULL: one process, which always agrees
 *           common  0: only compares whether all ranks say the same
 *  Returns: EUSAGE  they do not */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_team_common_isa(const struct sotto_team *team, int common);
/** Compares a text that all ranks should have alike, such as the command that they run, before calls in which they would wait for each
 *  other. All ranks call it.
 *
 *  In:      team   NULL: one process, which always agrees
 *           what   the name of it, for the error
 *           value  its first 100 bytes are compared
 *  Returns: EUSAGE  on all ranks: one has another
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_team_same(const struct sotto_team *team, const char *what,
                                                        const char *value);
/** What all ranks say of their work since they last agreed. Calls with a team do so by themselves; a rank that leaves before
 *  such a call, as it cannot open the data for instance, says so here instead, so that no other waits for it. So each rank
 *  calls this at its end, with the status of the whole.
 *
 *  In:      mine        this rank's status
 *           text, hint  of the error; NULL: those of the thread's last failure
 *  Returns: SOTTO_OK if all say so, else the status of the lowest rank that does not, with its text, on every rank; that of the
 *           transport if it failed. mine, if team is NULL */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_team_agree(const struct sotto_team *team, sotto_status mine,
                                                         const char *text, const char *hint);
/** Ends MPI if sotto_team_open() started it. NULL: nothing. */
SOTTO_API void sotto_team_close(struct sotto_team *team);

#ifdef __cplusplus
}
#endif
#endif
