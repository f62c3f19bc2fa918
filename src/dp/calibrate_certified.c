/* Calibration that the certified account confirms: from the scale that the double path found, upwards until
 * the upper end in balls is at most the target. The double path's ends are no further off than 1e-8 of
 * epsilon or so, so one or two certified accounts are enough as a rule. */
#include "dp/accountant.h"

struct request {
    const char *mechanism;
    const struct sotto_sensitivity *sensitivity;
    size_t compose;
    struct sotto_sampled sampled;
    struct sotto_dp target;
};

static sotto_status release(struct sotto_account *out, const struct request *r, double scale)
{
    return sotto_account_release_certified(out, r->mechanism, scale, r->sensitivity, r->target.delta,
                                           r->compose);
}

static sotto_status steps(struct sotto_account *out, const struct request *r, double scale)
{
    struct sotto_sampled s = r->sampled;
    s.noise_multiplier = scale;
    return sotto_account_sampled_certified(out, &s);
}

enum { TRIALS = 30 };

/* Epsilon falls about as fast as the scale grows, or faster; each further trial doubles what is added. */
static sotto_status raise_until_certified(struct sotto_account *out, const struct request *r, double scale,
                                          sotto_status (*account)(struct sotto_account *,
                                                                  const struct request *, double))
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    TRY(account(&a, r, scale));
    double more = 0;
    for (int i = 0; a.epsilon.upper > r->target.epsilon; i++) {
        double miss = log(a.epsilon.upper / r->target.epsilon);
        more = fmin(fmax(fmax(1.05 * miss, 2 * more), 1e-12), 3);
        if (i == TRIALS || isinf(a.epsilon.upper))
            FAIL(SOTTO_EDOMAIN, "%s: no certified scale near %g reaches epsilon %g at delta %g", r->mechanism,
                 scale, r->target.epsilon, r->target.delta);
        scale *= 1 + more;
        TRY(account(&a, r, scale));
    }
    *out = a;
done:
    return status;
}

sotto_status sotto_calibrate_certified(struct sotto_account *out, const char *mechanism,
                                       const struct sotto_sensitivity *sensitivity, struct sotto_dp target,
                                       size_t compose)
{
    const struct request r = {
        .mechanism = mechanism, .sensitivity = sensitivity, .compose = compose, .target = target};
    double scale;
    sotto_status status = sotto_calibrate_composed(&scale, mechanism, sensitivity, target, compose);
    return status == SOTTO_OK ? raise_until_certified(out, &r, scale, release) : status;
}

sotto_status sotto_calibrate_sampled_certified(struct sotto_account *out, const struct sotto_sampled *sampled,
                                               double target_epsilon)
{
    const struct request r = {
        .mechanism = sampled->mechanism, .sampled = *sampled, .target = {target_epsilon, sampled->delta}};
    double multiplier;
    sotto_status status = sotto_calibrate_sampled(&multiplier, sampled, target_epsilon);
    return status == SOTTO_OK ? raise_until_certified(out, &r, multiplier, steps) : status;
}
