/* Cross-entropy of a last layer by its Taylor series, on hidden units in [0, 1] (Phan et al. 2016: dPA; 2017:
 * AdLM), with Laplace noise by the L1 norm. Their networks learn the hidden units from the same records,
 * which noise in the last layer does not protect; here the features must be public, as everywhere in this
 * folder. */
#include "head/private/moments.h"

#include <math.h>

static struct moment_weights trainer_taylor_weights(const struct sotto_head_recipe *r, size_t classes)
{
    (void)r;
    return (struct moment_weights){0.125, classes == 2 ? sqrt(0.5) : 1};
}

static sotto_status trainer_taylor_solve(struct noisy_moments *m, const struct sotto_head_recipe *r)
{
    double lambda = r->lambda > 0 ? r->lambda * (double)m->records : 4 * m->deviation;
    return moment_solve_trimmed(m, lambda, 1e-8 * (double)m->records);
}

static const struct moment_trainer moments = {.name = "taylor",
                                              .domain = MOMENT_BOX,
                                              .noise = "laplace",
                                              .weights = trainer_taylor_weights,
                                              .solve = trainer_taylor_solve};

const struct head_trainer head_trainer_taylor = {
    .name = "taylor",
    .title = "last layer on hidden units in [0, 1], cross-entropy by its Taylor series",
    .source = "Phan et al. 2016, 2017; docs/derivations/moments.md",
    MOMENT_TRAINER,
    .moments = &moments};
