/* layer_memories.h - what single layers of a network remember (Leino and Fredrikson 2020). For a layer with result h the layers
 * above it are compared with proxies: other layers above the same h, trained on records of the attacker. The displacement of a
 * record at that layer is (chi - mean chi of the proxies) . h, chi being the internal influence (nn/plan/plan_influence.h). */
#ifndef ATTACK_QUERY_LAYER_MEMORIES_H
#define ATTACK_QUERY_LAYER_MEMORIES_H

#include "attack/query_attack.h"
#include "nn/plan/plan_influence.h"
#include "train/network/network.h"

struct layer_memories {
    const struct sotto_network *network; /* borrowed */
    size_t layers, proxies, cut[PLAN_CUTS];
    struct nn_shape shape[PLAN_CUTS]; /* of the layers' results */
    struct sotto_network **proxy;     /* (layers, proxies) */
    struct nn_model *model;           /* of the network's kind: reads the weights of each in turn */
    struct nn_plan *plan;
    int threads;
};
/** Trains the proxies on `own`. `layers` at most, the last ones of the network. Free with layer_memories_clear(), also after an
 * error. EINVAL: no layer below the output; an ensemble; errors of training. */
sotto_status layer_memories_make(struct layer_memories *out, const struct sotto_network *network,
                                 size_t layers, size_t proxies, const struct head_data *own,
                                 const struct sotto_train_options *options, uint64_t seed,
                                 const struct sotto_context *ctx);
void layer_memories_clear(struct layer_memories *m);
/** score (n): displacements of the records at layer l; map (n, values of the layer): their parts by value, or NULL. */
sotto_status layer_memories_score(double *score, double *map, struct layer_memories *m, size_t l,
                                  const struct head_data *records, const struct sotto_context *ctx);
/** out (n): the mean result of channel `unit` of layer l. */
sotto_status layer_memories_activation(double *out, struct layer_memories *m, size_t l, size_t unit,
                                       const struct head_data *records, const struct sotto_context *ctx);

/** Where a record is remembered. */
struct memory_explanation {
    size_t layer, unit;
    double displacement, share; /* of the unit; of the positive displacements of the layer */
    /* (height, width) of a record, 0 .. 1: the unit's displacement there; all 1 where the layer has no places.
     * base_free() */
    float *map;
};
/** Of a layer with places, where there is one, the unit with the largest share. ENOMEM, ESTOPPED. */
sotto_status memory_explain(struct memory_explanation *out, struct layer_memories *m,
                            const struct head_data *record, const struct sotto_context *ctx);

#endif
