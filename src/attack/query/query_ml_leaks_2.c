/* ML-Leaks, adversary 2: the shadow is of another data set, and may be of another architecture ("data
 * transferring"). It works because sorted posteriors carry no class. */
#include "attack/query/ml_leaks.h"

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_army army = {0};
    struct answer_table answers = {0};
    TRY(shadow_army_make_on(&army, in, &in->other, 1, NULL));
    shadow_army_report(result, &army);
    if (result->pending)
        goto done;
    TRY(answer_table_add(&answers, &army, ml_leaks_width(in->records.classes, in->other.classes), in->ctx));
    TRY(ml_leaks_judge(scores, result, &answers, in));
done:
    answer_table_clear(&answers);
    shadow_army_clear(&army);
    return status;
}

const struct model_attack model_ml_leaks_2 = {.name = "ml-leaks-2",
                                              .title = "One shadow model of another data set",
                                              .source = "Salem et al. 2019, adversary 2",
                                              .needs = MODEL_POSTERIORS | MODEL_SHADOWS | MODEL_OTHER,
                                              .default_shadows = 1,
                                              .run = run};
