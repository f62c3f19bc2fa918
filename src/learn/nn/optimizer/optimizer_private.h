/* optimizer_private.h - the optimizer's inside, shared by stepping and checkpointing.
 *
 * The states of all tensors lie in one span each, tensor t's from starts[t] on. Of a team a rank has elements borders[rank] to
 * borders[rank + 1] - 1 of each span, and of rank 0's the whole is in memory only around a checkpoint. */
#ifndef NN_OPTIMIZER_OPTIMIZER_PRIVATE_H
#define NN_OPTIMIZER_OPTIMIZER_PRIVATE_H

#include "nn/optimizer/optimizer.h"

/** A run of elements of one tensor: the unit of parallel work. */
struct optimizer_chunk {
    size_t tensor, offset, count;
};
struct nn_optimizer {
    struct arena tables, states, gathered;
    const struct optimizer *kind;
    const struct optimizer_kernels *kernels;
    struct nn_optimizer_config config;
    const struct sotto_team *team; /* NULL: alone */
    uint64_t steps;
    size_t tensor_count, chunk_count, width; /* width: of a span */
    char (*names)[96];                       /* of the tensors, for checkpoints */
    size_t *counts, *starts;                 /* elements per tensor, and where they begin in a span */
    size_t *borders;                         /* (ranks + 1), alone {0, width} */
    size_t first, end;                       /* of the own part of a span */
    float *own[OPTIMIZER_STATES_MAX];
    float *whole
        [OPTIMIZER_STATES_MAX]; /* all of it; alone: own; of a team NULL, or rank 0's around a checkpoint */
    struct optimizer_chunk *chunks;
};

#endif
