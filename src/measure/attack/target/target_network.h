/* target_network.h - a whole network as a target, from memory. */
#ifndef ATTACK_TARGET_TARGET_NETWORK_H
#define ATTACK_TARGET_TARGET_NETWORK_H

#include "attack/target/target.h"
#include "sotto/attack.h"
#include "train/network/network.h"

/* Takes the network over if `owned`, also on failure; else it must outlive the target, as must name. ctx
 * (may be NULL) says how many threads answer. */
sotto_status target_network(struct sotto_target **out, const char *name, struct sotto_network *network,
                            bool owned, const struct sotto_context *ctx);

#endif
