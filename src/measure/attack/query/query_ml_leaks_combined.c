/* ML-Leaks, the combining attack: the attacker does not know the target's architecture, so the answers of
 * three kinds of shadows teach one network. The kinds are the published ones: a network (the given recipe),
 * logistic regression (a linear head) and a random forest, each trained on the same records. */
#include "attack/query/ml_leaks.h"
#include "audit/fit/random_forest.h"

#include <string.h>

enum { KINDS = 3, HEADS = 2 };

/* The IN records of one shadow, copied out. */
static sotto_status own_records(struct head_data *out, float **x, int64_t **y, const struct shadow_set *a,
                                size_t model)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *data = &a->data;
    const uint8_t *use = a->use + model * data->n;
    size_t n = 0;
    for (size_t i = 0; i < data->n; i++)
        n += use[i] == SHADOW_IN;
    NEW_ROWS(*x, n, data->d);
    NEW(*y, n);
    n = 0;
    for (size_t i = 0; i < data->n; i++)
        if (use[i] == SHADOW_IN) {
            memcpy(*x + n * data->d, data->x + i * data->d, data->d * sizeof **x);
            (*y)[n++] = data->y[i];
        }
    *out = (struct head_data){*x, *y, n, data->d, data->classes};
done:
    return status;
}

/* Grows the forest of one shadow and asks it. arg: the seed. */
static sotto_status answer_of_forest(float *p, const struct shadow_set *a, size_t model, const float *x,
                                     size_t n, void *arg)
{
    sotto_status status = SOTTO_OK;
    const uint64_t *seed = arg;
    struct random_forest *forest = NULL;
    struct head_data own = {0};
    float *own_x = NULL;
    int64_t *own_y = NULL;
    const struct sotto_context quiet = context_quiet(a->plan.ctx, 1); /* shadows are asked side by side */
    TRY(own_records(&own, &own_x, &own_y, a, model));
    TRY(random_forest_fit(&forest, &(struct forest_data){own.x, own.y, own.n, own.d, own.classes},
                          FOREST_TREES, *seed + model, &quiet));
    random_forest_predict(p, forest, x, n);
done:
    random_forest_free(forest);
    base_free(own_x);
    base_free(own_y);
    return status;
}

static void describe_forest(struct facts *f, const struct shadow_set *a)
{
    fact_count(f, "models", a->pool.models);
    fact_count(f, "trained", a->pool.models);
    fact_text(f, "recipe", "random forest");
    fact_count(f, "trees", FOREST_TREES);
}

/* The shadow by the given recipe, or a linear one trained like it. */
static sotto_status make_heads(struct shadow_set *a, const struct query_input *in, bool linear)
{
    struct sotto_head_recipe recipe = *in->recipe;
    if (head_recipe_convex(&recipe))
        return status_fail(SOTTO_EUSAGE,
                           "ml-leaks-combined: shadows need {recipe.trainer=adam} or sgd, not %s",
                           recipe.trainer);
    recipe.hidden_count = linear ? 0 : recipe.hidden_count;
    return shadow_set_make(a, in, 1, &recipe);
}

static sotto_status make_networks(struct shadow_set *a, const struct query_input *in, bool linear)
{
    struct sotto_train_options network = *in->network;
    if (linear) {
        network.model = "mlp";
        network.norm = "batch";
        network.hidden_count = 0;
    }
    return shadow_set_make_networks(a, in, 1, &network);
}

static sotto_status query_ml_leaks_combined_run(double *scores, struct query_result *result,
                                                const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct output_table answers = {0};
    struct shadow_set shadows = {0};
    uint64_t seed = in->options->seed;
    bool pending = false;
    size_t width = ml_leaks_width(in->records.classes, in->records.classes);
    struct facts *shadows_trained = fact_list(&result->facts, "shadows");
    for (size_t i = 0; i < HEADS; i++) {
        shadow_set_clear(&shadows);
        TRY(in->network ? make_networks(&shadows, in, i == 1) : make_heads(&shadows, in, i == 1));
        shadow_pool_describe(fact_group(shadows_trained, NULL), &shadows.pool, &shadows.plan);
        pending |= shadows.pool.partial;
        if (!pending)
            TRY(output_table_add(&answers, &shadows, width, in->ctx));
    }
    if (!pending) {
        describe_forest(fact_group(shadows_trained, NULL), &shadows);
        TRY(output_table_add_of(&answers, &shadows, width, answer_of_forest, &seed, in->ctx));
    }
    result->pending = pending;
    if (!pending)
        TRY(ml_leaks_judge(scores, result, &answers, in));
done:
    output_table_clear(&answers);
    shadow_set_clear(&shadows);
    return status;
}

const struct query_attack query_ml_leaks_combined = {
    .name = "ml-leaks-combined",
    .title = "A network, logistic regression and a random forest as shadow models",
    .source = "Salem et al. 2019, combining attack",
    .needs = QUERY_POSTERIORS | QUERY_SHADOWS,
    .default_shadows = KINDS,
    .run = query_ml_leaks_combined_run};
