#include "attack/shadow/shadow_share.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double shadow_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sotto_status claim_name(char out[CLAIM_NAME], struct shadow_identity *id, const struct shadow_share *s,
                               size_t model)
{
    char key[SHA256_HEX];
    sotto_status status = s->identify(id, s->arg, model);
    if (status == SOTTO_OK) {
        shadow_cache_key(key, id);
        snprintf(out, CLAIM_NAME, "%.32s", key); /* as the model's files */
    }
    return status;
}

sotto_status share_take(bool *mine, struct shadow_share *s, size_t model)
{
    sotto_status status = SOTTO_OK;
    struct shadow_identity id;
    char name[CLAIM_NAME];
    *mine = !s->claims;
    if (*mine)
        goto done;
    TRY(claim_name(name, &id, s, model));
    if (shadow_cache_has(s->plan->cache, &id))
        goto done;
    TRY(claim_take(mine, s->claims, name));
    if (*mine && shadow_cache_has(s->plan->cache, &id)) { /* finished and given up between the two looks */
        claim_drop(s->claims, name);
        *mine = false;
    }
done:
    return status;
}

void share_drop(struct shadow_share *s, size_t model)
{
    struct shadow_identity id;
    char name[CLAIM_NAME];
    if (s->claims && claim_name(name, &id, s, model) == SOTTO_OK)
        claim_drop(s->claims, name);
}

static sotto_status add_cost(struct shadow_share *s, const struct shadow_identity *id)
{
    double seconds, bytes;
    sotto_status status = shadow_cache_cost(&seconds, &bytes, s->plan->cache, id);
    if (status == SOTTO_OK && isfinite(seconds) && isfinite(bytes)) {
        s->seconds += seconds;
        s->bytes += bytes;
        s->timed++;
    }
    return status;
}

/* What the models in the cache took; without any, one is trained. */
static sotto_status shadow_share_survey(struct shadow_share *s, size_t *model, size_t *count)
{
    sotto_status status = SOTTO_OK;
    struct shadow_identity id;
    if (s->timed == 0 && *count > 0) {
        TRY(s->train(s->arg, model, 1));
        TRY(s->identify(&id, s->arg, model[0]));
        if (s->pool->ready[model[0]]) {
            TRY(add_cost(s, &id));
            memmove(model, model + 1, --*count * sizeof *model);
        }
    }
    s->pool->seconds = s->timed ? s->seconds / (double)s->timed : NAN;
    s->pool->bytes = s->timed ? s->bytes / (double)s->timed * (double)s->plan->models : NAN;
done:
    return status;
}

/* *found: the cache has it; a worker loads nothing. */
static sotto_status shadow_share_look(bool *found, struct shadow_share *s, size_t model)
{
    sotto_status status = SOTTO_OK;
    struct shadow_identity id;
    *found = false;
    if (!s->plan->cache)
        goto done;
    TRY(s->identify(&id, s->arg, model));
    if (!s->plan->worker) {
        TRY(s->fetch(found, s->arg, model, &id));
    } else {
        *found = shadow_cache_has(s->plan->cache, &id);
        s->pool->reused += *found;
        if (*found && s->plan->survey)
            TRY(add_cost(s, &id));
    }
done:
    return status;
}

/* Keeps those of the models that neither this process nor the cache has. */
static sotto_status keep_open(size_t *model, size_t *count, struct shadow_share *s, const bool *own)
{
    sotto_status status = SOTTO_OK;
    size_t left = 0;
    for (size_t i = 0; i < *count; i++) {
        bool found = s->pool->ready[model[i]] != 0;
        if (!found)
            TRY(shadow_share_look(&found, s, model[i]));
        if (found)
            continue;
        if (!own || own[i])
            model[left++] = model[i];
        else
            s->pool->missing++;
    }
    *count = left;
done:
    return status;
}

static void say_who(const struct shadow_share *s, const size_t *model, size_t count)
{
    struct shadow_identity id;
    char name[CLAIM_NAME], owner[CLAIM_OWNER] = "";
    if (claim_name(name, &id, s, model[0]) == SOTTO_OK)
        claim_owner(owner, s->claims, name);
    context_log(
        s->plan->ctx, SOTTO_LOG_INFO,
        "shadow models: waiting for %zu that other processes train%s%s%s; one without a sign of life for "
        "15 minutes is replaced",
        count, owner[0] ? " (" : "", owner, owner[0] ? ")" : "");
}

static sotto_status shadow_share_start(size_t **model, bool **own, size_t *count, struct shadow_share *s)
{
    sotto_status status = SOTTO_OK;
    const struct shadow_plan *p = s->plan;
    if (p->cache)
        TRY(claims_open(&s->claims, p->cache));
    const size_t first = p->worker ? (size_t)(claims_scatter(s->claims) % p->models) : 0;
    NEW(*model, p->models);
    NEW(*own, p->models);
    for (size_t i = 0; i < p->models; i++) {
        (*model)[i] = (first + i) % p->models;
        (*own)[i] = p->shards < 2 || (*model)[i] % p->shards == p->shard;
    }
    *count = p->models;
done:
    return status;
}

sotto_status shadow_share_run(struct shadow_share *s)
{
    sotto_status status = SOTTO_OK;
    const struct shadow_plan *p = s->plan;
    size_t *model = NULL, count = 0;
    bool *own = NULL;
    REQUIRE(!p->worker || p->cache, "shadows: a worker needs the cache");
    TRY(shadow_share_start(&model, &own, &count, s));
    TRY(keep_open(model, &count, s, own));
    if (p->survey)
        TRY(shadow_share_survey(s, model, &count));
    for (unsigned turn = 0; count > 0 && !p->survey; turn++) {
        TRY(s->train(s->arg, model, count));
        TRY(keep_open(model, &count, s, NULL));
        if (p->worker || p->shards > 1 || count == 0)
            break;
        if (turn == 0)
            say_who(s, model, count);
        TRY(claim_wait(turn, p->ctx));
    }
    s->pool->missing += count;
    s->pool->partial = p->worker || s->pool->missing > 0;
    if (p->cache && (!p->worker || s->pool->trained > 0))
        context_log(p->ctx, SOTTO_LOG_INFO, "shadow models: %zu trained, %zu from the cache, %zu missing",
                    s->pool->trained, s->pool->reused, s->pool->missing);
    if (p->cache && !p->survey)
        claims_tidy(p->cache, ".json");
done:
    claims_close(s->claims);
    s->claims = NULL;
    base_free(model);
    base_free(own);
    return status;
}
