#include "attack/model_reference.h"

#include "attack/shadow_army.h"

/* (n, models): 1 where a shadow trained on the record. The pool starts with the n records. */
static uint8_t *trained_on(const struct shadow_army *a, size_t n)
{
    uint8_t *trained = base_alloc(n * a->pool.models, 1);
    for (size_t i = 0; trained && i < n; i++)
        for (size_t m = 0; m < a->pool.models; m++)
            trained[i * a->pool.models + m] = a->use[m * a->data.n + i] == SHADOW_IN;
    return trained;
}

sotto_status model_reference_run(double *scores, struct model_result *result, const struct model_input *in,
                                 const struct attack *attack)
{
    sotto_status status = SOTTO_OK;
    struct shadow_army army = {0};
    double *signals = NULL;
    uint8_t *trained = NULL;
    size_t n = in->records.n, cells;
    TRY(shadow_army_halves(&army, in, MODEL_REFERENCES));
    shadow_army_report(result, &army);
    if (result->pending)
        goto done;
    trained = trained_on(&army, n);
    if (!size_multiply(&cells, n, army.pool.models) || !trained ||
        !(signals = base_alloc(cells, sizeof *signals)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory for %zu records and %zu shadows", attack->name, n,
             army.pool.models);
    TRY(shadow_pool_signals(signals, &army.pool, &in->records, NULL, in->ctx));
    struct attack_input arrays = {.outputs = in->posteriors,
                                  .probabilities = true,
                                  .labels = in->records.y,
                                  .reference = signals,
                                  .trained = trained,
                                  .n = n,
                                  .classes = in->records.classes,
                                  .models = army.pool.models};
    TRY(attack_run(scores, attack, &arrays));
done:
    base_free(signals);
    base_free(trained);
    shadow_army_clear(&army);
    return status;
}
