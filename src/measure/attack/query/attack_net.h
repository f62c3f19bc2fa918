/* attack_net.h - the network of a shadow attack: it learns from shadows' answers what a member looks like. */
#ifndef ATTACK_QUERY_ATTACK_NET_H
#define ATTACK_QUERY_ATTACK_NET_H

#include "attack/shadow/shadow_set.h"

/* One hidden layer of 64 ReLU units and two outputs (in, out), by Adam at 1e-3 in batches of 100. Shokri et
 * al. and Salem et al. give the layers; the epochs [50] and the rate are chosen here. */
struct sotto_head_recipe attack_net_recipe(uint64_t seed);
/* Log-odds of membership by a network that learnt from `train`, of n rows (n, train->width). */
sotto_status attack_net_scores(double *scores, const struct output_table *train, const float *rows, size_t n,
                               uint64_t seed, const struct sotto_context *ctx);
/* The same by the best of several learning rates, which is the one with the least loss on `train`: a large
 * rate may leave a network that answers the same to everything, and an attack must not fail for that.
 * *chosen: the rate. */
sotto_status attack_net_scores_best(double *scores, double *chosen, const struct output_table *train,
                                    const float *rows, size_t n, const double *rates, size_t rate_count,
                                    uint64_t seed, const struct sotto_context *ctx);
/* One network for each class, and a global one for records of a class that no shadow has both in and out.
 * *fallback: how many such classes. */
sotto_status attack_net_scores_by_class(double *scores, size_t *fallback, const struct output_table *train,
                                        const float *rows, const int64_t *labels, size_t n, size_t classes,
                                        uint64_t seed, const struct sotto_context *ctx);

#endif
