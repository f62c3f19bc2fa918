/* K-norm noise of the L2 ball (Hardt and Talwar 2010): density proportional to exp(-||z||_2 / scale), so the
 * direction is uniform, the radius Gamma(n, scale), and a shift of L2 norm D2 changes the log-density by at
 * most t = D2 / scale. No tighter bound is used than that of every t-DP mechanism. */
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/pure_pair.h"

const struct mechanism mechanism_knorm = {
    .name = "knorm",
    .title =
        "K-norm noise of the L2 ball: pure by L2, but its size grows with the dimension; sampled in double",
    .source = "hardt2010geometry; chaudhuri2011differentially",
    .kind = RELEASE_VECTOR,
    .norm = SHIFT_L2,
    .standard_deviation = NAN, /* sqrt(n + 1) */
    .zcdp_divisor = 2,
    .pure = true,
    .dominated = true,
    .epsilon = pure_pair_epsilon,
    .delta = pure_pair_delta,
    .composed = pure_pair_composed,
    .composed_max = PURE_PAIR_COMPOSE_MAX,
    .renyi = pure_pair_renyi,
};
