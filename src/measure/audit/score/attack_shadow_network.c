/* The attack of the additive-logistic-mechanism paper: a network learns on a shadow model's answers what a
 * member looks like (posterior and one-hot label in, membership out), then judges the target's. What the
 * paper leaves open is chosen here: five layers of 64 ReLU units, Adam at 1e-3, batches of 32, 50 epochs,
 * three seeds averaged. */
#include "audit/score/posterior.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"

#include <math.h>

enum { LAYERS = 5, WIDTH = 64, SEEDS = 3 };

/* (n, 2 classes): probabilities, then the label. */
static void attack_shadow_network_features(float *out, const struct attack_input *in)
{
    for (size_t i = 0; i < in->n; i++) {
        float *row = out + i * 2 * in->classes;
        for (size_t k = 0; k < in->classes; k++) {
            row[k] = (float)exp(posterior_log(in, i, k));
            row[in->classes + k] = (size_t)in->labels[i] == k;
        }
    }
}

static sotto_status add_scores(double *scores, const float *x, size_t n, size_t d,
                               const struct sotto_head *judge, float *logits, const struct sotto_context *ctx)
{
    sotto_status status = sotto_head_predict(logits, judge, x, n, d, 1, ctx);
    for (size_t i = 0; status == SOTTO_OK && i < n; i++)
        scores[i] += ((double)logits[2 * i + 1] - (double)logits[2 * i]) / SEEDS;
    return status;
}

static sotto_status attack_shadow_network_run(struct attack_output *out, const struct attack_input *in,
                                              const double *args)
{
    (void)args;
    double *scores = out->scores;
    sotto_status status = SOTTO_OK;
    size_t n = in->n, m = in->shadow_n, d = 2 * in->classes;
    struct attack_input shadow = {.outputs = in->shadow_outputs,
                                  .probabilities = in->probabilities,
                                  .step = in->step,
                                  .labels = in->shadow_labels,
                                  .n = m,
                                  .classes = in->classes};
    struct sotto_head_recipe recipe;
    struct sotto_head *judge = NULL;
    float *x = NULL, *known = NULL, *logits = NULL;
    int64_t *y = NULL;
    NEW(x, n * d);
    NEW(known, m * d);
    NEW(logits, 2 * n);
    NEW(y, m);
    attack_shadow_network_features(x, in);
    attack_shadow_network_features(known, &shadow);
    for (size_t i = 0; i < m; i++)
        y[i] = in->shadow_trained[i];
    for (size_t i = 0; i < n; i++)
        scores[i] = 0;
    sotto_head_defaults(&recipe);
    recipe.hidden_count = LAYERS;
    for (size_t l = 0; l < LAYERS; l++)
        recipe.hidden[l] = WIDTH;
    recipe.epochs = 50;
    recipe.batch = 32;
    for (recipe.seed = 1; recipe.seed <= SEEDS; recipe.seed++) {
        sotto_head_free(judge);
        judge = NULL;
        TRY(sotto_head_train(&judge, known, y, m, d, 2, &recipe, in->ctx));
        TRY(add_scores(scores, x, n, d, judge, logits, in->ctx));
    }
done:
    sotto_head_free(judge);
    base_free(x);
    base_free(known);
    base_free(logits);
    base_free(y);
    return status;
}

const struct score_attack attack_shadow_network = {.name = "shadow-network",
                                                   .title = "Network trained on a shadow model's outputs",
                                                   .source = "Additive Logistic Mechanism, appendix",
                                                   .needs = NEED_OUTPUTS | NEED_LABELS | NEED_SHADOW,
                                                   .trains = true,
                                                   .run = attack_shadow_network_run};
