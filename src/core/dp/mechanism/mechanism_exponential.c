/* The exponential mechanism: index i with probability proportional to exp(q_i / (2 scale)), scores that
 * change by at most S, t = S / scale. The log-probabilities of all indices change by amounts that lie within
 * a range of t (Dong, Durfee, Rogers 2020). At every epsilon the worst pair of that kind has exactly the
 * hockey-stick divergence of logistic noise at the same t, so the logistic curves and their compositions
 * hold; the range gives t^2/8-zCDP besides (Cesar and Rogers 2021). docs/derivations/mechanisms.md,
 * section 5. */
#include "dp/mechanism/logistic_compose.h"
#include "dp/mechanism/mechanism.h"

static struct interval mechanism_exponential_epsilon(struct interval t, double delta)
{
    return mechanism_find("logistic")->epsilon(t, delta);
}

static struct interval mechanism_exponential_delta(struct interval t, double target)
{
    return mechanism_find("logistic")->delta(t, target);
}

static struct interval mechanism_exponential_renyi(struct interval t, double alpha)
{
    struct interval range = iv_scale(iv_mul(iv(alpha), iv_square(t)), 0.125);
    return iv_min(mechanism_find("logistic")->renyi(t, alpha), range);
}

const struct mechanism mechanism_exponential = {
    .name = "exponential",
    .title = "exponential mechanism: selects one of several candidates by their scores",
    .source = "mcsherry2007mechanism; dong2020optimal",
    .kind = RELEASE_CHOICE,
    .choose = choice_draw,
    .norm = SHIFT_SCORE,
    .standard_deviation = NAN,
    .zcdp_divisor = 8,
    .pure = true,
    .epsilon = mechanism_exponential_epsilon,
    .delta = mechanism_exponential_delta,
    .composed = logistic_composed_epsilon,
    .composed_max = LOGISTIC_COMPOSE_MAX,
    .renyi = mechanism_exponential_renyi,
};
