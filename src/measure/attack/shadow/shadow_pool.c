#include "attack/shadow/shadow_pool.h"
#include "sotto/lab/head.h"

#include "attack/shadow/shadow_share.h"
#include "audit/score/posterior.h"
#include "base/file.h"
#include "dp/release/noise_simulate.h"
#include "head/kernel/head_bits.h"
#include "head/batch/head_batch_train.h"
#include "par/par.h"
#include "rng/rng.h"
#include "train/private/dp_sgd.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { BLOCK = 64 }; /* linear heads trained between two visits to the cache */

struct trainer {
    const struct shadow_plan *plan;
    struct shadow_pool *pool;
    char data_sha256[SHA256_HEX]; /* of the data; empty without a cache, as hashing may take longer than a
                                     training */
    const char *shape;
    struct sotto_head_recipe block; /* of linear heads */
    uint64_t *bits;     /* of MLPs: the records, once for all models, if they are bits (head_bits.h) */
    const size_t *todo; /* models to train */
    size_t count;
    struct shadow_share share;
    struct sotto_context quiet; /* the caller's, without its sinks: those need not be thread-safe */
    atomic_size_t finished;
};

struct sotto_head_recipe shadow_recipe(const struct shadow_plan *p, size_t model)
{
    struct sotto_head_recipe r = *p->recipe;
    struct rng draw = rng_stream(p->seed, RNG_SPLIT, 3, model);
    if (!p->known_start && !head_recipe_convex(&r))
        r.seed = rng_u64(&draw) >> 1;
    return r;
}

static bool in_blocks(const struct shadow_plan *p)
{
    return p->recipe->hidden_count == 0;
}

/* Linear heads share batches over all records, so a batch is larger by the share that a head does not see (on
 * average: all heads of a plan have the same batch), and one seed: the plan's, unless the target's is known. */
static struct sotto_head_recipe block_recipe(const struct shadow_plan *p)
{
    struct sotto_head_recipe r = shadow_recipe(p, 0);
    double in = 0, all = (double)p->models * (double)p->data->n;
    for (size_t i = 0; i < p->models * p->data->n; i++)
        in += p->use[i] == SHADOW_IN;
    if (in > 0)
        r.batch = (size_t)((double)r.batch * all / in + 0.5);
    return r;
}

static sotto_status shadow_pool_identify(struct shadow_identity *out, const void *arg, size_t model)
{
    const struct trainer *t = arg;
    const struct shadow_plan *p = t->plan;
    *out = (struct shadow_identity){.data_sha256 = t->data_sha256,
                                    .use = p->use + model * p->data->n,
                                    .n = p->data->n,
                                    .shape = t->shape,
                                    .split_seed = p->seed};
    struct sotto_head_recipe recipe = in_blocks(p) ? t->block : shadow_recipe(p, model);
    head_recipe_text(out->recipe, &recipe, p->data->d, p->data->classes);
    return SOTTO_OK;
}

/* The records of one kind that a shadow uses, where they lie. Free *record with base_free(). */
static sotto_status part_of(struct head_part *out, size_t **record, const struct trainer *t, size_t model,
                            enum shadow_use kind)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *data = t->plan->data;
    const uint8_t *use = t->plan->use + model * data->n;
    size_t n = 0;
    NEW(*record, data->n);
    for (size_t i = 0; i < data->n; i++)
        if (use[i] == kind)
            (*record)[n++] = i;
    *out = (struct head_part){.data = data, .record = *record, .n = n, .bits = t->bits};
done:
    return status;
}

static sotto_status shadow_pool_accuracy(double *out, const struct trainer *t, size_t model,
                                         enum shadow_use kind, const struct sotto_head *h)
{
    sotto_status status = SOTTO_OK;
    struct head_part part;
    size_t *record = NULL;
    *out = NAN;
    TRY(part_of(&part, &record, t, model, kind));
    if (part.n)
        TRY(head_part_accuracy(out, h, &part, &t->quiet));
done:
    base_free(record);
    return status;
}

/* A trained shadow: into the pool, and into the cache. `h` has the weights. */
static sotto_status shadow_pool_deliver(struct trainer *t, size_t model, struct sotto_head *h, double seconds)
{
    sotto_status status = SOTTO_OK;
    struct shadow_pool *s = t->pool;
    struct shadow_facts facts = {.seconds = seconds};
    void *bytes = NULL;
    size_t size;
    TRY(shadow_pool_accuracy(&facts.train_accuracy, t, model, SHADOW_IN, h));
    TRY(shadow_pool_accuracy(&facts.test_accuracy, t, model, SHADOW_OUT, h));
    if (t->plan->cache) {
        struct shadow_identity id;
        TRY(shadow_pool_identify(&id, t, model));
        TRY(sotto_head_save_bytes(&bytes, &size, h));
        TRY(shadow_cache_add(t->plan->cache, &id, &facts, bytes, size));
    }
    if (s->weights)
        memcpy(s->weights + model * s->parameters, h->parameters, s->parameters * sizeof *s->weights);
    s->train_accuracy[model] = facts.train_accuracy;
    s->test_accuracy[model] = facts.test_accuracy;
    s->ready[model] = 1;
    share_drop(&t->share, model);
done:
    sotto_bytes_free(bytes);
    return status;
}

