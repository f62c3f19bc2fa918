/* shadow_share.h - several processes train the models of one plan, through its cache: each takes models that no process
 * has, by a claim (par/claim.h), and finds what the others finished. Without a cache one process trains all. */
#ifndef ATTACK_SHADOW_SHADOW_SHARE_H
#define ATTACK_SHADOW_SHADOW_SHARE_H

#include "attack/shadow/shadow_cache.h"
#include "attack/shadow/shadow_pool.h"
#include "par/claim.h"

struct shadow_share {
    const struct shadow_plan *plan;
    struct shadow_pool *pool;
    struct claims *claims; /* NULL without a cache */
    sotto_status (*identify)(struct shadow_identity *out, const void *arg, size_t model);
    /* From the cache into the pool, if it is there. */
    sotto_status (*fetch)(bool *found, void *arg, size_t model, const struct shadow_identity *id);
    /* Trains those of the models that share_take() gives. */
    sotto_status (*train)(void *arg, const size_t *model, size_t count);
    void *arg;
    double seconds, bytes; /* of a survey: sums over `timed` models */
    size_t timed;
};
/* Fills the pool: what the cache has is fetched, what is open trained, what others train waited for (not by workers
 * and shards). ESTOPPED, and those of the functions. */
sotto_status shadow_share_run(struct shadow_share *s);
/* *mine: this process is to train the model; then share_drop() after shadow_cache_add(). From any thread. */
sotto_status share_take(bool *mine, struct shadow_share *s, size_t model);
void share_drop(struct shadow_share *s, size_t model);
/* Seconds since some moment. */
double shadow_clock(void);

#endif
