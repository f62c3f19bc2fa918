/* ML-Leaks, adversary 2: the shadow is of another data set, and may be of another architecture ("data
 * transferring"). It works because sorted posteriors carry no class. */
#include "attack/query/ml_leaks.h"

static sotto_status query_ml_leaks_2_run(double *scores, struct query_result *result,
                                         const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct output_table answers = {0};
    TRY(shadow_set_make_on(&shadows, in, &in->other, 1, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    TRY(output_table_add(&answers, &shadows, ml_leaks_width(in->records.classes, in->other.classes),
                         in->ctx));
    TRY(ml_leaks_judge(scores, result, &answers, in));
done:
    output_table_clear(&answers);
    shadow_set_clear(&shadows);
    return status;
}

const struct query_attack query_ml_leaks_2 = {.name = "ml-leaks-2",
                                              .title = "One shadow model of another data set",
                                              .source = "Salem et al. 2019, adversary 2",
                                              .needs = QUERY_POSTERIORS | QUERY_SHADOWS | QUERY_OTHER,
                                              .default_shadows = 1,
                                              .run = query_ml_leaks_2_run};
