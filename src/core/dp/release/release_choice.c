/* A choice by scores that were rounded to the lattice of the scale, so that differences and probabilities are exact:
 * exp(-gap r / (2 scale)) with scale = m r is e^(-gap / (2 m)). k choices are made one after the other without putting back,
 * each at k times the scale, so that their epsilons add up to that of the account. */
#include "base/memory.h"
#include "dp/release/release.h"
#include "sotto/release.h"

static const char sampler[] = "exact, integers only: rejection on scores rounded to a power-of-two lattice";
enum { MOST = 512 /* so that 2 m k is less than 2^64 */ };

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

/* What each of the candidates left is below the best of them. */
static void find_gaps(uint128 *gap, const int128 *q, const size_t *left, size_t n)
{
    int128 best = q[left[0]];
    for (size_t i = 1; i < n; i++)
        best = q[left[i]] > best ? q[left[i]] : best;
    for (size_t i = 0; i < n; i++)
        gap[left[i]] = (uint128)(best - q[left[i]]);
}

static void take_out(size_t *left, size_t n, size_t chosen)
{
    size_t at = 0;
    while (left[at] != chosen)
        at++;
    left[at] = left[n - 1];
}

static sotto_status check_count(const struct mechanism *m, size_t k, size_t n)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(k >= 1 && k <= n && k <= MOST, "select: %zu choices of %zu candidates; expected 1 to %zu", k, n,
            n < MOST ? n : (size_t)MOST);
    REQUIRE(k == 1 || m->choose == flip_draw,
            "select: mechanism '%s' makes one choice; expected permute-and-flip for %zu", m->name, k);
done:
    return status;
}

sotto_status sotto_dp_select_top(size_t *chosen, size_t k, struct sotto_certificate **certificate,
                                 const double *scores, size_t n, const struct sotto_release *release,
                                 const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!k || chosen, certificate, !n || scores, release);
    sotto_status status = SOTTO_OK;
    struct release_plan plan;
    struct noise *stream = NULL;
    int128 *q = NULL;
    uint128 *gap = NULL;
    size_t *left = NULL;
    TRY(release_plan(&plan, release, n, 1u << RELEASE_CHOICE, ctx));
    TRY(check_count(plan.mechanism, k, n));
    struct lattice lattice = lattice_make(plan.account.scale);
    NEW(q, n);
    NEW(gap, n);
    NEW(left, n);
    TRY(round_scores(q, scores, n, lattice));
    for (size_t i = 0; i < n; i++)
        left[i] = i;
    plan.sampler = sampler;
    plan.lattice_exponent = lattice.exponent;
    TRY(release_record(&stream, certificate, &plan, ctx));
    for (size_t i = 0; i < k; i++) {
        find_gaps(gap, q, left, n - i);
        chosen[i] = plan.mechanism->choose(stream, gap, left, n - i, 2 * lattice.m * k);
        take_out(left, n - i, chosen[i]);
    }
done:
    base_free(q);
    base_free(gap);
    base_free(left);
    noise_close(stream);
    return status;
}

sotto_status sotto_dp_select(size_t *chosen, struct sotto_certificate **certificate, const double *scores,
                             size_t n, const struct sotto_release *release, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(chosen, certificate, !n || scores, release);
    return sotto_dp_select_top(chosen, 1, certificate, scores, n, release, ctx);
}
