/* White box: the norm of the loss's gradient with respect to the last layer, in closed form ||p - e_y|| ||(h,
 * 1)||. Training drives it down on members. The score is minus its logarithm. */
#include "attack/rehearsal.h"
#include "attack/white_view.h"

#include <math.h>

static sotto_status score(double *scores, struct sotto_target *t, const struct head_data *records,
                          double unused, void *arg)
{
    (void)unused;
    (void)arg;
    sotto_status status = SOTTO_OK;
    struct white_view v = {0};
    TRY(white_view_make(&v, t->head));
    for (size_t i = 0; i < records->n; i++) {
        white_view_look(&v, records->x + i * records->d, records->y[i]);
        scores[i] = -white_view_gradient(&v, t->head->layers);
    }
done:
    white_view_clear(&v);
    return status;
}

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    sotto_status status = SOTTO_OK;
    struct rehearsal r = {0};
    double auc = NAN;
    if (in->recipe) {
        TRY(rehearsal_make(&r, result, in, SIZE_MAX));
        if (result->pending)
            goto done;
        TRY(rehearsal_run(&auc, &result->threshold, &r, score, 0, NULL));
        json_put_real(&result->facts, "shadow_auc", auc);
    }
    TRY(score(scores, in->target, &in->records, 0, NULL));
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
