/* BASE: ln p_y under the target minus the logarithm of its mean over all reference models, IN and OUT
 * alike. */
#include "audit/score/posterior.h"
#include "audit/score/rmia.h"

#include <math.h>

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++) {
        double top = -INFINITY, sum = 0, count = 0;
        for (size_t m = 0; m < in->models; m++)
            if (attack_compares(in, m))
                top = fmax(top, in->reference[i * in->models + m]);
        bool tiny = top < -600; /* where probabilities themselves would vanish */
        double log_top = tiny ? log_probability_of_signal(top) : 0;
        for (size_t m = 0; m < in->models; m++)
            if (attack_compares(in, m)) {
                double signal = in->reference[i * in->models + m];
                sum +=
                    tiny ? exp(log_probability_of_signal(signal) - log_top) : probability_of_signal(signal);
                count++;
            }
        out->scores[i] = log_probability_of_signal(posterior_signal(in, i)) - log_top - log(sum / count);
    }
    return SOTTO_OK;
}

const struct score_attack attack_base = {.name = "base",
                                         .title = "BASE: probability against the mean of the references",
                                         .source = "Lassila et al. 2025",
                                         .needs = NEED_LOSSES | NEED_OUT,
                                         .run = run};
