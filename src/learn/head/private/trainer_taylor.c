/* Cross-entropy of a last layer by its Taylor series, on hidden units in [0, 1] (Phan et al. 2016: dPA; 2017:
 * AdLM), with Laplace noise by the L1 norm. Their networks learn the hidden units from the same records,
 * which noise in the last layer does not protect; here the features must be public, as everywhere in this
 * folder. */
#include "head/private/moments.h"

static const struct moment_trainer moments = {.name = "taylor",
                                              .domain = MOMENT_BOX,
                                              .noise = "laplace",
                                              .weights = moment_taylor_weights,
                                              .solve = moment_taylor_solve};

const struct head_trainer head_trainer_taylor = {
    .name = "taylor",
    .title = "last layer on hidden units in [0, 1], cross-entropy by its Taylor series",
    .source = "Phan et al. 2016, 2017; docs/derivations/moments.md",
    MOMENT_TRAINER,
    .moments = &moments};
