/* Shokri et al. 2017: shadow models trained like the target show what answers on members and on others look
 * like; one network for each class learns to tell them apart from the whole posterior, or from its logarithm,
 * in which .999 and .99999 lie apart. */
#include "attack/query/attack_net.h"

#include <math.h>

static void take_logarithms(float *rows, size_t count)
{
    static const float smallest = 1e-7f; /* below it an answer in single precision says nothing more */
    for (size_t i = 0; i < count; i++)
        rows[i] = logf(fmaxf(rows[i], smallest));
}

static sotto_status run_on(double *scores, struct query_result *result, const struct query_input *in,
                           bool logarithms)
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
    if (logarithms) {
        take_logarithms(rows, n * classes);
        take_logarithms(answers.x, answers.n * answers.width);
    }
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

static sotto_status query_shokri_run(double *scores, struct query_result *result,
                                     const struct query_input *in)
{
    return run_on(scores, result, in, false);
}

const struct query_attack query_shokri = {.name = "shokri",
                                          .title = "Shadow models and a network for each class",
                                          .source = "Shokri et al. 2017",
                                          .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_SHADOWS,
                                          .default_shadows = 20,
                                          .run = query_shokri_run};

static sotto_status run_log(double *scores, struct query_result *result, const struct query_input *in)
{
    return run_on(scores, result, in, true);
}

const struct query_attack query_shokri_log = {.name = "shokri-log",
                                              .title = "The same on logarithms of posteriors",
                                              .source = "Shokri et al. 2017, other inputs",
                                              .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_SHADOWS,
                                              .default_shadows = 20,
                                              .run = run_log};
