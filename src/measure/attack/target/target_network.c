/* A whole network, answered here: one plan for all queries. */
#include "attack/target/target_network.h"
#include "attack/target/target.h"
#include "io/array/safetensors.h"

struct network_target {
    struct sotto_target target;
    struct sotto_network *network;
    bool owned;
    struct network_query query;
    char *path; /* NULL: the name is owned by the caller */
};

static sotto_status target_network_query(struct sotto_target *t, float *posteriors, const float *rows,
                                         size_t n)
{
    struct network_target *w = (struct network_target *)t;
    sotto_status status = network_query_run(posteriors, &w->query, rows, n, NULL, t->ctx);
    if (status != SOTTO_OK)
        return status;
    network_softmax(posteriors, n, t->classes);
    return SOTTO_OK;
}

static void target_network_reseed(struct sotto_target *t, uint64_t seed)
{
    struct network_target *w = (struct network_target *)t;
    w->query.noise_seed = seed;
    w->query.step = 0;
}

static void close_network(struct sotto_target *t)
{
    struct network_target *w = (struct network_target *)t;
    network_query_clear(&w->query);
    if (w->owned)
        sotto_network_free(w->network);
    base_free(w->path);
    base_free(w);
}

sotto_status target_network(struct sotto_target **out, const char *name, struct sotto_network *network,
                            bool owned, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct network_target *w = base_alloc(1, sizeof *w);
    if (!w) {
        if (owned)
            sotto_network_free(network);
        FAIL(SOTTO_ENOMEM, "%s: out of memory", name);
    }
    w->network = network;
    w->owned = owned;
    TRY(network_query_make(&w->query, network, false, ctx));
    w->target = target_make(name, sotto_network_inputs(network), sotto_network_classes(network));
    w->target.network = network;
    w->target.query = target_network_query;
    w->target.reseed = target_network_reseed;
    w->target.close = close_network;
    *out = &w->target;
    w = NULL;
done:
    if (w)
        close_network(&w->target);
    return status;
}

static sotto_status open_network(struct sotto_target **out, const char *path, const struct sotto_tensors *t,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_network *n = NULL;
    char *name = NULL;
    NEW_TEXT(name, path);
    TRY(network_from_tensors(&n, t, path));
    TRY(target_network(out, name, n, true, ctx));
    ((struct network_target *)*out)->path = name;
    name = NULL;
done:
    base_free(name);
    return status;
}

sotto_status sotto_target_open(struct sotto_target **out, const char *path, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, path);
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load(&t, path);
    if (status == SOTTO_OK)
        status = network_is(&t) ? open_network(out, path, &t, ctx) : target_open_head(out, path);
    sotto_tensors_clear(&t);
    return status;
}
