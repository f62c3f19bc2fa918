#include "attack/shadow/synthesis.h"
#include "sotto/attack.h"

#include <string.h>

void synthetic_clear(struct synthetic *s)
{
    base_free(s->x);
    base_free(s->y);
    base_free(s->made);
    base_free(s->failed);
    *s = (struct synthetic){0};
}

static sotto_status synthesis_reserve(struct synthetic *s, size_t n, size_t d, size_t classes)
{
    sotto_status status = SOTTO_OK;
    size_t cells;
    REQUIRE(n > 0 && size_multiply(&cells, n, d),
            "synthesis: %zu records; expected at least 1, and few enough to fit in memory", n);
    s->n = n;
    NEW(s->x, cells);
    NEW(s->y, n);
    NEW(s->made, classes);
    NEW(s->failed, classes);
done:
    return status;
}

/* The records in order of class; where[k] .. where[k + 1] are those of class k. */
static sotto_status sort_by_class(size_t **order, size_t **where, const struct head_data *data)
{
    sotto_status status = SOTTO_OK;
    size_t *o = NULL, *w = NULL;
    NEW(o, data->n);
    NEW(w, data->classes + 2);
    for (size_t i = 0; i < data->n; i++)
        w[data->y[i] + 2]++;
    for (size_t k = 2; k < data->classes + 2; k++)
        w[k] += w[k - 1];
    for (size_t i = 0; i < data->n; i++)
        o[w[data->y[i] + 1]++] = i;
    *order = o;
    *where = w;
    o = w = NULL;
done:
    base_free(o);
    base_free(w);
    return status;
}

sotto_status synthetic_marginals(struct synthetic *out, struct sotto_target *t, const struct head_data *data,
                                 size_t n, bool by_class, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct synthetic s = {.kind = by_class ? "class-marginals" : "marginals"};
    size_t *order = NULL, *where = NULL, d = data->d;
    uint64_t before = t->used;
    REQUIRE(
        data->n > 0,
        "synthesis: marginals need records of the attacker; give {attacker.x|attacker-features|attacker}");
    TRY(synthesis_reserve(&s, n, d, data->classes));
    TRY(sort_by_class(&order, &where, data));
    for (size_t i = 0; i < n; i++) {
        struct rng r = rng_stream(seed, RNG_SYNTHETIC, 1000000, i);
        size_t k = (size_t)data->y[rng_below(&r, data->n)];
        size_t first = by_class ? where[k] : 0, count = by_class ? where[k + 1] - where[k] : data->n;
        s.y[i] = (int64_t)k;
        for (size_t j = 0; j < d; j++)
            s.x[i * d + j] = data->x[order[first + rng_below(&r, count)] * d + j];
    }
    if (!by_class)
        TRY(target_labels(t, s.y, s.x, n));
    for (size_t i = 0; i < n; i++)
        s.made[s.y[i]]++;
    s.queries = t->used - before;
    *out = s;
done:
    if (status != SOTTO_OK)
        synthetic_clear(&s);
    base_free(order);
    base_free(where);
    return status;
}

sotto_status synthetic_noisy(struct synthetic *out, const struct head_data *data, double flip, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct synthetic s = {.kind = "noisy"};
    struct feature_space space = {0};
    size_t d = data->d;
    REQUIRE(data->n > 0, "synthesis: noisy records need records of the attacker; give "
                         "{attacker.x|attacker-features|attacker}");
    REQUIRE(flip >= 0 && flip <= 1, "synthesis: the share of redrawn features is %g; expected 0 to 1", flip);
    TRY(feature_space_make(&space, data));
    TRY(synthesis_reserve(&s, data->n, d, data->classes));
    memcpy(s.x, data->x, data->n * d * sizeof *s.x);
    memcpy(s.y, data->y, data->n * sizeof *s.y);
    for (size_t i = 0; i < data->n; i++) {
        struct rng r = rng_stream(seed, RNG_SYNTHETIC, 1000001, i);
        for (size_t j = 0; j < d; j++)
            if (rng_unit(&r) < flip)
                s.x[i * d + j] = space.bit[j] ? 1 - s.x[i * d + j] : feature_draw(&space, j, &r);
        s.made[s.y[i]]++;
    }
    *out = s;
done:
    if (status != SOTTO_OK)
        synthetic_clear(&s);
    feature_space_clear(&space);
    return status;
}

void synthetic_describe(struct facts *out, const struct synthetic *s, size_t classes)
{
    size_t given_up = 0;
    for (size_t k = 0; k < classes; k++)
        given_up += s->failed[k];
    fact_text(out, "kind", s->kind);
    fact_count(out, "records", s->n);
    fact_count(out, "given_up", given_up);
    fact_count(out, "queries", s->queries);
    struct facts *made = fact_list(out, "made"), *failed = fact_list(out, "failed_classes");
    for (size_t k = 0; k < classes; k++) {
        fact_count(made, NULL, s->made[k]);
        if (s->made[k] == 0)
            fact_count(failed, NULL, k);
    }
}
