/* Tracing by inner products: better powered than Homer's statistic. Standardised, sum_j (x_j - r_j)(m_j - r_j) / v_j
 * with v_j the variance of a non-member's x_j, it is the best linear score where loci are independent
 * (docs/derivations/tracing.md). */
#include "audit/score/score_attack.h"

#include <math.h>

static sotto_status attack_tracing_run(struct attack_output *out, const struct attack_input *in,
                                       const double *args)
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
                                            .run = attack_tracing_run};

static const struct parameter params[] = {
    {"reference", "people behind the population's mean; 0: those that were given, else it counts as exact", 0,
     0, 1e12, true},
    {0}};

/* Of a share of two alleles; a constant factor, as between shares and bits, changes no rank. A mean of n people is
 * no better known than to 1/n, so that a locus where none of them has the allele does not decide alone. */
static double attack_tracing_variance(double r, double people)
{
    return fmax(r * (1 - r), people > 0 ? 1 / people : 0) / 2;
}

static sotto_status run_standardised(struct attack_output *out, const struct attack_input *in,
                                     const double *args)
{
    const double people = args[0] > 0 ? args[0] : (double)in->reference_people;
    for (size_t i = 0; i < in->n; i++) {
        const float *x = in->features + i * in->width;
        double sum = 0;
        for (size_t j = 0; j < in->width; j++) {
            const double r = in->reference_mean[j], v = attack_tracing_variance(r, people);
            sum += v > 0 ? ((double)x[j] - r) * (in->released_mean[j] - r) / v : 0;
        }
        out->scores[i] = sum;
    }
    return SOTTO_OK;
}

const struct score_attack attack_tracing_standardised = {
    .name = "tracing-standardised",
    .title = "Inner product with the released mean, each feature by its variance",
    .source = "after Dwork et al. 2015",
    .needs = NEED_MEANS | NEED_SHARES,
    .params = params,
    .run = run_standardised};
