/* The textbook formula sigma = sqrt(2 ln(1.25 / delta)) D2 / epsilon (Dwork and Roth 2014, theorem A.1:
 * proved for epsilon < 1). For a fixed delta it stops being private at some larger epsilon, which is found
 * with the exact curve, not looked up. Beside it the account always gives what the same noise really
 * guarantees. */
#include "dp/accountant.h"
#include "num/special.h"

/* epsilon / t = sqrt(2 ln(1.25 / delta)). */
static struct interval slope(double delta)
{
    return iv_sqrt(iv_scale(iv_log(iv_div(iv(1.25), iv(delta))), 2));
}

static struct interval epsilon(struct interval t, double delta)
{
    return iv_mul(t, slope(delta));
}

static struct interval delta(struct interval t, double target)
{
    return mechanism_find("gaussian")->delta(t, target);
}

static struct interval renyi(struct interval t, double alpha)
{
    return mechanism_find("gaussian")->renyi(t, alpha);
}

/* What the formula's noise for (epsilon, delta) really reaches at epsilon. */
static struct interval achieved(double target, double delta_target)
{
    return delta(iv_div(iv(target), slope(delta_target)), target);
}

static bool violates(double target, const void *arg)
{
    double wanted = *(const double *)arg;
    return achieved(target, wanted).hi > wanted;
}

/* Small epsilons leave room; the first step of the ladder that does not starts the bisection. */
static double first_violation(double delta_target)
{
    double high = 1e-3;
    while (high < 1e6 && !violates(high, &delta_target))
        high *= 1.25;
    return high < 1e6 ? bisect_up(high / 1.25, high, violates, &delta_target) : INFINITY;
}

static sotto_status check(double target, double delta_target)
{
    if (!violates(target, &delta_target)) /* nobody asks at delta 0: see account and calibration */
        return SOTTO_OK;
    return status_fail(
        SOTTO_EDOMAIN,
        "mechanism 'gaussian-classical': at delta %g the classical formula is not private from "
        "epsilon %.5g on (got %g); 'gaussian' is exact at every epsilon",
        delta_target, first_violation(delta_target), target);
}

sotto_status sotto_gaussian_classical(struct sotto_classical_gaussian *out, double l2, struct sotto_dp target)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = l2};
    struct sotto_classical_gaussian c = {0};
    TRY(require_positive(l2, "sensitivity l2"));
    TRY(require_positive(target.epsilon, "epsilon"));
    TRY(require_delta(target.delta));
    REQUIRE(target.delta > 0, "delta must be > 0 for Gaussian noise (got 0)");
    TRY(sotto_calibrate(&c.analytic_scale, "gaussian", &s, target));
    c.scale = iv_div(iv_mul(iv(l2), slope(target.delta)), iv(target.epsilon)).hi;
    c.achieved_delta = delta(iv_div(iv(l2), iv(c.scale)), target.epsilon).hi;
    c.first_violation = first_violation(target.delta);
    c.is_private = c.achieved_delta <= target.delta;
    c.published = target.epsilon < 1;
    *out = c;
done:
    return status;
}

const struct mechanism mechanism_gaussian_classical = {
    .name = "gaussian-classical",
    .title = "the classical Gaussian formula, for comparing: proved below epsilon 1, wrong for large ones",
    .source = "dwork2014algorithmic, theorem A.1",
    .kind = RELEASE_NONE,
    .standard_deviation = 1,
    .zcdp_divisor = 2,
    .by_l2 = true,
    .dominated = true,
    .epsilon = epsilon,
    .delta = delta,
    .renyi = renyi,
    .check = check,
};
