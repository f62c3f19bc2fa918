/* whitebox_sketch.h - the last layers of a head or a network, read for many records: results, and what nn/plan/plan_sketch.h
 * says of the gradients. */
#ifndef ATTACK_QUERY_WHITEBOX_SKETCH_H
#define ATTACK_QUERY_WHITEBOX_SKETCH_H

#include "attack/query/whitebox_features.h"
#include "nn/plan/plan_sketch.h"
#include "train/network/network.h"

struct whitebox_sketch {
    size_t n, layers, outputs;  /* layers: as many as asked for, or all */
    struct layer_sketch *layer; /* (n, layers), the first layer first */
    float *output; /* (n, outputs): results of these layers, of convolutions their channels' means */
    double *loss;  /* (n) nats */
};
/* Exactly one of head and network. seed: of the sketches. EINVAL, ENOMEM, ESTOPPED. */
sotto_status whitebox_sketch_make(struct whitebox_sketch *out, const struct sotto_head *head,
                                  const struct sotto_network *network, const struct head_data *records,
                                  size_t layers, uint64_t seed, const struct sotto_context *ctx);
void whitebox_sketch_clear(struct whitebox_sketch *s);

#endif
