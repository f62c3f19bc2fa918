/* p_y. It orders records as the loss does until it saturates at 1; papers report both. */
#include "audit/score/posterior.h"

#include <math.h>

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = exp(posterior_log(in, i, (size_t)in->labels[i]));
    return SOTTO_OK;
}

const struct score_attack attack_confidence = {.name = "confidence",
                                               .title = "Confidence in the true class",
                                               .source = "Song and Mittal 2021",
                                               .needs = NEED_OUTPUTS | NEED_LABELS,
                                               .run = run};
