/* What a release leaves of a guess about one record. An attacker who knows everything else, and would guess right with
 * probability `prior` from a release in which the record is replaced by a fixed one (or left out), guesses right with at most
 * 1 - f(prior) from the true one: "right" is an event of the release and of the guess's own coins, once for each value of
 * the record, and 1 - f is concave, so the mean over values keeps the bound. docs/derivations/one-run.md, section 5. */
#include "base/status.h"
#include "sotto/account.h"

#include <math.h>

/* Every point (epsilon, delta) is two lines below f. */
sotto_status sotto_reconstruction_bound(double *bound, const struct sotto_privacy_profile *profile,
                                        double prior)
{
    REQUIRE_GIVEN(bound, profile);
    sotto_status status = SOTTO_OK;
    static const double rounding = 1e-12;
    double best = 1;
    REQUIRE(prior > 0 && prior < 1, "the prior is %g; expected a probability in (0, 1)", prior);
    for (size_t i = 0; i < profile->count; i++) {
        const double e = exp(profile->epsilon[i]), delta = profile->delta[i];
        best = fmin(best, e * prior + delta);
        best = fmin(best, 1 - (1 - prior - delta) / e);
    }
    *bound = fmin(1, best * (1 + rounding));
done:
    return status;
}
