/* BASE: ln p_y under the target minus the logarithm of its mean over the reference models, the mean of the IN models
 * and that of the OUT models weighing the same. */
#include "audit/score/posterior.h"
#include "audit/score/reference.h"

static sotto_status attack_base_run(struct attack_output *out, const struct attack_input *in,
                                    const double *args)
{
    (void)args;
    struct reference_summary own;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = posterior_log_likelihood(in, i) -
                         reference_summary_of(&own, in, i, REFERENCE_PROBABILITIES)->log_mean;
    return SOTTO_OK;
}

const struct score_attack attack_base = {.name = "base",
                                         .title = "BASE: probability against the mean of the references",
                                         .source = "Lassila et al. 2025",
                                         .needs = NEED_LOSSES | NEED_OUT,
                                         .run = attack_base_run};
