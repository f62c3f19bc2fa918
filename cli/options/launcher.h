/* launcher.h - is this process one of several that a launcher (mpirun, srun) started? */
#ifndef CLI_OPTIONS_LAUNCHER_H
#define CLI_OPTIONS_LAUNCHER_H

#include "options/options.h"
#include "sotto/private/all.h"

#include <stdbool.h>

/* What the environment says. */
struct launched {
    bool idle;     /* this rank has nothing to do */
    bool together; /* it is one of several that make one run */
    bool shares;   /* it is one of several workers */
    const char *launcher;
    long rank, size; /* size 0: unknown */
};

/* Reads the launcher's variables in the environment; without them nothing happens.
 * Errors: ENOTSUP, with a hint: one of several ranks at REFUSED, or variables that contradict each other. */
sotto_status launcher_check(struct launched *out, enum ranks ranks);
/* *seconds until this process should stop, so that --time-left is left of the scheduler's time; 0: it need not. Only work that goes on
 * when it is run again is stopped. EUSAGE: the option was given, but no scheduler says when the job ends. */
sotto_status launcher_time(unsigned *seconds, const struct options *o);
/* The rank by the variables of the launcher that comes first, unchecked; 0 where none says it. */
long launcher_rank(void);
/* What all ranks have alike, of the options for instance, rank 0 says: a launcher then ends the others, for which they wait here. */
void launcher_wait(void);
/* The failure of another rank than 0 that no message can tell the others: behind that wait it is told with the rank. */
void launcher_name_rank(const struct launched *l, sotto_status status);
/* Of verbs with --isa. EUSAGE. */
sotto_status launcher_isa(int *common, const struct options *o);
/* The team of a run that is made together, with one instruction set if it is to be common. ENOTSUP: no plug-in for MPI, or MPI sees other
 * ranks than the launcher. EUSAGE: a variable of the environment; or another verb or --isa on another rank, where *out is there nevertheless, for the
 * ranks to agree on the failure. */
sotto_status launcher_join(struct sotto_team **out, const struct launched *l, const char *verb,
                           int common_isa);

#endif
