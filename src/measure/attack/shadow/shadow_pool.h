/* shadow_pool.h - models that an attacker trains on records whose membership he knows.
 *
 * Each shadow trains on its IN records only, as sotto_head_train() or sotto_train() would (MLPs and
 * networks: one model per thread, weights in its cache; linear heads: many per product, head_batch_train.h).
 * Finished shadows are kept in a cache folder by the hash of everything that decides them, so a killed run
 * goes on where it was and shards can be trained apart. */
#ifndef ATTACK_SHADOW_SHADOW_POOL_H
#define ATTACK_SHADOW_SHADOW_POOL_H

#include "attack/attack_facts.h"
#include "attack/shadow/shadow_split.h"
#include "head/model/head_model.h"
#include "par/par.h"
#include "train/network/network.h"

struct shadow_plan {
    const struct head_data *data; /* the attacker's records, borrowed as is all else */
    const uint8_t *use;           /* (models, n), of enum shadow_use */
    size_t models;
    const struct sotto_head_recipe *recipe;    /* of heads, checked; or */
    const struct sotto_train_options *network; /* of networks, checked, without files; dtype resolved; backend
                                                  NULL, "auto": the first that there is, not measured;
                                                  snapshot_every needs the cache */
    const struct sotto_train_privacy *privacy; /* of networks trained by DP-SGD, else NULL */
    bool known_start; /* all with the recipe's own seed, which is the target's: the worst case */
    size_t shard, shards;
    const char *cache; /* folder, or NULL; other processes may fill it at the same time (shadow_share.h) */
    bool worker;       /* train what no process does, load nothing, do not wait for others; needs the cache */
    bool survey;    /* a worker that trains one shadow at most, and only if the cache knows no time of any */
    uint64_t seed;  /* that made `use`; of the shadows' own seeds */
    size_t repeats; /* networks with noise: posteriors averaged for an answer; 0 and 1: one */
    const struct sotto_context *ctx;
};
struct shadow_pool {
    size_t models, parameters;
    float *weights;                         /* of heads: (models, parameters), file order; NULL of a worker */
    double *train_accuracy, *test_accuracy; /* (models); NAN without OUT records */
    uint8_t *ready;                         /* (models): 0 where another shard has not delivered */
    size_t trained, reused, missing, repeats;
    double seconds, bytes;           /* of a survey: of a model, on average; of all files. NAN: not known */
    bool partial;                    /* a worker's, or some are missing: nothing to ask */
    struct sotto_head *shape;        /* a head of the right shape to load weights into */
    struct sotto_network **networks; /* (models), NULL where not ready; the pool itself NULL of heads */
    /* (models): folders in the cache with the intermediate models of each, for network->snapshot_every; NULL: none are
     * kept */
    char **snapshots;
};
/* EINVAL: a shadow that sees no record, or classes; EDIVERGED, ESTOPPED, ENOMEM; EFORMAT: a damaged file in
 * the cache, or one that was made in another way than its name says. */
sotto_status shadow_pool_make(struct shadow_pool *out, const struct shadow_plan *plan);
void shadow_pool_clear(struct shadow_pool *s);
/* One shadow as a head; free with sotto_head_free(). Only of a pool of heads. */
sotto_status shadow_pool_head(struct sotto_head **out, const struct shadow_pool *s, size_t model);
/* out (n, classes): what one shadow answers to x (n, d); logits of an averaged answer are the logarithms of
 * its posteriors. Networks: from one thread only. */
sotto_status shadow_pool_ask(float *out, const struct shadow_pool *s, size_t model, const float *x, size_t n,
                             size_t d, int logits, const struct sotto_context *ctx);
/* Calls body for every shadow: networks one after the other, heads side by side. */
sotto_status shadow_pool_each(const struct shadow_pool *s, par_body body, void *arg,
                              const struct sotto_context *ctx);
/* The adaptive attacker adds noise to its shadow models by the mechanism's law, as the target was, with draws of its
 * own. */
struct shadow_noise {
    const char *mechanism;
    double scale;
    uint64_t seed;
};
/* signals (n, models): posterior_signal() of every record under every shadow; noise (of heads only) NULL: as
 * they are. ENOMEM, EINVAL. */
sotto_status shadow_pool_signals(double *signals, const struct shadow_pool *s, const struct head_data *data,
                                 const struct shadow_noise *noise, const struct sotto_context *ctx);
/* Hours for what a survey found missing, by so many workers with the context's threads each. */
double shadow_pool_hours(const struct shadow_pool *s, const struct shadow_plan *plan, size_t workers);
/* Adds how many, mean accuracies; of a partial pool how many were trained, reused and are missing: who trained a
 * shadow of a whole pool changes nothing, so reports do not say it. */
void shadow_pool_describe(struct facts *out, const struct shadow_pool *s, const struct shadow_plan *plan);

/* ---- for shadow_networks.c ---- */

/* The same for networks: fills s->networks. */
sotto_status shadow_networks_make(struct shadow_pool *s, const struct shadow_plan *plan);
/* shadow_pool_ask() of a pool of networks. */
sotto_status shadow_network_ask(float *out, const struct shadow_pool *s, size_t model, const float *x,
                                size_t n, size_t d, int logits, const struct sotto_context *ctx);
/* One network on records of which *own is a part; by DP-SGD unless privacy is NULL, with the noise of
 * noise_seed. Quiet; stops when ctx says so. */
sotto_status shadow_network_train(struct sotto_network **out, const struct head_data *own,
                                  const struct sotto_train_options *options,
                                  const struct sotto_train_privacy *privacy, uint64_t noise_seed,
                                  const struct sotto_context *ctx);
/* Another top for a network: its first `rows` rows stay as they are, the others are trained from first weights of their own on
 * *own. Quiet; stops when ctx says so. EINVAL: also a network with ensemble members. */
sotto_status shadow_network_train_top(struct sotto_network **out, const struct sotto_network *network,
                                      size_t rows, const struct head_data *own,
                                      const struct sotto_train_options *options,
                                      const struct sotto_context *ctx);
/* The records of one kind that a shadow uses, copied out. Free *x and *y with base_free(), also on
 * failure. */
sotto_status shadow_records(float **x, int64_t **y, struct head_data *out, const struct shadow_plan *p,
                            size_t model, enum shadow_use kind);
/* The recipe of one shadow: the plan's, with the shadow's own seed. */
struct sotto_head_recipe shadow_recipe(const struct shadow_plan *p, size_t model);

#endif
