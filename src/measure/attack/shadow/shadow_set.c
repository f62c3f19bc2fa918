#include "attack/shadow/shadow_set.h"
#include "sotto/lab/query.h"

#include "par/par.h"

#include <string.h>

static sotto_status shadow_set_synthesise(struct shadow_set *a, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attack_options *o = in->options;
    const struct head_data *known = in->attacker.n ? &in->attacker : &in->records;
    struct feature_space space = {0};
    size_t classes = in->target->classes;
    struct climb climb = climb_defaults(in->target->inputs);
    if (o->data != SOTTO_SHADOW_SYNTHESIS && in->attacker.n == 0)
        FAIL(SOTTO_EUSAGE,
             "attack: shadow models need records; give {attacker.x|attacker-features|attacker} and "
             "{attacker.y|attacker-labels|attacker}, or {data|shadow-data=synthesis}");
    switch (o->data) {
    case SOTTO_SHADOW_REAL:
        a->data = in->attacker;
        goto done;
    case SOTTO_SHADOW_SYNTHESIS:
        TRY(feature_space_make(&space, known));
        TRY(synthetic_climb(&a->made, in->target, &space, &climb,
                            (o->synthetic_records + classes - 1) / classes, o->seed, in->ctx));
        break;
    case SOTTO_SHADOW_MARGINALS:
    case SOTTO_SHADOW_CLASS_MARGINALS:
        TRY(synthetic_marginals(&a->made, in->target, &in->attacker, o->synthetic_records,
                                o->data == SOTTO_SHADOW_CLASS_MARGINALS, o->seed));
        break;
    case SOTTO_SHADOW_NOISY:
        TRY(synthetic_noisy(&a->made, &in->attacker, o->flip, o->seed));
        break;
    }
    a->data = (struct head_data){a->made.x, a->made.y, a->made.n, in->target->inputs, classes};
done:
    feature_space_clear(&space);
    return status;
}

/* How the shadows are trained: heads by `recipe`, or networks. */
struct shadow_spec {
    const struct sotto_head_recipe *recipe;
    const struct sotto_train_options *network;
    const struct sotto_train_privacy *privacy;
};

static struct shadow_spec default_spec(const struct query_input *in, const struct sotto_head_recipe *recipe)
{
    return (struct shadow_spec){recipe ? recipe : in->recipe, recipe ? NULL : in->network,
                                recipe ? NULL : in->privacy};
}

/* Records of another length than the target's are rows of a table, for all that is known. */
static void take_network(struct shadow_set *a, const struct shadow_spec *shadow_spec)
{
    const struct sotto_train_options *network = shadow_spec->network;
    size_t record = network->channels * network->height * network->width;
    a->network = *network;
    if (record && record != a->data.d)
        a->network.channels = a->network.height = a->network.width = 0;
    a->plan.network = &a->network;
    a->plan.privacy = shadow_spec->privacy;
}

static sotto_status train_shadows(struct shadow_set *a, const struct query_input *in, size_t models,
                                  struct shadow_spec shadow_spec, bool halves)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attack_options *o = in->options;
    size_t sharing = 2 * (o->disjoint ? models : 1);
    size_t own = o->shadow_records ? o->shadow_records : a->data.n / sharing;
    NEW_ROWS(a->use, models, a->data.n);
    if (halves) {
        TRY(shadow_split_halves(a->use, models, a->data.n, o->seed));
        for (size_t m = 0; m < models; m++) /* every model has the poison */
            memset(a->use + m * a->data.n + a->clean, SHADOW_IN, a->data.n - a->clean);
    } else
        TRY(shadow_split_draw(a->use, models, a->data.n, own, o->disjoint != 0, o->seed));
    if (shadow_spec.recipe)
        a->recipe = *shadow_spec.recipe;
    a->plan = (struct shadow_plan){.data = &a->data,
                                   .use = a->use,
                                   .models = models,
                                   .recipe = shadow_spec.recipe ? &a->recipe : NULL,
                                   .known_start = halves && o->known_start,
                                   .shard = o->shard,
                                   .shards = o->shards,
                                   .cache = o->cache,
                                   .worker = o->worker || o->plan,
                                   .survey = o->plan != 0,
                                   .seed = o->seed,
                                   .repeats = o->repeats,
                                   .ctx = in->ctx};
    if (shadow_spec.network)
        take_network(a, &shadow_spec);
    TRY(shadow_pool_make(&a->pool, &a->plan));
