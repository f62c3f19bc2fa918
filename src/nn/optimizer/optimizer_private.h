/* optimizer_private.h - the optimizer's inside, shared by stepping and checkpointing. */
#ifndef NN_OPTIMIZER_OPTIMIZER_PRIVATE_H
#define NN_OPTIMIZER_OPTIMIZER_PRIVATE_H

#include "nn/optimizer/optimizer.h"

/** A run of elements of one tensor: the unit of parallel work. */
struct optimizer_chunk {
    size_t tensor, offset, count;
};
struct nn_optimizer {
    struct arena arena;
    const struct optimizer *kind;
    const struct optimizer_kernels *kernels;
    struct nn_optimizer_config config;
    uint64_t steps;
    size_t tensor_count, chunk_count;
    char (*names)[96]; /* of the tensors, for checkpoints */
    size_t *counts;    /* elements per tensor */
    float **states;    /* states[tensor * OPTIMIZER_STATES_MAX + state] */
    struct optimizer_chunk *chunks;
};

#endif
