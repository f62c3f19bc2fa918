/* Smallest scale for a target, by bisection on the account's upper end. The search only proposes; what is
 * returned was itself accounted and found to hold, so rounding can waste noise but never save too much. */
#include "dp/account/accountant.h"
#include "dp/account/calibrate_refine.h"
#include "num/special.h"
#include "options/option_tables.h"
#include "sotto/lab/account.h"
#include "sotto/private/option.h"

struct search {
    const struct mechanism *m;
    const struct sotto_sensitivity *sensitivity;
    struct sotto_dp target;
    size_t compose;
    int bits; /* of the lattice; 0: the mechanism's */
    const struct sotto_context *ctx;
};

static double upper_at(const struct search *s, double scale, const struct sensitivity_ratio *shifts)
{
    struct sotto_account account;
    account_upper(&account, s->m, scale, shifts, s->target.delta, s->compose);
    return account.epsilon.upper;
}

/* Shifts depend on the scale only in that it must lie between 1e-100 and 1e100, where the search stays, and
 * those for scale 1 were made before it; a refusal would still not be taken for an answer. */
static bool calibrate_holds(double scale, const void *arg)
{
    const struct search *s = arg;
    struct sensitivity_ratio shifts;
    if (context_stopped(s->ctx)) /* any answer ends the search, and is not used */
        return true;
    return sensitivity_ratio_on(&shifts, s->m, scale, s->sensitivity, s->bits) == SOTTO_OK &&
           upper_at(s, scale, &shifts) <= calibration_aim(s->target.epsilon);
}

static sotto_status upper_of(double *epsilon, double scale, const void *arg)
{
    const struct search *s = arg;
    struct sotto_account account;
    sotto_status status = sotto_account_release(&account, s->m->name, scale, s->sensitivity, s->target.delta,
                                                s->compose, s->ctx);
    if (status == SOTTO_OK)
        *epsilon = account.epsilon.upper;
    return status;
}

static sotto_status calibrate_scale(double *scale, const char *mechanism, struct search s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_sensitivity *sensitivity = s.sensitivity;
    const struct sotto_dp target = s.target;
    const struct sotto_context *ctx = s.ctx;
    const size_t compose = s.compose;
    struct sensitivity_ratio checked;
    TRY(mechanism_require(&s.m, mechanism));
    s.bits = s.bits ? s.bits : mechanism_lattice(s.m);
    TRY(sensitivity_ratio_for(&checked, s.m, 1, sensitivity));
    TRY(require_positive(target.epsilon, "epsilon"));
    TRY(require_delta(target.delta));
    TRY(sotto_option_check_number(sotto_option_find(options_account, "compose"), (double)compose));
    TRY(account_require_pure(s.m, &checked, target.delta));
    if (s.m->check)
        TRY(s.m->check(target.epsilon, target.delta));
    double low, high = checked.l2.hi / target.epsilon;
    if (high < 1e-99)
        high = 1e-99;
    while (high <= 1e100 && !calibrate_holds(high, &s))
        high *= 4;
    TRY(context_check(ctx, "calibrate: stopped"));
    if (high > 1e100)
        FAIL(SOTTO_EDOMAIN, "%s: no scale up to 1e100 reaches epsilon %g at delta %g", mechanism,
             target.epsilon, target.delta);
    for (low = high / 4; low >= 1e-100 && calibrate_holds(low, &s); low /= 4)
        high = low;
    TRY(context_check(ctx, "calibrate: stopped"));
    if (low < 1e-100)
        FAIL(SOTTO_EDOMAIN, "%s: epsilon %g is too large; its scale would be below 1e-100", mechanism,
             target.epsilon);
    double found = bisect_up(low, high, calibrate_holds, &s);
    TRY(context_check(ctx, "calibrate: stopped"));
    TRY(sensitivity_ratio_for(&checked, s.m, found, sensitivity));
    if (account_needs_pld(s.m, &checked, target.delta, compose))
        TRY(calibrate_refine(&found, &(struct refinement){upper_of, &s, calibration_aim(target.epsilon)}));
    *scale = found;
done:
    return status;
}

sotto_status sotto_calibrate_composed(double *scale, const char *mechanism,
                                      const struct sotto_sensitivity *sensitivity, struct sotto_dp target,
                                      size_t compose, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(scale, mechanism, sensitivity);
    return calibrate_scale(
        scale, mechanism,
        (struct search){.sensitivity = sensitivity, .target = target, .compose = compose, .ctx = ctx});
}

sotto_status sotto_calibrate(double *scale, const char *mechanism,
                             const struct sotto_sensitivity *sensitivity, struct sotto_dp target,
                             const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(scale, mechanism, sensitivity);
    return sotto_calibrate_composed(scale, mechanism, sensitivity, target, 1, ctx);
}

sotto_status calibrate_on(double *scale, const char *mechanism, const struct sotto_sensitivity *sensitivity,
                          struct sotto_dp target, int bits, const struct sotto_context *ctx)
{
    return calibrate_scale(
        scale, mechanism,
        (struct search){
            .sensitivity = sensitivity, .target = target, .compose = 1, .bits = bits, .ctx = ctx});
}
