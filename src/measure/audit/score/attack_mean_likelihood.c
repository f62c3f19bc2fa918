/* For features that are bits or shares: the likelihood of the record under the released frequencies over that
 * under the population's. Frequencies are kept away from 0 and 1, where one feature would decide alone. */
#include "audit/score/score_attack.h"

#include <math.h>

static const struct parameter params[] = {
    {"clamp", "smallest distance of frequencies from 0 and 1; 1/(2n) for a mean of n records", 1e-3, 1e-9,
     0.4, false},
    {0}};

static double attack_mean_likelihood_clamped(double share, double clamp)
{
    return fmin(1 - clamp, fmax(clamp, share));
}

static sotto_status attack_mean_likelihood_run(struct attack_output *out, const struct attack_input *in,
                                               const double *args)
{
    for (size_t i = 0; i < in->n; i++) {
        const float *x = in->features + i * in->width;
        double sum = 0;
        for (size_t j = 0; j < in->width; j++) {
            double m = attack_mean_likelihood_clamped(in->released_mean[j], args[0]),
                   r = attack_mean_likelihood_clamped(in->reference_mean[j], args[0]);
            sum += (double)x[j] * log(m / r) + (1 - (double)x[j]) * log((1 - m) / (1 - r));
        }
        out->scores[i] = sum;
    }
    return SOTTO_OK;
}

const struct score_attack attack_mean_likelihood = {.name = "mean-likelihood",
                                                    .title = "Likelihood under the released frequencies",
                                                    .source = "Sankararaman et al. 2009",
                                                    .needs = NEED_MEANS | NEED_SHARES,
                                                    .params = params,
                                                    .run = attack_mean_likelihood_run};