/* One MLP, on one thread, from its own records alone. */
static sotto_status train_one(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    struct trainer *t = arg;
    const struct shadow_plan *p = t->plan;
    size_t model = t->todo[chunk];
    struct sotto_head_recipe recipe = shadow_recipe(p, model);
    struct head_plain trainer = {0};
    struct head_part own;
    struct sotto_head *h = NULL;
    size_t *record = NULL;
    bool mine;
    const double started = shadow_clock();
    TRY(share_take(&mine, &t->share, model));
    if (!mine)
        goto done;
    TRY(part_of(&own, &record, t, model, SHADOW_IN));
    TRY(head_part_check(&own, &t->quiet));
    TRY(head_plain_plan_part(&trainer, &own, &recipe));
    TRY(head_plain_run(&trainer, NULL, NULL, &t->quiet, NULL));
    TRY(sotto_head_copy(&h, t->pool->shape));
    head_plain_export(&trainer, h->parameters);
    head_take_recipe(h, &recipe);
    head_recipe_hash(h->recipe_hash, &recipe, p->data->d, p->data->classes);
    TRY(shadow_pool_deliver(t, model, h, shadow_clock() - started));
    size_t finished = atomic_fetch_add(&t->finished, 1) + 1;
    if (thread == 0)
        context_progress(p->ctx, "shadows", finished, t->count, "models");
done:
    head_plain_clear(&trainer);
    sotto_head_free(h);
    base_free(record);
    return status;
}

static sotto_status train_block(struct trainer *t, const size_t *model, size_t count)
{
    sotto_status status = SOTTO_OK;
    const struct shadow_plan *p = t->plan;
    size_t n = p->data->n, size = t->pool->parameters;
    struct sotto_head_recipe recipe = t->block;
    struct sotto_head *h = NULL;
    uint8_t *member = NULL;
    float *weights = NULL;
    const double started = shadow_clock();
    NEW_ROWS(member, n, count);
    NEW(weights, count * size);
    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; m < count; m++)
            member[i * count + m] = p->use[model[m] * n + i] == SHADOW_IN;
    TRY(head_many_train(weights, p->data, &recipe, member, count, &t->quiet));
    TRY(sotto_head_copy(&h, t->pool->shape));
    for (size_t m = 0; m < count; m++) {
        memcpy(h->parameters, weights + m * size, size * sizeof *weights);
        TRY(shadow_pool_deliver(t, model[m], h, (shadow_clock() - started) / (double)count));
    }
    context_progress(p->ctx, "shadows", atomic_fetch_add(&t->finished, count) + count, t->count, "models");
done:
    sotto_head_free(h);
    base_free(member);
    base_free(weights);
    return status;
}

/* From the cache into the pool. */
static sotto_status shadow_pool_fetch(bool *found, void *arg, size_t model, const struct shadow_identity *id)
{
    sotto_status status = SOTTO_OK;
    const struct trainer *t = arg;
    struct shadow_pool *s = t->pool;
    char path[SHADOW_PATH];
    struct shadow_facts facts;
    struct sotto_head *h = NULL;
    TRY(shadow_cache_find(found, &facts, path, t->plan->cache, id));
    if (!*found)
        goto done;
    TRY(sotto_head_load(&h, path));
    if (h->count != s->parameters)
        FAIL(SOTTO_EFORMAT, "%s: holds %zu parameters; expected %zu", path, h->count, s->parameters);
    memcpy(s->weights + model * s->parameters, h->parameters, s->parameters * sizeof *s->weights);
    s->train_accuracy[model] = facts.train_accuracy;
    s->test_accuracy[model] = facts.test_accuracy;
    s->ready[model] = 1;
    s->reused++;
done:
    sotto_head_free(h);
    return status;
}

/* Linear heads: blocks of what this process gets. */
static sotto_status train_blocks(struct trainer *t)
{
    sotto_status status = SOTTO_OK;
    size_t own[BLOCK], count = 0;
    for (size_t i = 0; i < t->count; i++) {
        bool mine;
        TRY(share_take(&mine, &t->share, t->todo[i]));
        if (mine)
            own[count++] = t->todo[i];
        if (count == BLOCK || (count > 0 && i + 1 == t->count)) {
            TRY(train_block(t, own, count));
            count = 0;
        }
    }
done:
    return status;
}

