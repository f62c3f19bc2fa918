/* Share of OUT models that fit the record worse than the target does; ties count half. Resolution: one
 * model. */
#include "audit/score/posterior.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++) {
        double signal = posterior_signal(in, i), below = 0;
        size_t count = 0;
        for (size_t m = 0; m < in->models; m++) {
            if ((in->trained && in->trained[i * in->models + m]) || !attack_compares(in, m))
                continue;
            double other = in->reference[i * in->models + m];
            below += other < signal ? 1 : other == signal ? 0.5 : 0;
            count++;
        }
        out->scores[i] = count ? below / (double)count : 0.5;
        out->fallback[i] = count == 0;
    }
    return SOTTO_OK;
}

const struct score_attack attack_reference_rank = {.name = "reference-rank",
                                                   .title = "Share of OUT models that fit worse",
                                                   .source = "Ye et al. 2022 (Attack R)",
                                                   .needs = NEED_LOSSES | NEED_OUT,
                                                   .run = run};
