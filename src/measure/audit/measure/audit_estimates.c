/* The two public estimates that need no audit around them. */
#include "audit/measure/metrics.h"
#include "num/beta.h"

#include <math.h>

sotto_status estimate_auc(struct sotto_estimate *out, const double *member, size_t n_member,
                          const double *nonmember, size_t n_nonmember, double confidence)
{
    REQUIRE_GIVEN(out, !n_member || member, !n_nonmember || nonmember);
    sotto_status status = SOTTO_OK;
    struct roc c = {0};
    bool exact;
    REQUIRE(n_member > 0 && n_nonmember > 0, "auc: %zu members and %zu non-members; both must be > 0",
            n_member, n_nonmember);
    REQUIRE(confidence > 0 && confidence < 1, "auc: confidence must be between 0 and 1 (got %g)", confidence);
    for (size_t i = 0; i < n_member + n_nonmember; i++) {
        double x = i < n_member ? member[i] : nonmember[i - n_member];
        REQUIRE(isfinite(x), "auc: %s score %zu is not finite", i < n_member ? "member" : "non-member",
                i < n_member ? i : i - n_member);
    }
    TRY(roc_make(&c, member, n_member, nonmember, n_nonmember));
    *out = roc_auc(&c, confidence, &exact);
done:
    roc_clear(&c);
    return status;
}

sotto_status estimate_proportion(struct sotto_estimate *out, size_t k, size_t n, double confidence)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    REQUIRE(n > 0 && k <= n, "clopper-pearson: %zu of %zu; expected 0 <= k <= n and n > 0", k, n);
    REQUIRE(confidence > 0 && confidence < 1, "clopper-pearson: confidence must be between 0 and 1 (got %g)",
            confidence);
    struct sotto_estimate e = {.estimate = (double)k / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)k, (double)n, confidence);
    *out = e;
done:
    return status;
}
