/* If P' and Q' are within `distance` of P and Q, then P'(S) <= P(S) + distance <= e^eps Q(S) + delta +
 * distance
 * <= e^eps Q'(S) + delta + (1 + e^eps) distance. A share of 2^-30 of delta is set aside for that, and whether
 * it is enough is checked; the same argument the other way round gives the lower end. */
#include "dp/account/accountant.h"

#include <stdio.h>
#include <string.h>

static const double share = 0x1p-30;

/* A pure bound of the exact law no longer holds for the inexact sampler; the other bounds hold at the delta
 * that they name. */
static void drop_pure(struct sotto_account *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->bound_count; i++)
        if (strncmp(a->bounds[i].name, "pure", 4) != 0)
            a->bounds[kept++] = a->bounds[i];
    a->bound_count = kept;
    a->pure_epsilon = NAN;
    a->zcdp_rho = NAN;
}

sotto_status account_within(struct sotto_account *out, const char *mechanism, double scale,
                            const struct sotto_sensitivity *sensitivity, double delta, double distance,
                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a, outer;
    TRY(require_delta(delta));
    if (delta == 0)
        FAIL(SOTTO_EDOMAIN, "a sampler within %.2g of its law gives no pure epsilon; give a delta > 0",
             distance);
    TRY(account_on(&a, mechanism, scale, sensitivity, next_down(delta * (1 - share)), LATTICE_BITS_FINE,
                   ctx));
    TRY(account_on(&outer, mechanism, scale, sensitivity, fmin(delta * (1 + 2 * share), 1 - share),
                   LATTICE_BITS_FINE, ctx));
    struct interval cost = iv_scale(iv_add(iv(1), iv_exp(iv(a.epsilon.upper))), distance);
    if (!(cost.hi <= delta * share * (1 - share)))
        FAIL(SOTTO_EDOMAIN,
             "delta %g is too small; at epsilon %.4g the sampler's distance to its law needs %.2g of delta",
             delta, a.epsilon.upper, cost.hi);
    a.delta = delta;
    drop_pure(&a);
    a.epsilon.lower = fmin(outer.epsilon.lower, a.epsilon.upper);
    snprintf(a.note, sizeof a.note,
             "sampled in constant time, within %.2g of the exact law; the difference is taken from delta, so "
             "there is no pure epsilon or zCDP",
             distance);
    *out = a;
done:
    return status;
}
