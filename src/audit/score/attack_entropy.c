/* An unsure answer looks like a non-member. The one metric attack that works without labels. */
#include "audit/score/posterior.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = -posterior_entropy(in, i);
    return SOTTO_OK;
}

const struct score_attack attack_entropy = {.name = "entropy",
                                            .title = "Prediction entropy (needs no labels)",
                                            .source = "Song and Mittal 2021",
                                            .needs = NEED_OUTPUTS,
                                            .run = run};
