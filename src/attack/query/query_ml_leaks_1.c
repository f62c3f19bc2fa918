/* ML-Leaks, adversary 1: a single shadow on half of the attacker's records, which are like the target's. */
#include "attack/query/ml_leaks.h"

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_army army = {0};
    struct answer_table answers = {0};
    TRY(shadow_army_make(&army, in, 1, NULL));
    shadow_army_report(result, &army);
    if (result->pending)
        goto done;
    TRY(answer_table_add(&answers, &army, ml_leaks_width(in->records.classes, in->records.classes), in->ctx));
    TRY(ml_leaks_judge(scores, result, &answers, in));
done:
    answer_table_clear(&answers);
    shadow_army_clear(&army);
    return status;
}

const struct model_attack model_ml_leaks_1 = {.name = "ml-leaks-1",
                                              .title = "One shadow model, three largest posteriors",
                                              .source = "Salem et al. 2019, adversary 1",
                                              .needs = MODEL_POSTERIORS | MODEL_SHADOWS,
                                              .default_shadows = 1,
                                              .run = run};
