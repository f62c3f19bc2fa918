/* A head by objective perturbation (docs/derivations/objective.md). All that is claimed of it is pure epsilon t = 1 / scale,
 * which its parts add up to, so the curves are those of the pair that dominates every such mechanism. */
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/pure_pair.h"

const struct mechanism mechanism_objective = {
    .name = "objective-perturbation",
    .title = "objective perturbation: K-norm noise in the objective of a linear head, with a blurred minimum",
    .source = "chaudhuri2011differentially; iyengar2019towards; docs/derivations/objective.md",
    .kind = RELEASE_MINIMUM,
    .norm = SHIFT_SCORE,
    .standard_deviation = NAN,
    .zcdp_divisor = 2,
    .pure = true,
    .dominated = true,
    .epsilon = pure_pair_epsilon,
    .delta = pure_pair_delta,
    .composed = pure_pair_composed,
    .composed_max = PURE_PAIR_COMPOSE_MAX,
    .renyi = pure_pair_renyi,
};
