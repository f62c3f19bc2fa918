/* Training pushes the loss of its own records down, so a low loss looks like a member. */
#include "audit/score/posterior.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = in->losses ? -in->losses[i] : -posterior_loss(in, i);
    return SOTTO_OK;
}

const struct score_attack attack_loss = {.name = "loss",
                                         .title = "Loss threshold",
                                         .source = "Yeom et al. 2018",
                                         .needs = NEED_LOSSES,
                                         .run = run};
