/* Shokri et al. 2017: shadow models trained like the target show what answers on members and on others look
 * like; one network for each class learns to tell them apart from the whole posterior. */
#include "attack/query/attack_net.h"

static sotto_status run(double *scores, struct query_result *result, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct output_table answers = {0};
    size_t n = in->records.n, classes = in->records.classes, fallback;
    float *rows = NULL;
    NEW(rows, n * classes);
    for (size_t i = 0; i < n * classes; i++)
        rows[i] = (float)in->posteriors[i];
    TRY(shadow_set_make(&shadows, in, 20, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    TRY(output_table_add(&answers, &shadows, 0, in->ctx));
    TRY(attack_net_scores_by_class(scores, &fallback, &answers, rows, in->records.y, n, classes,
                                   in->options->seed, in->ctx));
    result->threshold = 0; /* posterior of "in" above one half */
    fact_count(&result->facts, "classes_without_network", fallback);
done:
    output_table_clear(&answers);
    shadow_set_clear(&shadows);
    base_free(rows);
    return status;
}

const struct query_attack query_shokri = {.name = "shokri",
                                          .title = "Shadow models and a network for each class",
                                          .source = "Shokri et al. 2017",
                                          .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_SHADOWS,
                                          .default_shadows = 20,
                                          .run = run};
