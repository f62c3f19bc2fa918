/* same_run.h - do all ranks of a team make the same run? */
#ifndef NN_LOOP_SAME_RUN_H
#define NN_LOOP_SAME_RUN_H

#include "par/ranks.h"

enum { SAME_RUN_RECIPE = 4096 };
/** Before the first step: all ranks compare program, recipe (with data and rows) and the bits of their kernels (leaves_machine(),
 *  example_sums_kernels()) with rank 0's. Texts are lines "key=value". Called by all. Team NULL: nothing.
 *
 *  Returns: EINVAL   another recipe or other data, of the lowest rank that differs, with the same text on all ranks
 *           ENOTSUP  another program, or other bits */
sotto_status same_run_check(const struct sotto_team *team, const char *recipe, const char *machine);

#endif
