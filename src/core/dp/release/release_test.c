/* The most frequent label, as it is, if a noisy test finds that no few replacements change it. The noise is discrete Laplace
 * noise from coins of whole numbers. */
#include "dp/release/release_test.h"
#include "base/memory.h"
#include "dp/account/risk.h"
#include "dp/ledger/spend.h"
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/require.h"
#include "dp/noise/lattice.h"
#include "dp/release/class_labels.h"
#include "dp/release/release.h"
#include "dp/smooth/smooth_sensitivity.h"
#include "io/array/array.h"
#include "num/interval.h"
#include "sotto/private/io.h"

#include <math.h>
#include <string.h>

static const char sampler[] = "exact, integers only: a noisy test of how far another answer is";

bool release_is_test(const char *mechanism)
{
    return mechanism && strcmp(mechanism, TEST_MECHANISM) == 0;
}

static sotto_status plan_test(struct release_plan *out, size_t *threshold, const struct sotto_release *r,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct release_plan p = {.release = r,
                             .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
                             .n = 1,
                             .sampler = sampler};
    REQUIRE(!risk_given(&r->risk),
            "%s has a guarantee at one delta only; give a target epsilon instead of a risk", TEST_MECHANISM);
    REQUIRE(release_is_test(r->mechanism), "mechanism '%s' tests nothing; expected %s", r->mechanism,
            TEST_MECHANISM);
    REQUIRE(spend_given(r->scale) || spend_given(r->target.epsilon),
            "release: neither a scale nor a target epsilon is given; give one of them");
    const double scale = spend_given(r->scale) ? r->scale : iv_div(iv(1), iv(r->target.epsilon)).hi;
    REQUIRE(scale >= 0x1p-6 && scale <= 0x1p10, "%s: scale %g; expected 2^-6 to 2^10", TEST_MECHANISM, scale);
    TRY(account_on(&p.account, TEST_MECHANISM, scale, &p.sensitivity, r->target.delta, LATTICE_BITS, ctx));
    TRY(propose_threshold(threshold, (struct sotto_dp){iv_div(iv(1), iv(scale)).lo, r->target.delta}));
    TRY(spend_check(&p.dataset_id, p.condition, NULL, &r->spend));
    spend_state_shapings(p.shaped, p.dataset_id, &r->spend);
    *out = p;
done:
    return status;
}

sotto_status sotto_dp_most_frequent(int64_t *label, struct sotto_certificate **certificate,
                                    const int64_t *labels, size_t n, size_t classes,
                                    const struct sotto_release *release, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(label, certificate, !n || labels, release);
    sotto_status status = SOTTO_OK;
    struct release_plan plan;
    struct noise *stream = NULL;
    struct sotto_certificate *made = NULL;
    size_t *counts = NULL, threshold, answer, distance;
    uint64_t m;
    unsigned shift;
    REQUIRE(classes >= 2 && classes <= (size_t)1 << 32,
            "most frequent label: %zu classes; expected 2 to 2^32", classes);
    NEW(counts, classes);
    for (size_t i = 0; i < n; i++)
        if (labels[i] >= 0 && (uint64_t)labels[i] < classes)
            counts[labels[i]]++;
    TRY(plan_test(&plan, &threshold, release, ctx));
    REQUIRE(lattice_ratio(&m, &shift, plan.account.scale), "%s: scale %g is out of range", TEST_MECHANISM,
            plan.account.scale);
    TRY(most_frequent(&answer, &distance, counts, classes));
    TRY(release_record(&stream, &made, &plan, ctx));
    *label =
        (int64_t)distance + (int64_t)integer_signed(stream, integer_laplace, m, shift) >= (int64_t)threshold
            ? (int64_t)answer
            : -1;
    *certificate = made;
    made = NULL;
done:
    base_free(counts);
    noise_close(stream);
    sotto_certificate_free(made);
    return status;
}

sotto_status protect_most_frequent(struct sotto_certificate **certificate, struct sotto_array *a,
                                   const struct sotto_protect *p, const struct sotto_release *release,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array made = {0};
    struct sotto_release r = *release;
    if (!p->statistic || strcmp(p->statistic, "most-frequent") != 0 || p->classes < 2)
        FAIL(SOTTO_EUSAGE,
             "protect: %s releases the most frequent of labels; give {input|table|records}, "
             "{statistic=most-frequent} and {classes}",
             TEST_MECHANISM);
    if (p->cases || p->blocks || p->choices > 1 || p->range[0] != p->range[1])
        FAIL(SOTTO_EUSAGE,
             "protect: the most frequent label takes none of {range}, {cases}, {blocks} and {choices}");
    if (release->sensitivity.l1 > 0 || release->sensitivity.l2 > 0)
        FAIL(SOTTO_EUSAGE, "protect: the sensitivity of a statistic is proved; omit {sensitivity.l1}, "
                           "{sensitivity.l2} and {sensitivity_file|sensitivity}");
    if (a->ndim < 1 || a->ndim > 2 || (a->ndim == 2 && a->shape[1] != 1))
        FAIL(SOTTO_EINVAL, "%s: has %d dimensions; expected labels (n) or (n, 1)", p->input, a->ndim);
    TRY(class_labels_check(a, p->input));
    r.records = a->shape[0];
    TRY(class_labels(a, p->classes, p->labels_from, -1)); /* not counted */
    TRY(sotto_array_make(&made, SOTTO_I8, 1, &(size_t){1}));
    TRY(sotto_dp_most_frequent(made.data, certificate, a->data, a->count, p->classes, &r, ctx));
    base_wipe(a->data, a->count * sizeof(int64_t));
    sotto_array_clear(a);
    *a = made;
    made = (struct sotto_array){0};
done:
    sotto_array_clear(&made);
    return status;
}
