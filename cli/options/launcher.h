/* launcher.h - is this process one of several that a launcher (mpirun, srun) started? */
#ifndef CLI_OPTIONS_LAUNCHER_H
#define CLI_OPTIONS_LAUNCHER_H

#include "sotto/sotto.h"

#include <stdbool.h>

/* What the ranks of a launcher do, a column of verb_list.h. */
enum ranks {
    ALL_RANKS, /* one run of all ranks together: needs MPI support, which this program does not have */
    RANK_0     /* rank 0 works, the others end with 0 in silence */
};

/* Reads the launcher's variables in the environment; without them nothing happens.
 * Out: *idle: this rank has nothing to do.
 * Errors: ENOTSUP, with a hint: one of several ranks at ALL_RANKS, or variables that contradict each other. */
sotto_status launcher_check(bool *idle, enum ranks ranks);

#endif
