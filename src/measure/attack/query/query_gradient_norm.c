/* White box: the norm of the loss's gradient with respect to the last layer, in closed form ||p - e_y|| ||(h,
 * 1)||. Training drives it down on members. The score is minus its logarithm. */
#include "attack/shadow/shadow_calibration.h"
#include "attack/query/whitebox_layer.h"
#include "sotto/attack.h"

#include <math.h>

static sotto_status query_gradient_norm_score(double *scores, struct sotto_target *t,
                                              const struct head_data *records, double unused, void *arg)
{
    (void)unused;
    sotto_status status = SOTTO_OK;
    struct whitebox_layer side = {0};
    struct whitebox_features v = {0};
    TRY(whitebox_layer_make(&side, t->head, t->network, records, arg));
    TRY(whitebox_features_make(&v, side.head));
    for (size_t i = 0; i < records->n; i++) {
        whitebox_features_look(&v, side.records.x + i * side.records.d, records->y[i]);
        scores[i] = -whitebox_features_gradient(&v, side.head->layers);
    }
done:
    whitebox_layer_clear(&side);
    whitebox_features_clear(&v);
    return status;
}

static sotto_status query_gradient_norm_run(double *scores, struct query_result *result,
                                            const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_calibration r = {0};
    double auc = NAN;
    if (model_has_recipe(in)) {
        TRY(shadow_calibration_make(&r, result, in, SIZE_MAX));
        if (result->pending)
            goto done;
        TRY(shadow_calibration_run(&auc, &result->threshold, &r, query_gradient_norm_score, 0,
                                   (void *)in->ctx));
        fact_real(&result->facts, "shadow_auc", auc);
    }
    TRY(query_gradient_norm_score(scores, in->target, &in->records, 0, (void *)in->ctx));
done:
    shadow_calibration_clear(&r);
    return status;
}

const struct query_attack query_gradient_norm = {.name = "gradient-norm",
                                                 .title = "White box: norm of the last layer's gradient",
                                                 .source = "Nasr et al. 2019; Carlini et al. 2022",
                                                 .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_WEIGHTS |
                                                          QUERY_SHADOW_IF_ANY,
                                                 .default_shadows = 1,
                                                 .run = query_gradient_norm_run};
