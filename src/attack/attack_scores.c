/* Any score of any tool, already oriented: higher = more member-like. */
#include "attack/attack_kind.h"

static sotto_status run(double *scores, const struct attack_input *in)
{
    for (size_t i = 0; i < in->n; i++)
        scores[i] = in->scores[i];
    return SOTTO_OK;
}

const struct attack attack_scores = {.name = "scores",
                                     .title = "Scores made by another tool",
                                     .source = "caller",
                                     .needs = NEED_SCORES,
                                     .run = run};
