/* Zhang et al. 2012, Algorithm 5.2 for logistic regression: ln(1 + e^z) - y z = ln 2 + z^2 / 8 + (1/2 - y) z
 * to second order, so the coefficients of a one-against-rest objective are x x' / 8 and x (1/2 - y), the
 * first the same for all classes and released once. */
#include "head/private/moments.h"

#include <math.h>

struct moment_weights moment_taylor_weights(const struct sotto_head_recipe *r, size_t classes)
{
    (void)r;
    return (struct moment_weights){0.125, classes == 2 ? sqrt(0.5) : 1}; /* two: one logit, +-1/2 */
}

/* The minimiser of w' M w / 8 - b' w is 4 M^-1 b; the factor is left to the caller. Four deviations of the
 * noise are what the paper adds. */
sotto_status moment_taylor_solve(struct noisy_moments *m, const struct sotto_head_recipe *r)
{
    double lambda = r->lambda > 0 ? r->lambda * (double)m->records : 4 * m->deviation;
    return moment_solve_trimmed(m, lambda, 1e-8 * (double)m->records);
}

static const struct moment_trainer moments = {.name = "functional",
                                              .domain = MOMENT_BALL,
                                              .noise = "gaussian",
                                              .weights = moment_taylor_weights,
                                              .solve = moment_taylor_solve};

const struct head_trainer head_trainer_functional = {
    .name = "functional",
    .title = "functional mechanism: logistic regression by its Taylor series",
    .source = "Zhang et al. 2012; docs/derivations/moments.md",
    MOMENT_TRAINER,
    .moments = &moments};

/* (y - w'x)^2 with y = +-1: coefficients x x' and -2 y x; one against the rest, centred: -4 u. */
static struct moment_weights linear_weights(const struct sotto_head_recipe *r, size_t classes)
{
    (void)r;
    return (struct moment_weights){1, classes == 2 ? sqrt(8) : 4};
}

static const struct moment_trainer linear_moments = {.name = "functional-linear",
                                                     .domain = MOMENT_BALL,
                                                     .noise = "gaussian",
                                                     .weights = linear_weights,
                                                     .solve = moment_taylor_solve};

const struct head_trainer head_trainer_functional_linear = {
    .name = "functional-linear",
    .title = "functional mechanism: linear regression on the classes",
    .source = "Zhang et al. 2012; docs/derivations/moments.md",
    MOMENT_TRAINER,
    .moments = &linear_moments};
