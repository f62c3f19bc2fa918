/* Randomised response on one label per record. */
#include "dp/release/release.h"

#include <math.h>
#include <stdio.h>

sotto_status sotto_dp_randomise(struct sotto_certificate **certificate, int64_t *labels, size_t n,
                                size_t classes, const struct sotto_release *release,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, !n || labels, release);
    sotto_status status = SOTTO_OK;
    struct sotto_release own = *release;
    struct release_plan plan;
    struct noise *stream = NULL;
    uint64_t m;
    unsigned shift;
    char sampler[128];
    REQUIRE(classes >= 2, "randomised response needs at least 2 classes (got %zu)", classes);
    const double stated = release->sensitivity.l1;
    own.sensitivity.l1 = stated == 0 || isnan(stated) ? 1 : stated;
    own.sensitivity.source =
        SOTTO_SENSITIVITY_PROVED; /* by construction: one label of one record, or another one */
    TRY(release_plan(&plan, &own, n, 1u << RELEASE_LABELS, ctx));
    REQUIRE(plan.sensitivity.l1 == 1, "randomised response: the sensitivity of a label is l1 = 1 (got %g)",
            plan.sensitivity.l1);
    for (size_t i = 0; i < n; i++)
        REQUIRE(labels[i] >= 0 && (uint64_t)labels[i] < classes,
                "label %zu of %zu is %lld; expected 0 to %zu", i, n, (long long)labels[i], classes - 1);
    if (!lattice_ratio(&m, &shift, plan.account.scale))
        FAIL(SOTTO_EDOMAIN, "randomised response: scale %g is out of range; expected 2^-9 to 2^52",
             plan.account.scale);
    snprintf(sampler, sizeof sampler, "exact, integers only: one of %zu labels, kept or replaced", classes);
    plan.sampler = sampler;
    TRY(release_record(&stream, certificate, &plan, ctx));
    for (size_t i = 0; i < n; i++)
        labels[i] = (int64_t)label_draw(stream, (uint64_t)labels[i], classes, m, shift);
done:
    noise_close(stream);
    return status;
}
