#include "attack/shadow_heads.h"

#include <string.h>

#include "attack/posterior.h"
#include "head/head_crew.h"
#include "par/par.h"
#include "rng/rng.h"
#include "sotto/dp.h"

/* A random half of the models for every record, so that no record has too few on either side. */
static sotto_status draw_halves(uint8_t *trained, size_t records, size_t models, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    int64_t *order = base_alloc(models, sizeof *order);
    if (!order)
        FAIL(SOTTO_ENOMEM, "shadow heads: out of memory for %zu models", models);
    for (size_t i = 0; i < records; i++) {
        struct rng r = rng_stream(seed, RNG_PAIRS, 1, i);
        for (size_t m = 0; m < models; m++)
            order[m] = (int64_t)m;
        rng_shuffle(&r, order, models);
        for (size_t m = 0; m < models; m++)
            trained[i * models + (size_t)order[m]] = m < models / 2;
    }
done:
    base_free(order);
    return status;
}

sotto_status shadow_heads_train(struct shadow_heads *out, const struct head_data *pool,
                                const struct sotto_head_recipe *recipe, size_t models, uint64_t seed,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = *recipe;
    struct shadow_heads s = {.models = models, .records = pool->n};
    size_t width[HEAD_MAX_LAYERS + 1] = {pool->d}, count;
    REQUIRE(models >= 4 && models % 2 == 0, "shadow heads: %zu models; expected an even number >= 4", models);
    TRY(head_recipe_check_open(&r));
    memcpy(width + 1, r.hidden, r.hidden_count * sizeof *width);
    width[r.hidden_count + 1] = pool->classes;
    r.batch *= 2;
    TRY(head_create(&s.shape, r.hidden_count + 1, width));
    s.shape->has_recipe = true; /* queries are clipped as in training */
    s.shape->recipe = r;
    s.parameters = s.shape->count;
    if (!size_multiply(&count, models, s.parameters) || !(s.weights = base_alloc(count, sizeof *s.weights)))
        FAIL(SOTTO_ENOMEM, "shadow heads: out of memory for %zu models of %zu parameters", models,
             s.parameters);
    if (!size_multiply(&count, models, pool->n) || !(s.trained = base_alloc(count, 1)))
        FAIL(SOTTO_ENOMEM, "shadow heads: out of memory for %zu models and %zu records", models, pool->n);
    TRY(draw_halves(s.trained, pool->n, models, seed));
    TRY(head_many_train(s.weights, pool, &r, s.trained, models, ctx));
    *out = s;
done:
    if (status != SOTTO_OK)
        shadow_heads_clear(&s);
    return status;
}

void shadow_heads_clear(struct shadow_heads *s)
{
    base_free(s->weights);
    base_free(s->trained);
    sotto_head_free(s->shape);
    *s = (struct shadow_heads){0};
}

/* What one thread works with. */
struct asker {
    double *signals;
    const struct shadow_heads *shadows;
    const struct head_data *pool;
    const char *mechanism;
    double scale;
    uint64_t seed;
};

static sotto_status ask_one(void *arg, size_t model, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    const struct asker *a = arg;
    const struct shadow_heads *s = a->shadows;
    struct sotto_head *head = NULL;
    float *logits = base_alloc(s->records * a->pool->classes, sizeof *logits);
    double *row = base_alloc(a->pool->classes, sizeof *row);
    if (!logits || !row)
        FAIL(SOTTO_ENOMEM, "shadow heads: out of memory for the answers on %zu records", s->records);
    TRY(sotto_head_copy(&head, s->shape));
    memcpy(head->parameters, s->weights + model * s->parameters, s->parameters * sizeof *head->parameters);
    if (a->mechanism)
        TRY(sotto_noise_evaluate(head->parameters, s->parameters, a->mechanism, a->scale, a->seed, model));
    TRY(sotto_head_predict(logits, head, a->pool->x, s->records, a->pool->d, 1));
    for (size_t i = 0; i < s->records; i++) {
        struct attack_input one = {
            .outputs = row, .labels = &a->pool->y[i], .n = 1, .classes = a->pool->classes};
        for (size_t k = 0; k < one.classes; k++)
            row[k] = logits[i * one.classes + k];
        a->signals[i * s->models + model] = posterior_signal(&one, 0);
    }
done:
    base_free(logits);
    base_free(row);
    sotto_head_free(head);
    return status;
}

sotto_status shadow_heads_signals(double *signals, const struct shadow_heads *s, const struct head_data *pool,
                                  const char *mechanism, double scale, uint64_t seed,
                                  const struct sotto_context *ctx)
{
    struct asker a = {signals, s, pool, mechanism, scale, seed};
    return par_chunks(s->models, par_threads(ctx), ask_one, &a);
}
