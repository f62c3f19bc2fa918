/* The baseline: an attack that does not beat it has found the train-test gap and nothing more. */
#include "audit/score/posterior.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = posterior_argmax(in, i) == (size_t)in->labels[i];
    return SOTTO_OK;
}

const struct score_attack attack_correctness = {.name = "correctness",
                                                .title = "Correct answer (gap baseline)",
                                                .source = "Yeom et al. 2018",
                                                .needs = NEED_OUTPUTS | NEED_LABELS,
                                                .run = run};
