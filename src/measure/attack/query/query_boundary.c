/* Boundary distance, from labels alone. The threshold is the best one on a shadow of the attacker's own,
 * attacked in the same way (Choquette-Choo et al.); without records or a recipe for a shadow, what the top
 * tenth of random inputs reach, each with the target's decision as its class (Li and Zhang). */
#include "attack/query/label_attack.h"

#include <math.h>
#include <stdlib.h>

enum { QUERIES = 2500, REHEARSED = 200, RANDOM_INPUTS = 100, TOP = RANDOM_INPUTS / 10 };

static int query_boundary_falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static sotto_status random_threshold(double *out, const struct query_input *in, struct label_setting *s)
{
    sotto_status status = SOTTO_OK;
    size_t d = in->records.d;
    double distance[RANDOM_INPUTS];
    int64_t label[RANDOM_INPUTS];
    float *x = NULL;
    NEW(x, RANDOM_INPUTS * d);
    for (size_t i = 0; i < RANDOM_INPUTS; i++) {
        struct rng r = rng_stream(in->options->seed, RNG_SYNTHETIC, 3, i);
        feature_draw_row(x + i * d, &s->space, &r);
    }
    TRY(target_labels(in->target, label, x, RANDOM_INPUTS));
    struct head_data inputs = {x, label, RANDOM_INPUTS, d, in->records.classes};
    TRY(label_boundary(distance, in->target, &inputs, 0, s));
    qsort(distance, RANDOM_INPUTS, sizeof *distance, query_boundary_falling);
    *out = distance[TOP];
done:
    base_free(x);
    return status;
}

static sotto_status query_boundary_run(double *scores, struct query_result *result,
                                       const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct label_setting s = {0};
    struct shadow_calibration r = {0};
    double auc = NAN;
    bool shadow = model_has_recipe(in);
    size_t usual = in->options->queries ? in->options->queries : QUERIES;
    TRY(label_setting_make(&s, in, QUERIES, shadow ? 0 : RANDOM_INPUTS * (usual + 1)));
    if (shadow) {
        TRY(shadow_calibration_make(&r, result, in, REHEARSED));
        if (result->pending)
            goto done;
        TRY(shadow_calibration_run(&auc, &result->threshold, &r, label_boundary, 0, &s));
    } else {
        TRY(random_threshold(&result->threshold, in, &s));
    }
    s.unreachable = 0;
    TRY(label_boundary(scores, in->target, &in->records, 0, &s));
    fact_text(&result->facts, "threshold_from", shadow ? "shadow" : "random inputs");
    fact_real(&result->facts, "shadow_auc", auc);
    fact_count(&result->facts, "queries_per_record", s.queries);
    fact_count(&result->facts, "without_boundary", s.unreachable);
done:
    shadow_calibration_clear(&r);
    label_setting_clear(&s);
    return status;
}

const struct query_attack query_boundary = {
    .name = "boundary",
    .title = "Label only: distance to the decision boundary (HopSkipJump)",
    .source = "Choquette-Choo et al. 2021; Li and Zhang 2021",
    .needs = QUERY_DECISIONS | QUERY_LABELS | QUERY_QUERIES | QUERY_SHADOW_IF_ANY,
    .default_shadows = 1,
    .run = query_boundary_run};
