/* Tracing by the inner product sum_j (x_j - r_j)(m_j - r_j): better powered than Homer's statistic. */
#include "audit/score/score_attack.h"

static sotto_status run(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++) {
        const float *x = in->features + i * in->width;
        double sum = 0;
        for (size_t j = 0; j < in->width; j++)
            sum += ((double)x[j] - in->reference_mean[j]) * (in->released_mean[j] - in->reference_mean[j]);
        out->scores[i] = sum;
    }
    return SOTTO_OK;
}

const struct score_attack attack_tracing = {.name = "tracing",
                                            .title = "Inner product with the released mean",
                                            .source = "Dwork et al. 2015",
                                            .needs = NEED_MEANS,
                                            .run = run};
