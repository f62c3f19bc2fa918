/* Stolen Memories (Leino and Fredrikson 2020): what the target's last layer knows about its inputs that a
 * layer trained on other records of the same kind does not. With h the input of the last layer as the TARGET
 * computes it, a proxy layer is trained on (h, y) of the attacker's records; the score of a record is the
 * displacement of its class,
 *
 *     (W_y - W~_y) h + b_y - b~_y,
 *
 * the log odds of membership when features are independent and Gaussian. A softmax does not change when all
 * classes move together, so the mean displacement over the classes is taken off. Averaged over proxies with
 * other initial weights and orders. The attacker's own meta-classifier over several layers is left out. */
#include "options/option_tables.h"
#include "options/option_values.h"
#include "attack/query_attack.h"
#include "attack/query/whitebox_layer.h"
#include "rng/rng.h"
#include "sotto/lab/head.h"

#include <math.h>

enum { PROXIES = 10 };

/* Inputs of the last layer (n, width). */
static sotto_status query_stolen_memories_features(float *out, const struct whitebox_layer *side)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head *h = side->head;
    const struct head_data *data = &side->records;
    struct whitebox_features v = {0};
    size_t width = h->width[h->layers - 1];
    TRY(whitebox_features_make(&v, h));
    for (size_t i = 0; i < data->n; i++) {
        whitebox_features_look(&v, data->x + i * data->d, data->y[i]);
        for (size_t j = 0; j < width; j++)
            out[i * width + j] = (float)v.value[h->layers - 1][j];
    }
done:
    whitebox_features_clear(&v);
    return status;
}

/* Row k of both layers, weights then bias: (width + 1). */
static double layer_at(const float *layer, size_t k, size_t j, size_t width, size_t classes)
{
    return (double)(j < width ? layer[k * width + j] : layer[width * classes + k]);
}

static void add_scores(double *scores, const float *target, const float *proxy, const float *rows,
                       const struct head_data *records, size_t width, double *mean, double weight)
{
    size_t classes = records->classes;
    for (size_t j = 0; j <= width; j++) {
        mean[j] = 0;
        for (size_t k = 0; k < classes; k++)
            mean[j] += (layer_at(target, k, j, width, classes) - layer_at(proxy, k, j, width, classes)) /
                       (double)classes;
    }
    for (size_t i = 0; i < records->n; i++) {
        size_t y = (size_t)records->y[i];
        double sum = 0;
        for (size_t j = 0; j <= width; j++) {
            double h = j < width ? (double)rows[i * width + j] : 1;
            sum += h *
                   (layer_at(target, y, j, width, classes) - layer_at(proxy, y, j, width, classes) - mean[j]);
        }
        scores[i] += weight * sum;
    }
}

/* The proxy layers' recipe: the target's, without hidden layers. */
static void proxy_recipe(struct sotto_head_recipe *out, const struct query_input *in)
{
    if (in->recipe) {
        *out = *in->recipe;
    } else {
        sotto_head_defaults(out);
        out->trainer = in->network->optimizer;
        out->epochs = in->network->epochs;
        out->batch = in->network->batch;
        out->lr = in->network->lr;
    }
    out->hidden_count = 0;
}

static sotto_status query_stolen_memories_run(double *scores, struct query_result *result,
                                              const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t width, n = in->records.n, classes = in->records.classes;
    size_t proxies = in->options->shadows ? in->options->shadows : PROXIES;
    struct head_data own = in->attacker;
    struct whitebox_layer judged = {0}, attackers = {0};
    struct sotto_head_recipe recipe, stated;
    struct rng draw = rng_stream(in->options->seed, RNG_SPLIT, 5, 0);
    struct sotto_head *proxy = NULL;
    float *rows = NULL, *known = NULL;
    double *mean = NULL;
    proxy_recipe(&recipe, in);
    TRY(head_recipe_check(&recipe));
    TRY(whitebox_layer_make(&judged, in->target->head, in->target->network, &in->records, in->ctx));
    TRY(whitebox_layer_make(&attackers, in->target->head, in->target->network, &own, in->ctx));
    const struct sotto_head *h = judged.head;
    width = h->width[h->layers - 1];
    NEW_ROWS(rows, n, width);
    NEW_ROWS(known, own.n, width);
    NEW(mean, width + 1);
    TRY(query_stolen_memories_features(rows, &judged));
    TRY(query_stolen_memories_features(known, &attackers));
    for (size_t i = 0; i < n; i++)
        scores[i] = 0;
    for (size_t m = 0; m < proxies; m++) {
        recipe.seed = head_recipe_convex(&recipe) ? recipe.seed : rng_u64(&draw) >> 1;
        sotto_head_free(proxy);
        proxy = NULL;
        stated = recipe;
        options_state(&stated, options_head_recipe);
        TRY(sotto_head_train(&proxy, known, own.y, own.n, width, classes, &stated, in->ctx));
        add_scores(scores, h->parameters + head_offset(h, h->layers - 1), proxy->parameters, rows,
                   &in->records, width, mean, 1 / (double)proxies);
    }
    fact_count(&result->facts, "proxies", proxies);
    fact_count(&result->facts, "layer_inputs", width);
done:
    sotto_head_free(proxy);
    whitebox_layer_clear(&judged);
    whitebox_layer_clear(&attackers);
    base_free(rows);
    base_free(known);
    base_free(mean);
    return status;
}

const struct query_attack query_stolen_memories = {
    .name = "stolen-memories",
    .title = "White box: the last layer, compared with one trained on other records",
    .source = "Leino and Fredrikson 2020",
    .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_WEIGHTS | QUERY_ATTACKER | QUERY_SHADOWS,
    .default_shadows = PROXIES,
    .run = query_stolen_memories_run};