done:
    return status;
}

static size_t how_many(const struct query_input *in, size_t models)
{
    return in->options->shadows ? in->options->shadows : models;
}

sotto_status shadow_set_make(struct shadow_set *out, const struct query_input *in, size_t models,
                             const struct sotto_head_recipe *recipe)
{
    sotto_status status = SOTTO_OK;
    *out = (struct shadow_set){0};
    TRY(shadow_set_synthesise(out, in));
    TRY(train_shadows(out, in, how_many(in, models), default_spec(in, recipe), false));
done:
    if (status != SOTTO_OK)
        shadow_set_clear(out);
    return status;
}

sotto_status shadow_set_make_networks(struct shadow_set *out, const struct query_input *in, size_t models,
                                      const struct sotto_train_options *network)
{
    sotto_status status = SOTTO_OK;
    *out = (struct shadow_set){0};
    TRY(shadow_set_synthesise(out, in));
    TRY(train_shadows(out, in, how_many(in, models),
                      (struct shadow_spec){.network = network, .privacy = in->privacy}, false));
done:
    if (status != SOTTO_OK)
        shadow_set_clear(out);
    return status;
}

sotto_status shadow_set_make_on(struct shadow_set *out, const struct query_input *in,
                                const struct head_data *data, size_t models,
                                const struct sotto_head_recipe *recipe)
{
    *out = (struct shadow_set){.data = *data};
    sotto_status status = train_shadows(out, in, how_many(in, models), default_spec(in, recipe), false);
    if (status != SOTTO_OK)
        shadow_set_clear(out);
    return status;
}

int64_t sotto_poison_label(int64_t label, size_t row, size_t classes)
{
    const uint64_t others = classes > 1 ? classes - 1 : 1, mixed = (uint64_t)row * 0x9E3779B97F4A7C15u >> 33;
    return (int64_t)(((uint64_t)label + 1 + mixed % others) % classes);
}

/* Behind the records of both sides: copies of those to judge, with a wrong label. */
static void put_poison(struct shadow_set *out, const struct head_data *r, size_t copies)
{
    for (size_t at = out->clean; copies > 0; copies--, at += r->n) {
        memcpy(out->joined_x + at * r->d, r->x, r->n * r->d * sizeof *r->x);
        for (size_t i = 0; i < r->n; i++)
            out->joined_y[at + i] = sotto_poison_label(r->y[i], i, r->classes);
    }
}

sotto_status shadow_set_halves(struct shadow_set *out, const struct query_input *in, size_t models)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *r = &in->records, *own = &in->attacker;
    size_t n, cells, d = r->d;
    *out = (struct shadow_set){.clean = r->n + own->n};
    if (!size_multiply(&n, in->options->poison, r->n) || !size_multiply(&cells, n + out->clean, d))
        FAIL(SOTTO_EINVAL, "attack: %zu copies of %zu records do not fit in memory", in->options->poison,
             r->n);
    n += out->clean;
    NEW(out->joined_x, n * d);
    NEW(out->joined_y, n);
    memcpy(out->joined_x, r->x, r->n * d * sizeof *r->x);
    memcpy(out->joined_y, r->y, r->n * sizeof *r->y);
    if (own->n) {
        memcpy(out->joined_x + r->n * d, own->x, own->n * d * sizeof *own->x);
        memcpy(out->joined_y + r->n, own->y, own->n * sizeof *own->y);
    }
    put_poison(out, r, in->options->poison);
    out->data = (struct head_data){out->joined_x, out->joined_y, n, d, r->classes};
    TRY(train_shadows(out, in, how_many(in, models), default_spec(in, NULL), true));
done:
    if (status != SOTTO_OK)
        shadow_set_clear(out);
    return status;
}

void shadow_set_clear(struct shadow_set *a)
{
    synthetic_clear(&a->made);
    shadow_pool_clear(&a->pool);
    base_free(a->use);
    base_free(a->joined_x);
    base_free(a->joined_y);
    *a = (struct shadow_set){0};
}

