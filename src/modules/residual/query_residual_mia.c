/* The attack of the paper on residual perturbation (its section IV). Four disjoint parts of the data: the
 * target's members and others, the attacker's members and others. One shadow is trained on the attacker's
 * members; a network with 64 hidden units learns from its three largest posteriors, falling, who was a
 * member, by Adam at .1 for 50 epochs (or at a smaller rate where that learns better). Precision and recall
 * are given at four thresholds on the network's posterior of "member".
 *
 * The paper's shadow is a standard network; here it is trained as the target was, noise and all, unless
 * options say plain_shadows. */
#include "attack/query/ml_leaks.h"

#include <math.h>
#include <string.h>

/* The values of the paper's four thresholds are not known. */
static const double thresholds[] = {0.5, 0.6, 0.7, 0.8};
static const double rates[] = {0.1, 0.01, 0.001};

static sotto_status query_residual_mia_judge(double *scores, double *rate, const struct output_table *answers,
                                             const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t n = in->records.n, classes = in->records.classes;
    float *rows = NULL, *p = NULL;
    NEW(rows, n * answers->width);
    NEW(p, classes);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < classes; k++)
            p[k] = (float)in->posteriors[i * classes + k];
        answer_top(rows + i * answers->width, answers->width, p, classes);
    }
    TRY(attack_net_scores_best(scores, rate, answers, rows, n, rates, sizeof rates / sizeof *rates,
                               in->options->seed, in->ctx));
done:
    base_free(rows);
    base_free(p);
    return status;
}

static sotto_status query_residual_mia_run(double *scores, struct query_result *result,
                                           const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct output_table answers = {0};
    double rate;
    TRY(shadow_set_make(&shadows, in, 1, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    TRY(output_table_add(&answers, &shadows, ml_leaks_width(in->records.classes, in->records.classes),
                         in->ctx));
    TRY(query_residual_mia_judge(scores, &rate, &answers, in));
    result->threshold = 0;
    result->also_count = sizeof thresholds / sizeof *thresholds;
    for (size_t t = 0; t < result->also_count; t++)
        result->also[t] = log(thresholds[t] / (1 - thresholds[t]));
    fact_real(&result->facts, "rate", rate);
    fact_flag(&result->facts, "plain_shadows", in->options->plain_shadows != 0);
done:
    output_table_clear(&answers);
    shadow_set_clear(&shadows);
    return status;
}

const struct query_attack query_residual_mia = {
    .name = "residual-mia",
    .title = "One shadow model, three largest posteriors, four thresholds",
    .source = "Residual perturbation, section IV",
    .needs = QUERY_POSTERIORS | QUERY_SHADOWS,
    .default_shadows = 1,
    .run = query_residual_mia_run};
