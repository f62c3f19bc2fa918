/* Entropy that knows the label: confidently wrong is as far from a member as can be. */
#include "audit/score/posterior.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = -posterior_modified_entropy(in, i);
    return SOTTO_OK;
}

const struct score_attack attack_modified_entropy = {.name = "modified-entropy",
                                                     .title = "Modified entropy",
                                                     .source = "Song and Mittal 2021",
                                                     .needs = NEED_OUTPUTS | NEED_LABELS,
                                                     .run = run};
