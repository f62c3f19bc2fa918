/* Transfer, from labels alone: the attacker relabels its records by the target's decisions, trains shadows on
 * them, and looks at the loss that the shadows have on a record with the target's decision as its class. A
 * record that the target decides wrongly is no member: its loss counts as 100. */
#include "attack/shadow/shadow_pool.h"
#include "attack/query_attack.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "rng/rng.h"

#include <math.h>

static const double WRONG = 100;

/* logits (n, classes): what one shadow, trained by the seed, says about the records. */
static sotto_status ask_shadow(float *logits, const struct query_input *in, const struct head_data *own,
                               uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *r = &in->records;
    struct sotto_head *head = NULL;
    struct sotto_network *network = NULL;
    if (in->network) {
        struct sotto_train_options options = *in->network;
        options.seed = seed;
        TRY(shadow_network_train(&network, own, &options, in->privacy, seed, in->ctx));
        TRY(sotto_network_predict(logits, network, r->x, r->n, r->d, 1, in->ctx));
    } else {
        struct sotto_head_recipe recipe = *in->recipe;
        recipe.seed = seed;
        options_state(&recipe, options_head_recipe);
        TRY(sotto_head_train(&head, own->x, own->y, own->n, own->d, own->classes, &recipe, in->ctx));
        TRY(sotto_head_predict(logits, head, r->x, r->n, r->d, 1, in->ctx));
    }
done:
    sotto_head_free(head);
    sotto_network_free(network);
    return status;
}

static void add_losses(double *scores, const float *logits, const int64_t *decision,
                       const struct head_data *records, double weight)
{
    size_t classes = records->classes;
    for (size_t i = 0; i < records->n; i++) {
        const float *z = logits + i * classes;
        double top = (double)z[0], sum = 0;
        for (size_t k = 1; k < classes; k++)
            top = fmax(top, (double)z[k]);
        for (size_t k = 0; k < classes; k++)
            sum += exp((double)z[k] - top);
        double loss = top + log(sum) - (double)z[decision[i]];
        scores[i] -= weight * (decision[i] == records->y[i] ? fmin(loss, WRONG) : WRONG);
    }
}

static sotto_status query_transfer_run(double *scores, struct query_result *result,
                                       const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t n = in->records.n, classes = in->records.classes;
    size_t shadows = in->options->shadows ? in->options->shadows : 4;
    struct head_data own = in->attacker;
    struct rng draw = rng_stream(in->options->seed, RNG_SPLIT, 4, 0);
    int64_t *decision = NULL, *label = NULL;
    float *logits = NULL;
    NEW(decision, n);
    NEW(label, own.n);
    NEW(logits, n * classes);
    for (size_t i = 0; i < n; i++) {
        scores[i] = 0;
        for (size_t k = 0; k < classes; k++)
            if (in->posteriors[i * classes + k] == 1)
                decision[i] = (int64_t)k;
    }
    TRY(target_labels(in->target, label, own.x, own.n));
    own.y = label;
    for (size_t m = 0; m < shadows; m++) {
        TRY(ask_shadow(logits, in, &own, rng_u64(&draw) >> 1));
        add_losses(scores, logits, decision, &in->records, 1 / (double)shadows);
    }
    fact_count(&result->facts, "relabelled", own.n);
    fact_count(&result->facts, "shadows_trained", shadows);
done:
    base_free(decision);
    base_free(label);
    base_free(logits);
    return status;
}

const struct query_attack query_transfer = {
    .name = "transfer",
    .title = "Label only: loss under shadow models trained on the target's decisions",
    .source = "Li and Zhang 2021",
    .needs = QUERY_DECISIONS | QUERY_LABELS | QUERY_ATTACKER | QUERY_SHADOWS | QUERY_QUERIES,
    .default_shadows = 4,
    .run = query_transfer_run};
