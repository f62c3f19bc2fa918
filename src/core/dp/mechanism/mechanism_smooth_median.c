/* A median with noise of its smooth sensitivity (docs/derivations/local.md, section 2). All that is claimed of it is pure
 * epsilon t = 1 / scale, so the curves are those of the pair that dominates every such mechanism. */
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/pure_pair.h"

const struct mechanism mechanism_smooth_median = {
    .name = "smooth-median",
    .title = "smooth median: the median of bounded values, with Cauchy noise of its smooth sensitivity",
    .source = "nissim2007smooth",
    .kind = RELEASE_MEDIAN,
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
