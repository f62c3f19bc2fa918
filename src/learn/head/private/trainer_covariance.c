/* Private least squares: the classes, centred, regressed on the features from noisy sums (sufficient
 * statistics perturbation: Vu & Slavkovic 2009; Amin et al. 2023; Mehta et al. 2023 for heads on public
 * features). */
#include "head/private/moments.h"

#include <math.h>

static struct moment_weights trainer_covariance_weights(const struct sotto_head_recipe *r, size_t classes)
{
    (void)classes;
    return (struct moment_weights){1, r->cross};
}

/* Without a lambda: the noise in the products is a symmetric Gaussian matrix, of norm about sqrt(2 q) times
 * the deviation of a diagonal entry; that much makes the sum positive definite, nearly always. */
static sotto_status trainer_covariance_solve(struct noisy_moments *m, const struct sotto_head_recipe *r)
{
    double lambda = r->lambda > 0 ? r->lambda * (double)m->records : sqrt(2 * (double)m->q) * m->deviation;
    return moment_solve_ridge(m, lambda);
}

static const struct moment_trainer moments = {.name = "covariance",
                                              .domain = MOMENT_BALL,
                                              .noise = "gaussian",
                                              .weighted = true,
                                              .weights = trainer_covariance_weights,
                                              .solve = trainer_covariance_solve};

const struct head_trainer head_trainer_covariance = {.name = "covariance",
                                                     .title = "least squares on noisy second moments",
                                                     .source = "docs/derivations/moments.md",
                                                     MOMENT_TRAINER,
                                                     .moments = &moments};
