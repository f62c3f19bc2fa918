/* shard.h - --shard I/N, and --shard auto: the part that a scheduler's job array or a launcher gives this process. */
#ifndef CLI_INPUTS_SHARD_H
#define CLI_INPUTS_SHARD_H

#include "options/options.h"

/* In:  o         with a text option "shard", or none given: part 1 of 1
 * Out: *shard    from 0; of *shards
 * auto reads SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX or SGE_TASK_ID, and within such a task the rank that mpirun or srun gave.
 * Errors: EUSAGE: not I/N, auto or auto/N; nothing is set; or the numbers contradict each other. */
sotto_status shard_read(size_t *shard, size_t *shards, const struct options *o);

#endif
