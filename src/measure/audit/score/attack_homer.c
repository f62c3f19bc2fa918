/* Homer et al. 2008: a person in the mixture is, over many independent features, a little closer to the
 * mixture's mean than to the population's. D_j = |x_j - r_j| - |x_j - m_j|; the score is its t statistic,
 * normal for a non-member only if the features are independent, so thresholds come from known non-members
 * here as for every attack. */
#include "audit/score/score_attack.h"

#include <math.h>

static sotto_status attack_homer_run(struct attack_output *out, const struct attack_input *in,
                                     const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++) {
        const float *x = in->features + i * in->width;
        double mean = 0, squares = 0;
        for (size_t j = 0; j < in->width; j++) {
            double d = fabs((double)x[j] - in->reference_mean[j]) - fabs((double)x[j] - in->released_mean[j]);
            double step = d - mean; /* Welford */
            mean += step / (double)(j + 1);
            squares += step * (d - mean);
        }
        double spread = in->width > 1 ? sqrt(squares / (double)(in->width - 1)) : 0;
        out->scores[i] = spread > 0 ? sqrt((double)in->width) * mean / spread : 0;
    }
    return SOTTO_OK;
}

const struct score_attack attack_homer = {.name = "homer",
                                          .title = "Closer to the released mean than to the population's",
                                          .source = "Homer et al. 2008",
                                          .needs = NEED_MEANS,
                                          .normal_null = true,
                                          .run = attack_homer_run};
