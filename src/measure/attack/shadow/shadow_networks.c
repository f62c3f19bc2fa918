/* Shadow networks, one per thread: a small network's barriers cost more than a second core brings, and a
 * large one gains nothing from sharing (notes/speed.md). Only a pool with fewer networks than threads trains
 * them one after the other on all threads. Each is sotto_train() on its IN records, or the same by DP-SGD;
 * the bits depend on threads and backend, so these are part of a shadow's name in the cache. */
#include "attack/shadow/shadow_share.h"
#include "sotto/ledger.h"

#include "base/file.h"
#include "nn/nn.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "rng/rng.h"
#include "train/private/dp_sgd.h"
#include "train/plain/supervised.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct network_trainer {
    const struct shadow_plan *plan;
    struct shadow_pool *pool;
    const struct nn_backend *backend;
    char data_sha256[SHA256_HEX], machine[160];
    char start[2][SHA256_HEX]; /* of the files that the networks start from, or "" */
    int lanes;                 /* networks that train side by side */
    /* of one network: threads; quiet, as the caller's sinks need not be thread-safe */
    struct sotto_context own;
    struct shadow_share share;
    const size_t *todo;
    size_t count;
    atomic_size_t finished;
};

static struct sotto_train_options options_of(const struct network_trainer *t, size_t model)
{
    const struct shadow_plan *p = t->plan;
    struct sotto_train_options o = *p->network;
    struct rng draw = rng_stream(p->seed, RNG_SPLIT, 3, model);
    o.backend = nn_backend_name(t->backend);
    if (!p->known_start)
        o.seed = rng_u64(&draw) >> 1;
    o.snapshots = t->pool->snapshots ? t->pool->snapshots[model] : NULL;
    return o;
}

/* Every shadow has noise of its own, also from the same start. */
static uint64_t noise_seed_of(const struct shadow_plan *p, size_t model)
{
    struct rng draw = rng_stream(p->seed, RNG_SPLIT, 6, model);
    return rng_u64(&draw);
}

static sotto_status shadow_networks_identify(struct shadow_identity *out, const void *arg, size_t model)
{
    sotto_status status = SOTTO_OK;
    const struct network_trainer *t = arg;
    const struct shadow_plan *p = t->plan;
    struct sotto_train_options o = options_of(t, model);
    char text[TRAIN_RECIPE_TEXT], privately[DP_SGD_TEXT] = "", kept[48] = "";
    *out = (struct shadow_identity){.data_sha256 = t->data_sha256,
                                    .use = p->use + model * p->data->n,
                                    .n = p->data->n,
                                    .shape = t->machine,
                                    .split_seed = p->seed};
    TRY(train_recipe_text(text, &o));
    if (p->privacy)
        TRY(dp_sgd_describe(privately, p->privacy));
    if (o.snapshot_every)
        snprintf(kept, sizeof kept, " every %zu epochs", o.snapshot_every);
    snprintf(out->recipe, sizeof out->recipe, "%s %zux%zux%zu %zu classes%s%s%s%s%s", text, o.channels,
             o.height, o.width, p->data->classes, p->privacy ? " " : "", privately, t->start[0], t->start[1],
             kept);
done:
    return status;
}

/* The attacker trains on its own records: nothing is spent, and the ledger goes when it is done. The
 * noise is seeded, so that a shadow has the same bits wherever it is trained. */
static sotto_status train_privately(struct sotto_network **out, const struct sotto_dataset *rows,
                                    const struct sotto_train_options *o,
                                    const struct sotto_train_privacy *privacy, uint64_t noise_seed,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_privacy p = *privacy;
    char folder[SHADOW_PATH - 16] = "", ledger[SHADOW_PATH] = "";
    struct sotto_certificate *certificate = NULL;
    TRY(folder_temporary(folder, sizeof folder, "sotto-shadow"));
    snprintf(ledger, sizeof ledger, "%s/ledger.jsonl", folder);
    p.spend.ledger = ledger;
    p.spend.purpose = "shadow of an attack";
    p.spend.dataset_id = "records of an attacker";
    p.spend.provenance = NULL;
    p.spend.source = &(const struct sotto_source_records){.public_set = 1};
    p.spend.insecure = 1;
    p.spend.insecure_seed = noise_seed;
    p.encoder_by = o->from ? "the attacker" : NULL;
    TRY(sotto_train_private(out, &certificate, NULL, rows, NULL, 0, o, &p, ctx));
done:
    sotto_certificate_free(certificate);
    if (ledger[0]) {
        unlink(ledger);
        rmdir(folder);
    }
    return status;
}

