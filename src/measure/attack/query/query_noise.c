/* Robustness to noise, from labels alone: bits are flipped, other columns get Gaussian noise. The strength
 * and the threshold are the best ones on a shadow of the attacker's own. */
#include "attack/query/label_attack.h"

#include <math.h>

enum { QUERIES = 500, REHEARSED = 300, TUNING = 100, UNTUNED = 3 };

/* Tries every strength with fewer queries, then rehearses the best in full for its threshold. */
static sotto_status query_noise_tune(size_t *level, double *auc, double *threshold,
                                     const struct shadow_calibration *r, struct label_setting *s)
{
    sotto_status status = SOTTO_OK;
    size_t full = s->queries;
    double best = -1, at;
    s->queries = full < TUNING ? full : TUNING;
    for (size_t l = 0; l < LABEL_LEVELS; l++) {
        double area;
        TRY(shadow_calibration_run(&area, &at, r, label_noise, (double)l, s));
        if (area > best) {
            best = area;
            *level = l;
        }
    }
    s->queries = full;
    TRY(shadow_calibration_run(auc, threshold, r, label_noise, (double)*level, s));
done:
    return status;
}

static sotto_status query_noise_run(double *scores, struct query_result *result, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct label_setting s = {0};
    struct shadow_calibration r = {0};
    size_t level = UNTUNED;
    double auc = NAN;
    TRY(label_setting_make(&s, in, QUERIES, 0));
    if (model_has_recipe(in)) {
        TRY(shadow_calibration_make(&r, result, in, REHEARSED));
        if (result->pending)
            goto done;
        TRY(query_noise_tune(&level, &auc, &result->threshold, &r, &s));
    }
    TRY(label_noise(scores, in->target, &in->records, (double)level, &s));
    fact_real(&result->facts, "flip", label_flip(level));
    fact_real(&result->facts, "sigma", label_sigma(level));
    fact_flag(&result->facts, "tuned", model_has_recipe(in));
    fact_real(&result->facts, "shadow_auc", auc);
    fact_count(&result->facts, "queries_per_record", s.queries);
done:
    shadow_calibration_clear(&r);
    label_setting_clear(&s);
    return status;
}

const struct query_attack query_noise = {.name = "noise",
                                         .title = "Label only: share of noisy copies that keep the class",
                                         .source = "Choquette-Choo et al. 2021",
                                         .needs = QUERY_DECISIONS | QUERY_LABELS | QUERY_QUERIES |
                                                  QUERY_SHADOW_IF_ANY,
                                         .default_shadows = 1,
                                         .run = query_noise_run};
