/* The exponential mechanism on scores that were rounded to the lattice of the scale, so that differences and
 * probabilities are exact: exp(-gap r / (2 scale)) with scale = m r is e^(-gap / (2 m)). */
#include "base/memory.h"
#include "dp/release/release.h"

static const char sampler[] = "exact, integers only: rejection on scores rounded to a power-of-two lattice";

static sotto_status round_scores(int128 *q, const double *scores, size_t n, struct lattice lattice)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(scores[i]))
            return status_fail(SOTTO_EINVAL, "select: score %zu of %zu is %s; all must be finite", i, n,
                               isnan(scores[i]) ? "NaN" : "infinite");
        q[i] = lattice_index(scores[i], lattice);
    }
    return SOTTO_OK;
}

sotto_status sotto_dp_select(size_t *chosen, struct sotto_certificate **certificate, const double *scores,
                             size_t n, const struct sotto_release *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct release_plan plan;
    struct noise *stream = NULL;
    int128 *q = NULL;
    uint128 *gap = NULL;
    TRY(release_plan(&plan, r, n, 1u << RELEASE_CHOICE, ctx));
    struct lattice lattice = lattice_make(plan.account.scale);
    NEW(q, n);
    NEW(gap, n);
    TRY(round_scores(q, scores, n, lattice));
    int128 best = q[0];
    for (size_t i = 1; i < n; i++)
        best = q[i] > best ? q[i] : best;
    for (size_t i = 0; i < n; i++)
        gap[i] = (uint128)(best - q[i]);
    plan.sampler = sampler;
    plan.lattice_exponent = lattice.exponent;
    TRY(release_record(&stream, certificate, &plan, ctx));
    *chosen = choice_draw(stream, gap, n, 2 * lattice.m);
done:
    base_free(q);
    base_free(gap);
    noise_close(stream);
    return status;
}