sotto_status shadow_network_train(struct sotto_network **out, const struct head_data *own,
                                  const struct sotto_train_options *options,
                                  const struct sotto_train_privacy *privacy, uint64_t noise_seed,
                                  const struct sotto_context *ctx)
{
    const struct sotto_context quiet = context_quiet(ctx, 0);
    struct sotto_dataset rows = {.name = "attacker's records",
                                 .n = own->n,
                                 .features = own->x,
                                 .columns = own->d,
                                 .labels = own->y,
                                 .classes = own->classes};
    struct sotto_train_options o = *options;
    o.batch = o.batch < own->n ? o.batch : own->n;
    o.leaf = o.leaf < o.batch ? o.leaf : o.batch;
    options_state(&o, options_train);
    return privacy ? train_privately(out, &rows, &o, privacy, noise_seed, &quiet)
                   : sotto_train(out, NULL, &rows, NULL, 0, &o, &quiet);
}

static sotto_status shadow_networks_accuracy(double *out, const struct network_trainer *t, size_t model,
                                             enum shadow_use kind, const struct sotto_network *n)
{
    sotto_status status = SOTTO_OK;
    struct head_data part;
    float *x = NULL, *logits = NULL;
    int64_t *y = NULL;
    *out = NAN;
    TRY(shadow_records(&x, &y, &part, t->plan, model, kind));
    if (part.n == 0)
        goto done;
    NEW(logits, part.n * part.classes);
    TRY(sotto_network_predict(logits, n, x, part.n, part.d, 1, &t->own));
    *out = (double)supervised_right(logits, y, part.n, part.classes) / (double)part.n;
done:
    base_free(x);
    base_free(y);
    base_free(logits);
    return status;
}

static void shadow_networks_keep(struct shadow_pool *s, size_t model, struct sotto_network *n,
                                 const struct shadow_facts *facts)
{
    s->networks[model] = n;
    s->train_accuracy[model] = facts->train_accuracy;
    s->test_accuracy[model] = facts->test_accuracy;
    s->ready[model] = 1;
}

static sotto_status train_one(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    struct network_trainer *t = arg;
    const struct shadow_plan *p = t->plan;
    size_t model = t->todo[chunk];
    struct sotto_train_options o = options_of(t, model);
    struct shadow_identity id;
    struct shadow_facts facts;
    struct sotto_network *n = NULL;
    struct head_data own;
    float *x = NULL;
    int64_t *y = NULL;
    void *bytes = NULL;
    size_t size;
    bool mine;
    const double started = shadow_clock();
    TRY(share_take(&mine, &t->share, model));
    if (!mine)
        goto done;
    TRY(shadow_records(&x, &y, &own, p, model, SHADOW_IN));
    TRY(shadow_network_train(&n, &own, &o, p->privacy, noise_seed_of(p, model), &t->own));
    TRY(shadow_networks_accuracy(&facts.train_accuracy, t, model, SHADOW_IN, n));
    TRY(shadow_networks_accuracy(&facts.test_accuracy, t, model, SHADOW_OUT, n));
    facts.seconds = shadow_clock() - started;
    if (p->cache) {
        TRY(shadow_networks_identify(&id, t, model));
        TRY(sotto_network_save_bytes(&bytes, &size, n));
        TRY(shadow_cache_add(p->cache, &id, &facts, bytes, size));
    }
    shadow_networks_keep(t->pool, model, n, &facts);
    n = NULL;
    share_drop(&t->share, model);
    size_t finished = atomic_fetch_add(&t->finished, 1) + 1;
    if (thread == 0)
        context_progress(p->ctx, "shadows", finished, t->count, "models");
done:
    sotto_network_free(n);
    sotto_bytes_free(bytes);
    base_free(x);
    base_free(y);
    return status;
}

