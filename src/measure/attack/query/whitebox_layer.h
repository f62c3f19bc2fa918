/* whitebox_layer.h - the part of a model that white-box attacks look into: a head, or the last layer of a
 * network, and its records as that part sees them. */
#ifndef ATTACK_QUERY_WHITEBOX_LAYER_H
#define ATTACK_QUERY_WHITEBOX_LAYER_H

#include "attack/query/whitebox_features.h"
#include "train/network/network.h"

struct whitebox_layer {
    const struct sotto_head *head; /* what is looked into */
    struct head_data records;      /* labels and classes are those of the records given */
    struct sotto_head *last;       /* of a network: behind head */
    float *embedded;               /* behind records.x */
};
/* Of a head: itself, and the records as they are. Of a network (head NULL): its last layer, and
 * embeddings. */
sotto_status whitebox_layer_make(struct whitebox_layer *out, const struct sotto_head *head,
                                 const struct sotto_network *network, const struct head_data *records,
                                 const struct sotto_context *ctx);
void whitebox_layer_clear(struct whitebox_layer *s);

#endif
