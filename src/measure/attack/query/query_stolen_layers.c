/* Stolen Memories over several layers (Leino and Fredrikson 2020, section 5): displacements of a record at the last layers
 * (layer_memories.h), which a logistic regression weighs. It learns on one shadow network and that network's own proxies, never on
 * the target's records. A third of the attacker's records trains the shadow, a third is its non-members, and the last third trains
 * the proxies of both.
 *
 * With `explain` the records of the highest scores are shown: the unit that displaces them most, and where. Which of them are
 * members the attack does not know; beside them stand records of the attacker, which are none, that excite the unit most. */
#include "attack/query/layer_memories.h"
#include "attack/query/memory_pictures.h"
#include "attack/shadow/shadow_pool.h"
#include "audit/fit/linear_model.h"
#include "audit/measure/metrics.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { PROXIES = 5, PARTS = 3, LEAST = 2 };
static const double wanted_precision = 0.9;

/* Thirds of the attacker's records: the shadow's members, its non-members, and the proxies'. */
struct thirds {
    float *x;
    int64_t *y;
    struct head_data part[PARTS], judged; /* judged: the first two */
};

static sotto_status query_stolen_layers_split(struct thirds *t, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *own = &in->attacker;
    const size_t third = own->n / PARTS;
    struct rng draw = rng_stream(in->options->seed, RNG_SPLIT, 7, 0);
    int64_t *order = NULL;
    REQUIRE(third >= LEAST,
            "attack: %zu records of the attacker are too few for stolen-memories-layers; expected "
            "at least %d",
            own->n, PARTS * LEAST);
    NEW(order, own->n);
    NEW_ROWS(t->x, own->n, own->d);
    NEW(t->y, own->n);
    for (size_t i = 0; i < own->n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&draw, order, own->n);
    for (size_t i = 0; i < own->n; i++) {
        memcpy(t->x + i * own->d, own->x + (size_t)order[i] * own->d, own->d * sizeof *t->x);
        t->y[i] = own->y[order[i]];
    }
    for (size_t k = 0; k < PARTS; k++)
        t->part[k] =
            (struct head_data){t->x + k * third * own->d, t->y + k * third, third, own->d, own->classes};
    t->judged = (struct head_data){t->x, t->y, 2 * third, own->d, own->classes};
done:
    base_free(order);
    return status;
}

/* table (n, layers) */
static sotto_status query_stolen_layers_fill(float *table, struct layer_memories *m,
                                             const struct head_data *records, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double *score = NULL;
    NEW(score, records->n);
    for (size_t l = 0; l < m->layers; l++) {
        TRY(layer_memories_score(score, NULL, m, l, records, ctx));
        for (size_t i = 0; i < records->n; i++)
            table[i * m->layers + l] = (float)score[i];
    }
done:
    base_free(score);
    return status;
}

static double log_odds(const struct linear_model *learnt, const float *row)
{
    double logits[2];
    linear_model_logits(logits, learnt, row);
    return logits[1];
}

/* The lowest threshold above which the shadow's members are that share of its records; NAN: there is none. */
static double query_stolen_layers_precise(const double *score, size_t members, size_t n)
{
    double best = NAN;
    for (size_t k = 0; k < n; k++) {
        size_t right = 0, found = 0;
        for (size_t i = 0; i < n; i++)
            if (score[i] > score[k])
                found++, right += i < members;
        if (found > 0 && (double)right >= wanted_precision * (double)found && !(best <= score[k]))
            best = score[k];
    }
    return best;
}

/* What displacements of members look like, on a shadow. */
static sotto_status query_stolen_layers_learn(struct linear_model *out, struct query_result *result,
                                              const struct thirds *t, size_t proxies,
                                              const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options o = *in->network;
    struct rng draw = rng_stream(in->options->seed, RNG_SPLIT, 7, 1);
    struct sotto_network *shadow = NULL;
    struct layer_memories m = {0};
    const size_t n = t->judged.n, third = t->part[0].n;
    struct linear_rows rows = {.n = n};
    struct sotto_estimate area;
    float *table = NULL;
    double *score = NULL;
    int64_t *member = NULL;
    size_t *row = NULL;
    o.seed = rng_u64(&draw) >> 1;
    TRY(shadow_network_train(&shadow, &t->part[0], &o, in->privacy, rng_u64(&draw), in->ctx));
    options_state(&o, options_train);
    TRY(layer_memories_make(&m, shadow, in->options->layers, proxies, &t->part[2], &o, rng_u64(&draw),
                            in->ctx));
    NEW_ROWS(table, n, m.layers);
    NEW(score, n);
    NEW(member, n);
    NEW(row, n);
    TRY(query_stolen_layers_fill(table, &m, &t->judged, in->ctx));
    for (size_t i = 0; i < n; i++)
        row[i] = i, member[i] = i < third;
    rows.x = table, rows.y = member, rows.row = row, rows.d = m.layers;
    TRY(linear_model_fit(out, &rows, 2, 1e-3, in->ctx));
    for (size_t i = 0; i < n; i++)
        score[i] = log_odds(out, table + i * m.layers);
    TRY(estimate_auc(&area, score, third, score + third, third, 0.95));
    fact_real(&result->facts, "shadow_auc", area.estimate);
    result->also[0] = query_stolen_layers_precise(score, third, n);
    result->also_count = !isnan(result->also[0]);
done:
    layer_memories_clear(&m);
    sotto_network_free(shadow);
    base_free(table);
    base_free(score);
    base_free(member);
    base_free(row);
    return status;
}

static sotto_status query_stolen_layers_run(double *scores, struct query_result *result,
                                            const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const size_t proxies = in->options->shadows ? in->options->shadows : PROXIES;
    struct thirds t = {0};
    struct linear_model learnt = {0};
    struct layer_memories m = {0};
    struct sotto_train_options o = *in->network;
    float *table = NULL;
    TRY(query_stolen_layers_split(&t, in));
    TRY(query_stolen_layers_learn(&learnt, result, &t, proxies, in));
    options_state(&o, options_train);
    TRY(layer_memories_make(&m, in->target->network, in->options->layers, proxies, &t.part[2], &o,
                            in->options->seed, in->ctx));
    REQUIRE(m.layers == learnt.d,
            "attack: stolen-memories-layers needs shadows with as many layers as the target (%zu); "
            "they have %zu",
            m.layers, learnt.d);
    NEW_ROWS(table, in->records.n, m.layers);
    TRY(query_stolen_layers_fill(table, &m, &in->records, in->ctx));
    for (size_t i = 0; i < in->records.n; i++)
        scores[i] = log_odds(&learnt, table + i * m.layers);
    result->threshold = 0;
    fact_count(&result->facts, "proxies", proxies);
    fact_count(&result->facts, "layers", m.layers);
    if (in->options->explain)
        TRY(memory_pictures_add(&result->facts, &m, scores, in));
done:
    layer_memories_clear(&m);
    linear_model_clear(&learnt);
    base_free(t.x);
    base_free(t.y);
    base_free(table);
    return status;
}

const struct query_attack query_stolen_layers = {
    .name = "stolen-memories-layers",
    .title = "White box: the last layers, each compared with layers trained on other records",
    .source = "Leino and Fredrikson 2020",
    .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_WEIGHTS | QUERY_NETWORK | QUERY_ATTACKER | QUERY_SHADOWS,
    .default_shadows = PROXIES,
    .run = query_stolen_layers_run};
