/* The classical formula beside the exact curve: what its noise really reaches. */
#include "dp/account/accountant.h"
#include "dp/mechanism/classical_gaussian.h"
#include "sotto/lab/account.h"

#include <math.h>

sotto_status sotto_gaussian_classical(struct sotto_classical_gaussian *out, double l2, struct sotto_dp target)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = l2};
    struct sotto_classical_gaussian c = {0};
    TRY(require_positive(l2, "sensitivity l2"));
    TRY(require_positive(target.epsilon, "epsilon"));
    TRY(require_delta(target.delta));
    REQUIRE(target.delta > 0, "delta must be > 0 for Gaussian noise (got 0)");
    TRY(sotto_calibrate(&c.analytic_scale, "gaussian", &s, target, NULL));
    c.scale = iv_div(iv_mul(iv(l2), classical_slope(target.delta)), iv(target.epsilon)).hi;
    c.achieved_delta = mechanism_find("gaussian")->delta(iv_div(iv(l2), iv(c.scale)), target.epsilon).hi;
    c.first_violation = classical_first_violation(target.delta);
    c.is_private = c.achieved_delta <= target.delta;
    c.published = target.epsilon < 1;
    *out = c;
done:
    return status;
}
