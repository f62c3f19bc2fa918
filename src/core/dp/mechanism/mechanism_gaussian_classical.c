/* The textbook formula sigma = sqrt(2 ln(1.25 / delta)) D2 / epsilon (Dwork and Roth 2014, theorem A.1:
 * proved for epsilon < 1). For a fixed delta it stops being private at some larger epsilon, which is found
 * with the exact curve, not looked up. Beside it the account always gives what the same noise really
 * guarantees. */
#include "dp/mechanism/classical_gaussian.h"

#include "dp/mechanism/mechanism.h"
#include "num/special.h"

struct interval classical_slope(double delta)
{
    return iv_sqrt(iv_scale(iv_log(iv_div(iv(1.25), iv(delta))), 2));
}

static struct interval mechanism_gaussian_classical_epsilon(struct interval t, double delta)
{
    return iv_mul(t, classical_slope(delta));
}

static struct interval mechanism_gaussian_classical_delta(struct interval t, double target)
{
    return mechanism_find("gaussian")->delta(t, target);
}

static struct interval mechanism_gaussian_classical_renyi(struct interval t, double alpha)
{
    return mechanism_find("gaussian")->renyi(t, alpha);
}

/* What the formula's noise for (epsilon, delta) really reaches at epsilon. */
static struct interval mechanism_gaussian_classical_achieved(double target, double delta_target)
{
    return mechanism_gaussian_classical_delta(iv_div(iv(target), classical_slope(delta_target)), target);
}

static bool mechanism_gaussian_classical_violates(double target, const void *arg)
{
    double wanted = *(const double *)arg;
    return mechanism_gaussian_classical_achieved(target, wanted).hi > wanted;
}

/* Small epsilons leave room; the first step of the ladder that does not starts the bisection. */
double classical_first_violation(double delta_target)
{
    double high = 1e-3;
    while (high < 1e6 && !mechanism_gaussian_classical_violates(high, &delta_target))
        high *= 1.25;
    return high < 1e6 ? bisect_up(high / 1.25, high, mechanism_gaussian_classical_violates, &delta_target)
                      : INFINITY;
}

static sotto_status mechanism_gaussian_classical_check(double target, double delta_target)
{
    if (!mechanism_gaussian_classical_violates(
            target, &delta_target)) /* never called at delta 0: see account and calibration */
        return SOTTO_OK;
    return status_fail(SOTTO_EDOMAIN,
                       "mechanism 'gaussian-classical': at delta %g the classical formula is not private "
                       "from epsilon %.5g on (got %g); use 'gaussian', which is exact at every epsilon",
                       delta_target, classical_first_violation(delta_target), target);
}

const struct mechanism mechanism_gaussian_classical = {
    .name = "gaussian-classical",
    .title =
        "classical Gaussian formula, for comparison only: proved below epsilon 1, wrong for large epsilon",
    .source = "dwork2014algorithmic, theorem A.1",
    .kind = RELEASE_NONE,
    .standard_deviation = 1,
    .zcdp_divisor = 2,
    .by_l2 = true,
    .dominated = true,
    .epsilon = mechanism_gaussian_classical_epsilon,
    .delta = mechanism_gaussian_classical_delta,
    .renyi = mechanism_gaussian_classical_renyi,
    .check = mechanism_gaussian_classical_check,
};
