/* Quantile regression: on known non-members, learn what signal a record like this one should have (mean and
 * spread, both linear in its features, or by class where there are no features); the score is how far above
 * that the target's signal lies. One regression replaces all shadow models and needs to know nothing about
 * the training. The published attack regresses with a network on the input; this one with a linear model,
 * fitted by the Gaussian likelihood it also uses. attack_quantile_pinball.c has its other form. */
#include "audit/score/population_table.h"
#include "num/lbfgs.h"

#include <math.h>

static const double ridge = 1e-3, widest = 8; /* |ln spread| that a record may be given */

static double attack_quantile_bounded(double log_spread)
{
    return fmin(widest, fmax(-widest, log_spread));
}

/* w (2, d): mean, ln spread. Mean of ln spread + (y - mean)^2 / (2 spread^2), plus the ridge. */
static double attack_quantile_likelihood(double *gradient, const double *w, void *arg)
{
    const struct population_table *r = arg;
    double value = 0;
    for (size_t e = 0; e < 2 * r->d; e++)
        gradient[e] = 0;
    for (size_t i = 0; i < r->n; i++) {
        const double *x = r->x + i * r->d;
        double mean = 0, log_spread = 0;
        for (size_t j = 0; j < r->d; j++)
            mean += w[j] * x[j], log_spread += w[r->d + j] * x[j];
        double s = attack_quantile_bounded(log_spread), z = (r->y[i] - mean) * exp(-s);
        value += s + z * z / 2;
        for (size_t j = 0; j < r->d; j++) {
            gradient[j] -= z * exp(-s) * x[j];
            gradient[r->d + j] += s == log_spread ? (1 - z * z) * x[j] : 0;
        }
    }
    value /= (double)r->n;
    for (size_t e = 0; e < 2 * r->d; e++) {
        gradient[e] /= (double)r->n;
        if (e % r->d == r->d - 1)
            continue;
        value += ridge / 2 * w[e] * w[e];
        gradient[e] += ridge * w[e];
    }
    return value;
}

static sotto_status attack_quantile_run(struct attack_output *out, const struct attack_input *in,
                                        const double *args)
{
    (void)args;
    sotto_status status = SOTTO_OK;
    struct population_table t = {0};
    double *w = NULL, *x;
    TRY(population_table_make(&t, in));
    NEW_ROWS(w, t.d, 3);
    x = w + 2 * t.d;
    TRY(minimise(w, 2 * t.d, attack_quantile_likelihood, &t, 1e-9, 500));
    for (size_t i = 0; i < in->n; i++) {
        double signal = population_table_row(x, &t, in, i), mean = 0, log_spread = 0;
        for (size_t j = 0; j < t.d; j++)
            mean += w[j] * x[j], log_spread += w[t.d + j] * x[j];
        out->scores[i] = (signal - mean) * exp(-attack_quantile_bounded(log_spread));
    }
done:
    base_free(w);
    population_table_clear(&t);
    return status;
}

const struct score_attack attack_quantile = {.name = "quantile",
                                             .title = "Regression on known non-members",
                                             .source = "Bertran et al. 2023",
                                             .needs = NEED_LOSSES | NEED_POPULATION,
                                             .run = attack_quantile_run};