void shadow_set_report(struct query_result *result, const struct shadow_set *a)
{
    if (a->made.x)
        synthetic_describe(fact_group(&result->facts, "synthetic"), &a->made, a->data.classes);
    shadow_pool_describe(fact_group(&result->facts, "shadows"), &a->pool, &a->plan);
    result->pending = a->pool.partial;
}

void answer_top(float *out, size_t width, const float *p, size_t classes)
{
    for (size_t w = 0; w < width; w++)
        out[w] = -1;
    for (size_t k = 0; k < classes; k++) {
        float v = p[k];
        for (size_t w = 0; w < width; w++)
            if (v > out[w]) {
                float smaller = out[w];
                out[w] = v;
                v = smaller;
            }
    }
}

/* What one thread works with: shadow m fills the rows from start[m] on. */
struct query {
    struct output_table *table;
    const struct shadow_set *shadows;
    const size_t *start;
    size_t width;
    shadow_answer answer;
    void *arg;
};

static sotto_status answer_of_shadow(float *p, const struct shadow_set *a, size_t model, const float *x,
                                     size_t n, void *unused)
{
    (void)unused;
    return shadow_pool_ask(p, &a->pool, model, x, n, a->data.d, 0, a->plan.ctx);
}

static sotto_status ask_one(void *arg, size_t model, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    const struct query *q = arg;
    const struct head_data *data = &q->shadows->data;
    const uint8_t *use = q->shadows->use + model * data->n;
    struct output_table *t = q->table;
    size_t rows = q->start[model + 1] - q->start[model], at = 0, classes = data->classes;
    float *x = NULL, *p = NULL;
    NEW(x, rows * data->d);
    NEW(p, rows * classes);
    for (size_t i = 0; i < data->n; i++)
        if (use[i] != SHADOW_UNUSED) {
            memcpy(x + at * data->d, data->x + i * data->d, data->d * sizeof *x);
            t->label[q->start[model] + at] = data->y[i];
            t->member[q->start[model] + at++] = use[i] == SHADOW_IN;
        }
    TRY(q->answer(p, q->shadows, model, x, rows, q->arg));
    for (size_t i = 0; i < rows; i++) {
        float *out = t->x + (q->start[model] + i) * t->width;
        if (q->width)
            answer_top(out, t->width, p + i * classes, classes);
        else
            memcpy(out, p + i * classes, classes * sizeof *out);
    }
done:
    base_free(x);
    base_free(p);
    return status;
}

static sotto_status shadow_set_grow(struct output_table *t, size_t width, size_t more)
{
    sotto_status status = SOTTO_OK;
    size_t n = t->n + more, cells;
    REQUIRE(size_multiply(&cells, n, width), "shadows: %zu answers do not fit in memory", n);
    REGROW(t->x, t->n * width, cells);
    t->width = width;
    REGROW(t->label, t->n, n);
    REGROW(t->member, t->n, n);
done:
    return status;
}

sotto_status output_table_add(struct output_table *t, const struct shadow_set *a, size_t width,
                              const struct sotto_context *ctx)
{
    return output_table_add_of(t, a, width, answer_of_shadow, NULL, ctx);
}

sotto_status output_table_add_of(struct output_table *t, const struct shadow_set *a, size_t width,
                                 shadow_answer answer, void *arg, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t models = a->pool.models, n = a->data.n;
    struct query q = {.table = t, .shadows = a, .width = width, .answer = answer, .arg = arg};
    size_t *start = NULL;
    NEW(start, models + 1);
    for (size_t m = 0; m < models; m++) {
        start[m + 1] = start[m];
        for (size_t i = 0; i < n; i++)
            start[m + 1] += a->use[m * n + i] != SHADOW_UNUSED;
    }
    size_t before = t->n, more = start[models];
    TRY(shadow_set_grow(t, width ? width : a->data.classes, more));
    for (size_t m = 0; m <= models; m++)
        start[m] += before;
    q.start = start;
    if (answer == answer_of_shadow)
        TRY(shadow_pool_each(&a->pool, ask_one, &q, ctx));
    else
        TRY(par_each(models, ctx, ask_one, &q));
    t->n = before + more;
done:
    base_free(start);
    return status;
}

void output_table_clear(struct output_table *t)
{
    base_free(t->x);
    base_free(t->label);
    base_free(t->member);
    *t = (struct output_table){0};
}
