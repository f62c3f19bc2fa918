/* Calibration that the certified account confirms: from the scale that the double path found, upwards until
 * the upper end in balls is at most the target. The double path's ends are no further off than 1e-8 of
 * epsilon or so, so one or two certified accounts are enough as a rule. */
#include "dp/account/accountant.h"
#include "dp/account/calibrate_step_up.h"
#include "sotto/lab/account.h"

struct request {
    const char *mechanism;
    const struct sotto_sensitivity *sensitivity;
    double delta;
    size_t compose;
    const struct sotto_context *ctx;
};

struct sampled_request {
    const struct sotto_sampled *sampled;
    const struct sotto_context *ctx;
};

static sotto_status calibrate_certified_release(struct sotto_account *out, double scale, const void *arg)
{
    const struct request *r = arg;
    return sotto_account_release_certified(out, r->mechanism, scale, r->sensitivity, r->delta, r->compose,
                                           r->ctx);
}

static sotto_status calibrate_certified_steps(struct sotto_account *out, double noise_multiplier,
                                              const void *arg)
{
    const struct sampled_request *r = arg;
    struct sotto_sampled s = *r->sampled;
    s.noise_multiplier = noise_multiplier;
    return sotto_account_sampled_certified(out, &s, r->ctx);
}

sotto_status sotto_calibrate_certified(struct sotto_account *out, const char *mechanism,
                                       const struct sotto_sensitivity *sensitivity, struct sotto_dp target,
                                       size_t compose, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, mechanism, sensitivity);
    const struct request request = {mechanism, sensitivity, target.delta, compose, ctx};
    const struct raise until = {
        calibrate_certified_release, &request, {calibration_aim(target.epsilon), target.delta}, mechanism};
    double scale;
    sotto_status status = sotto_calibrate_composed(&scale, mechanism, sensitivity, target, compose, ctx);
    return status == SOTTO_OK ? calibrate_step_up(out, scale, &until) : status;
}

sotto_status sotto_calibrate_sampled_certified(struct sotto_account *out, const struct sotto_sampled *sampled,
                                               double target_epsilon, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, sampled);
    const struct sampled_request request = {sampled, ctx};
    const struct raise until = {calibrate_certified_steps,
                                &request,
                                {calibration_aim(target_epsilon), sampled->delta},
                                sampled->mechanism};
    double multiplier;
    sotto_status status = sotto_calibrate_sampled(&multiplier, sampled, target_epsilon, ctx);
    return status == SOTTO_OK ? calibrate_step_up(out, multiplier, &until) : status;
}