static sotto_status shadow_pool_train(void *arg, const size_t *model, size_t count)
{
    struct trainer *t = arg;
    t->todo = model;
    t->count = count;
    atomic_store(&t->finished, 0);
    sotto_status status = in_blocks(t->plan) ? train_blocks(t) : par_each(count, t->plan->ctx, train_one, t);
    t->pool->trained += atomic_load(&t->finished);
    return status;
}

static sotto_status make_room(struct shadow_pool *s, const struct shadow_plan *p)
{
    sotto_status status = SOTTO_OK;
    s->models = p->models;
    s->repeats = p->repeats;
    NEW(s->train_accuracy, s->models);
    NEW(s->test_accuracy, s->models);
    NEW(s->ready, s->models);
done:
    return status;
}

static sotto_status make_weights(struct shadow_pool *s, const struct shadow_plan *p)
{
    sotto_status status = SOTTO_OK;
    size_t width[HEAD_MAX_LAYERS + 1] = {p->data->d}, count;
    memcpy(width + 1, p->recipe->hidden, p->recipe->hidden_count * sizeof *width);
    width[p->recipe->hidden_count + 1] = p->data->classes;
    TRY(head_create(&s->shape, p->recipe->hidden_count + 1, width));
    head_take_recipe(s->shape, p->recipe); /* queries are clipped as in training */
    head_recipe_hash(s->shape->recipe_hash, p->recipe, p->data->d, p->data->classes);
    s->parameters = s->shape->count;
    REQUIRE(size_multiply(&count, s->models, s->parameters), "shadows: %zu models do not fit in memory",
            s->models);
    if (!p->worker)
        NEW(s->weights, count);
done:
    return status;
}

static sotto_status make_heads(struct shadow_pool *s, const struct shadow_plan *p)
{
    sotto_status status = SOTTO_OK;
    struct trainer t = {.plan = p, .pool = s, .shape = in_blocks(p) ? "block" : "one"};
    t.share = (struct shadow_share){.plan = p,
                                    .pool = s,
                                    .identify = shadow_pool_identify,
                                    .fetch = shadow_pool_fetch,
                                    .train = shadow_pool_train,
                                    .arg = &t};
    t.block = block_recipe(p);
    t.quiet = context_quiet(p->ctx, 0);
    TRY(head_data_check(p->data, head_recipe_convex(p->recipe), p->ctx));
    TRY(make_weights(s, p));
    if (p->cache)
        head_data_sha256(t.data_sha256, p->data);
    if (!in_blocks(p))
        TRY(head_bits_make(&t.bits, p->data->x, p->data->n, p->data->d));
    TRY(shadow_share_run(&t.share));
done:
    base_free(t.bits);
    return status;
}

sotto_status shadow_pool_make(struct shadow_pool *out, const struct shadow_plan *p)
{
    sotto_status status = SOTTO_OK;
    struct shadow_pool s = {0};
    TRY(make_room(&s, p));
    if (p->cache)
        TRY(folder_make(p->cache));
    TRY(p->network ? shadow_networks_make(&s, p) : make_heads(&s, p));
    *out = s;
done:
    if (status != SOTTO_OK)
        shadow_pool_clear(&s);
    return status;
}

void shadow_pool_clear(struct shadow_pool *s)
{
    base_free(s->weights);
    base_free(s->train_accuracy);
    base_free(s->test_accuracy);
    base_free(s->ready);
    sotto_head_free(s->shape);
    for (size_t m = 0; s->networks && m < s->models; m++)
        sotto_network_free(s->networks[m]);
    base_free(s->networks);
    for (size_t m = 0; s->snapshots && m < s->models; m++)
        base_free(s->snapshots[m]);
    base_free(s->snapshots);
    *s = (struct shadow_pool){0};
}

sotto_status shadow_pool_head(struct sotto_head **out, const struct shadow_pool *s, size_t model)
{
    sotto_status status = sotto_head_copy(out, s->shape);
    if (status == SOTTO_OK)
        memcpy((*out)->parameters, s->weights + model * s->parameters, s->parameters * sizeof *s->weights);
    return status;
}

sotto_status shadow_pool_ask(float *out, const struct shadow_pool *s, size_t model, const float *x, size_t n,
                             size_t d, int logits, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    if (s->networks)
        return shadow_network_ask(out, s, model, x, n, d, logits, ctx);
    TRY(shadow_pool_head(&h, s, model));
    TRY(sotto_head_predict(out, h, x, n, d, logits, ctx));
done:
    sotto_head_free(h);
    return status;
}

