/* Share of OUT models that fit the record worse than the target does; ties count half. Resolution: one
 * model. */
#include "audit/score/reference.h"

static sotto_status attack_reference_rank_run(struct attack_output *out, const struct attack_input *in,
                                              const double *args)
{
    (void)args;
    struct reference_summary own;
    for (size_t i = 0; i < in->n; i++) {
        const struct reference_summary *r = reference_summary_of(&own, in, i, REFERENCE_RANK);
        const uint32_t count = r->count[REFERENCE_OUT];
        out->scores[i] = count ? r->below / (double)count : 0.5;
        out->fallback[i] = count == 0;
    }
    return SOTTO_OK;
}

const struct score_attack attack_reference_rank = {.name = "reference-rank",
                                                   .title = "Share of OUT models that fit worse",
                                                   .source = "Ye et al. 2022 (Attack R)",
                                                   .needs = NEED_LOSSES | NEED_OUT,
                                                   .run = attack_reference_rank_run};
