/* Randomised response over k labels: the truth with probability e^t / (e^t + k - 1), else one of the others,
 * all alike. Two labels are the worst case, delta = (e^t - e^eps) / (e^t + k - 1), so the curves below hold
 * for every k. The sensitivity of a label is 1: t = 1 / scale. */
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/pure_pair.h"

const struct mechanism mechanism_randomised_response = {
    .name = "randomised-response",
    .title = "randomised response: each record's label is kept or replaced by a coin",
    .source = "warner1965randomized; kairouz2016extremal",
    .kind = RELEASE_LABELS,
    .norm = SHIFT_SCORE,
    .standard_deviation = NAN,
    .zcdp_divisor = 2,
    .pure = true,
    .two_losses = true,
    .epsilon = pure_pair_epsilon,
    .delta = pure_pair_delta,
    .composed = pure_pair_composed,
    .composed_max = PURE_PAIR_COMPOSE_MAX,
    .renyi = pure_pair_renyi,
};
