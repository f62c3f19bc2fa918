/* Permute-and-flip: candidates in random order, the first that a coin of probability exp((q_i - best) / (2 scale)) takes. Pure
 * epsilon t = S / scale; its expected error is never above the exponential mechanism's. A draw is an arg-max of scores with
 * exponential noise, so its losses have no range below 2 t, and its curves are those of the pair that dominates every pure
 * mechanism. docs/derivations/mechanisms.md, section 5. */
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/pure_pair.h"

const struct mechanism mechanism_permute_and_flip = {
    .name = "permute-and-flip",
    .title = "permute-and-flip: selects candidates by their scores, one or several",
    .source = "mckenna2020permute; ding2021permute",
    .kind = RELEASE_CHOICE,
    .choose = flip_draw,
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
