/* White box: the norm of the loss's gradient with respect to the last layer, in closed form ||p - e_y|| ||(h,
 * 1)||. Training drives it down on members. The score is minus its logarithm. */
#include "attack/shadow/shadow_calibration.h"
#include "attack/query/whitebox_layer.h"

#include <math.h>

static sotto_status score(double *scores, struct sotto_target *t, const struct head_data *records,
                          double unused, void *arg)
{
    (void)unused;
    sotto_status status = SOTTO_OK;
    struct white_side side = {0};
    struct white_view v = {0};
    TRY(white_side_make(&side, t->head, t->network, records, arg));
    TRY(white_view_make(&v, side.head));
    for (size_t i = 0; i < records->n; i++) {
        white_view_look(&v, side.records.x + i * side.records.d, records->y[i]);
        scores[i] = -white_view_gradient(&v, side.head->layers);
    }
done:
    white_side_clear(&side);
    white_view_clear(&v);
    return status;
}

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    sotto_status status = SOTTO_OK;
    struct rehearsal r = {0};
    double auc = NAN;
    if (model_has_recipe(in)) {
        TRY(rehearsal_make(&r, result, in, SIZE_MAX));
        if (result->pending)
            goto done;
        TRY(rehearsal_run(&auc, &result->threshold, &r, score, 0, (void *)in->ctx));
        json_put_real(&result->facts, "shadow_auc", auc);
    }
    TRY(score(scores, in->target, &in->records, 0, (void *)in->ctx));
done:
    rehearsal_clear(&r);
    return status;
}

const struct model_attack model_gradient_norm = {.name = "gradient-norm",
                                                 .title = "White box: norm of the last layer's gradient",
                                                 .source = "Nasr et al. 2019; Carlini et al. 2022",
                                                 .needs = MODEL_POSTERIORS | MODEL_LABELS | MODEL_WEIGHTS |
                                                          MODEL_SHADOW_IF_ANY,
                                                 .default_shadows = 1,
                                                 .run = run};