/* From the cache into the pool. */
static sotto_status shadow_networks_fetch(bool *found, void *arg, size_t model,
                                          const struct shadow_identity *id)
{
    sotto_status status = SOTTO_OK;
    struct network_trainer *t = arg;
    char path[SHADOW_PATH];
    struct shadow_facts facts;
    struct sotto_network *n = NULL;
    TRY(shadow_cache_find(found, &facts, path, t->plan->cache, id));
    if (!*found)
        goto done;
    TRY(sotto_network_load(&n, path));
    if (sotto_network_inputs(n) != t->plan->data->d || sotto_network_classes(n) != t->plan->data->classes)
        FAIL(SOTTO_EFORMAT, "%s: the network has %zu inputs and %zu classes; expected %zu and %zu", path,
             sotto_network_inputs(n), sotto_network_classes(n), t->plan->data->d, t->plan->data->classes);
    shadow_networks_keep(t->pool, model, n, &facts);
    t->pool->reused++;
    n = NULL;
done:
    sotto_network_free(n);
    return status;
}

sotto_status shadow_network_ask(float *out, const struct shadow_pool *s, size_t model, const float *x,
                                size_t n, size_t d, int logits, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_network *network = s->networks[model];
    size_t cells = n * sotto_network_classes(network);
    float *once = NULL;
    double *sum = NULL;
    if (s->repeats < 2 || !network_is_noisy(network))
        return sotto_network_predict(out, network, x, n, d, logits, ctx);
    NEW(once, cells);
    NEW(sum, cells);
    for (size_t r = 0; r < s->repeats; r++) {
        TRY(sotto_network_predict(once, network, x, n, d, 0, ctx));
        for (size_t i = 0; i < cells; i++)
            sum[i] += (double)once[i];
    }
    for (size_t i = 0; i < cells; i++) {
        double p = sum[i] / (double)s->repeats;
        out[i] = (float)(logits ? log(fmax(p, 1e-45)) : p);
    }
done:
    base_free(once);
    base_free(sum);
    return status;
}

static sotto_status plan_machine(struct network_trainer *t)
{
    const char *backend = t->plan->network->backend;
    const struct sotto_context *ctx = t->plan->ctx;
    int threads = par_threads(ctx);
    bool alone = t->plan->models < (size_t)threads;
    t->lanes = alone ? 1 : threads;
    t->own = context_quiet(ctx, alone ? threads : 1);
    sotto_status status = nn_backend_find(&t->backend, backend ? backend : "auto");
    if (status == SOTTO_OK)
        snprintf(t->machine, sizeof t->machine, "network, %d threads, %s", t->own.threads,
                 nn_backend_title(t->backend));
    return status;
}

/* Intermediate models lie beside the shadow that they became. */
static sotto_status name_snapshots(char **out, const char *cache, const struct shadow_identity *id)
{
    sotto_status status = SOTTO_OK;
    char path[SHADOW_PATH];
    TRY(shadow_cache_path(path, cache, id));
    strcpy(strrchr(path, '.'), ".snapshots"); /* shorter than .safetensors */
    NEW_TEXT(*out, path);
done:
    return status;
}

static sotto_status name_all_snapshots(struct network_trainer *t)
{
    sotto_status status = SOTTO_OK;
    struct shadow_identity id;
    for (size_t m = 0; t->pool->snapshots && m < t->plan->models; m++) {
        TRY(shadow_networks_identify(&id, t, m));
        TRY(name_snapshots(&t->pool->snapshots[m], t->plan->cache, &id));
    }
done:
    return status;
}

static sotto_status shadow_networks_train(void *arg, const size_t *model, size_t count)
{
    struct network_trainer *t = arg;
    t->todo = model;
    t->count = count;
    atomic_store(&t->finished, 0);
    sotto_status status = par_chunks(count, t->lanes, train_one, t);
    t->pool->trained += atomic_load(&t->finished);
    return status;
}

sotto_status shadow_networks_make(struct shadow_pool *s, const struct shadow_plan *p)
{
    sotto_status status = SOTTO_OK;
    struct network_trainer t = {.plan = p, .pool = s};
    t.share = (struct shadow_share){.plan = p,
                                    .pool = s,
                                    .identify = shadow_networks_identify,
                                    .fetch = shadow_networks_fetch,
                                    .train = shadow_networks_train,
                                    .arg = &t};
    NEW(s->networks, s->models);
    if (p->network->snapshot_every)
        NEW(s->snapshots, s->models);
    TRY(plan_machine(&t));
    if (p->cache)
        head_data_sha256(t.data_sha256, p->data);
    if (p->cache && p->network->from)
        TRY(sha256_file_asking(t.start[0], p->network->from, p->ctx));
    if (p->cache && p->network->standardise)
        TRY(sha256_file_asking(t.start[1], p->network->standardise, p->ctx));
    TRY(name_all_snapshots(&t));
    TRY(shadow_share_run(&t.share));
done:
    return status;
}
