/* Any score of any tool, already oriented: higher = more member-like. */
#include "audit/score/score_attack.h"

static sotto_status attack_scores_run(struct attack_output *out, const struct attack_input *in,
                                      const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = in->scores[i];
    return SOTTO_OK;
}

const struct score_attack attack_scores = {.name = "scores",
                                           .title = "Scores made by another tool",
                                           .source = "caller",
                                           .needs = NEED_SCORES,
                                           .run = attack_scores_run};
