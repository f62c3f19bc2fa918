/* Randomised response on one label per record. */
#include "dp/release/release_labels.h"
#include "sotto/release.h"

#include <math.h>
#include <stdio.h>

sotto_status label_release_make(struct label_release *r, int64_t *labels, size_t n, size_t classes,
                                const struct sotto_release *release, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct release_plan *plan = &r->plan;
    *r = (struct label_release){.labels = labels, .n = n, .classes = classes, .own = *release};
    REQUIRE(classes >= 2, "randomised response needs at least 2 classes (got %zu)", classes);
    const double stated = release->sensitivity.l1;
    r->own.sensitivity.l1 = stated == 0 || isnan(stated) ? 1 : stated;
    r->own.sensitivity.source =
        SOTTO_SENSITIVITY_PROVED; /* by construction: one label of one record, or another one */
    TRY(release_plan(plan, &r->own, n, 1u << RELEASE_LABELS, ctx));
    REQUIRE(plan->sensitivity.l1 == 1, "randomised response: the sensitivity of a label is l1 = 1 (got %g)",
            plan->sensitivity.l1);
    for (size_t i = 0; i < n; i++)
        REQUIRE(labels[i] >= 0 && (uint64_t)labels[i] < classes,
                "label %zu of %zu is %lld; expected 0 to %zu", i, n, (long long)labels[i], classes - 1);
    if (!lattice_ratio(&r->m, &r->shift, plan->account.scale))
        FAIL(SOTTO_EDOMAIN, "randomised response: scale %g is out of range; expected 2^-9 to 2^52",
             plan->account.scale);
    snprintf(r->sampler, sizeof r->sampler, "exact, integers only: one of %zu labels, kept or replaced",
             classes);
    plan->sampler = r->sampler;
done:
    return status;
}

void label_release_draw(struct label_release *r, struct noise *stream)
{
    for (size_t i = 0; i < r->n; i++)
        r->labels[i] = (int64_t)label_draw(stream, (uint64_t)r->labels[i], r->classes, r->m, r->shift);
}

sotto_status sotto_dp_randomise(struct sotto_certificate **certificate, int64_t *labels, size_t n,
                                size_t classes, const struct sotto_release *release,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, !n || labels, release);
    sotto_status status = SOTTO_OK;
    struct label_release r;
    struct noise *stream = NULL;
    TRY(label_release_make(&r, labels, n, classes, release, ctx));
    TRY(release_record(&stream, certificate, &r.plan, ctx));
    label_release_draw(&r, stream);
done:
    noise_close(stream);
    return status;
}
