/* How far up a canary stands among candidates that could as well have been chosen (Carlini et al. 2019). */
#include "base/status.h"
#include "sotto/lab/audit.h"

#include <math.h>

/* ln P(Z > z) of a standard normal Z. Beyond 30 by the first terms of its asymptotic series (off by less than 1e-5 of itself). */
static double log_upper_tail(double z)
{
    if (z < 30)
        return log(erfc(z / sqrt(2)) / 2);
    return -z * z / 2 - log(z) - log(2 * acos(-1)) / 2 + log1p(-1 / (z * z) + 3 / (z * z * z * z));
}

sotto_status sotto_exposure(struct sotto_exposure *out, double score, const double *candidates, size_t n)
{
    REQUIRE_GIVEN(out, !n || candidates);
    sotto_status status = SOTTO_OK;
    size_t as_high = 0;
    double sum = 0, squares = 0;
    REQUIRE(isfinite(score), "exposure: the score of the canary is %g; expected a finite number", score);
    REQUIRE(n >= 1, "exposure: no candidates; expected at least 1");
    for (size_t i = 0; i < n; i++) {
        REQUIRE(isfinite(candidates[i]), "exposure: candidate %zu is %g; expected a finite number", i,
                candidates[i]);
        as_high += candidates[i] >= score;
        sum += candidates[i];
    }
    const double all = (double)n + 1, mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (candidates[i] - mean) * (candidates[i] - mean);
    *out = (struct sotto_exposure){.score = score,
                                   .rank = as_high + 1,
                                   .candidates = n + 1,
                                   .exposure = log2(all) - log2((double)as_high + 1),
                                   .most = log2(all),
                                   .p_value = ((double)as_high + 1) / all,
                                   .extrapolated = NAN};
    if (n > 1 && squares > 0)
        out->extrapolated = -log_upper_tail((score - mean) / sqrt(squares / (double)(n - 1))) / log(2);
done:
    return status;
}