sotto_status shadow_pool_each(const struct shadow_pool *s, par_body body, void *arg,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    if (!s->networks)
        return par_each(s->models, ctx, body, arg);
    for (size_t m = 0; m < s->models; m++)
        TRY(body(arg, m, 0));
done:
    return status;
}

struct query {
    double *signals;
    const struct shadow_pool *pool;
    const struct head_data *data;
    const struct shadow_noise *noise;
    const struct sotto_context *ctx;
};

static sotto_status ask_noised(float *logits, const struct query *a, size_t model)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *head = NULL;
    REQUIRE(!a->pool->networks, "shadows: noise can be added to heads only, but these shadows are networks");
    TRY(shadow_pool_head(&head, a->pool, model));
    TRY(noise_simulate(head->parameters, a->pool->parameters, a->noise->mechanism, a->noise->scale,
                       a->noise->seed, model));
    TRY(sotto_head_predict(logits, head, a->data->x, a->data->n, a->data->d, 1, a->ctx));
done:
    sotto_head_free(head);
    return status;
}

static sotto_status ask_one(void *arg, size_t model, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    const struct query *a = arg;
    size_t n = a->data->n, classes = a->data->classes;
    float *logits = NULL;
    double *row = NULL;
    NEW(logits, n * classes);
    NEW(row, classes);
    if (a->noise)
        TRY(ask_noised(logits, a, model));
    else
        TRY(shadow_pool_ask(logits, a->pool, model, a->data->x, n, a->data->d, 1, a->ctx));
    for (size_t i = 0; i < n; i++) {
        struct attack_input one = {.outputs = row, .labels = &a->data->y[i], .n = 1, .classes = classes};
        for (size_t k = 0; k < classes; k++)
            row[k] = (double)logits[i * classes + k];
        a->signals[i * a->pool->models + model] = posterior_signal(&one, 0);
    }
done:
    base_free(logits);
    base_free(row);
    return status;
}

sotto_status shadow_pool_signals(double *signals, const struct shadow_pool *s, const struct head_data *data,
                                 const struct shadow_noise *noise, const struct sotto_context *ctx)
{
    struct query a = {signals, s, data, noise, ctx};
    return shadow_pool_each(s, ask_one, &a, ctx);
}

static double mean_of(const double *x, const struct shadow_pool *s)
{
    double sum = 0;
    size_t ready = 0;
    for (size_t m = 0; m < s->models; m++) {
        sum += s->ready[m] ? x[m] : 0;
        ready += s->ready[m];
    }
    return ready ? sum / (double)ready : NAN;
}

double shadow_pool_hours(const struct shadow_pool *s, const struct shadow_plan *p, size_t workers)
{
    const size_t threads =
        (size_t)par_threads(p->ctx); /* linear heads: a block on all threads, its time divided */
    const size_t lanes = workers * (!p->network && p->recipe->hidden_count == 0 ? 1 : threads);
    const size_t rounds = (s->missing + lanes - 1) / lanes;
    return (double)rounds * s->seconds / 3600;
}

static void describe_survey(struct facts *out, const struct shadow_pool *s, const struct shadow_plan *p)
{
    struct facts *hours = fact_group(out, "hours");
    fact_real(hours, "1", shadow_pool_hours(s, p, 1));
    fact_real(hours, "8", shadow_pool_hours(s, p, 8));
    fact_real(hours, "64", shadow_pool_hours(s, p, 64));
    fact_real(out, "seconds_each", s->seconds);
    fact_real(out, "bytes", s->bytes);
}

void shadow_pool_describe(struct facts *out, const struct shadow_pool *s, const struct shadow_plan *p)
{
    char recipe[TRAIN_RECIPE_TEXT] = "";
    if (!p->network)
        head_recipe_text(recipe, p->recipe, p->data->d, p->data->classes);
    else if (train_recipe_text(recipe, p->network) != SOTTO_OK)
        recipe[0] = 0;
    fact_count(out, "models", s->models);
    if (s->partial) {
        fact_count(out, "trained", s->trained);
        fact_count(out, "reused", s->reused);
        fact_count(out, "missing", s->missing);
    }
    if (p->survey)
        describe_survey(out, s, p);
    fact_real(out, "train_accuracy", mean_of(s->train_accuracy, s));
    fact_real(out, "test_accuracy", mean_of(s->test_accuracy, s));
    fact_text(out, "start", p->known_start ? "the target's own seed" : "seeds of their own");
    fact_text(out, "recipe", recipe);
    if (p->privacy && dp_sgd_describe(recipe, p->privacy) == SOTTO_OK)
        fact_text(out, "private_recipe", recipe);
}
