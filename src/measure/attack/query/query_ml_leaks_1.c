/* ML-Leaks, adversary 1: a single shadow on half of the attacker's records, which are like the target's. */
#include "attack/query/ml_leaks.h"

static sotto_status query_ml_leaks_1_run(double *scores, struct query_result *result,
                                         const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct output_table answers = {0};
    TRY(shadow_set_make(&shadows, in, 1, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    TRY(output_table_add(&answers, &shadows, ml_leaks_width(in->records.classes, in->records.classes),
                         in->ctx));
    TRY(ml_leaks_judge(scores, result, &answers, in));
done:
    output_table_clear(&answers);
    shadow_set_clear(&shadows);
    return status;
}

const struct query_attack query_ml_leaks_1 = {.name = "ml-leaks-1",
                                              .title = "One shadow model, three largest posteriors",
                                              .source = "Salem et al. 2019, adversary 1",
                                              .needs = QUERY_POSTERIORS | QUERY_SHADOWS,
                                              .default_shadows = 1,
                                              .run = query_ml_leaks_1_run};
