/* risk.h - targets in the words of an attacker: how well a test of membership may do. */
#ifndef DP_ACCOUNT_RISK_H
#define DP_ACCOUNT_RISK_H

#include "sotto/account.h"

#include <math.h>
#include <stdbool.h>

/** Is anything asked? As everywhere, 0, NULL, "" and NAN stand for what is not given. */
static inline bool risk_given(const struct sotto_risk *r)
{
    return (r->max_tpr && r->max_tpr[0]) || (r->max_advantage != 0 && !isnan(r->max_advantage));
}
/** Is noise to be found, for an epsilon (neither 0 nor NAN) or for a risk? */
static inline bool risk_or_epsilon(const struct sotto_risk *r, double epsilon)
{
    return risk_given(r) || (epsilon != 0 && !isnan(epsilon));
}
/** EINVAL: a risk that is none, or one beside noise or an epsilon that is given too. */
sotto_status risk_require_alone(const struct sotto_risk *r, bool other_given);
/** sotto_calibrate_risk() on the lattice of so many bits (0: the mechanism's). point (NULL: not asked for): the (epsilon, delta)
 * that the scale was found for; whatever has it keeps the risk. */
sotto_status calibrate_risk_on(double *scale, struct sotto_dp *point, const char *mechanism,
                               const struct sotto_sensitivity *sensitivity, const struct sotto_risk *risk,
                               int bits, const struct sotto_context *ctx);
sotto_status calibrate_sampled_risk(double *noise_multiplier, struct sotto_dp *point,
                                    const struct sotto_sampled *sampled, const struct sotto_risk *risk,
                                    const struct sotto_context *ctx);
/** The noise for a risk, where one is given, else for `target`. */
sotto_status calibrate_for(double *scale, const char *mechanism, const struct sotto_sensitivity *sensitivity,
                           struct sotto_dp target, const struct sotto_risk *risk,
                           const struct sotto_context *ctx);
sotto_status calibrate_sampled_for(double *noise_multiplier, const struct sotto_sampled *sampled,
                                   double epsilon, const struct sotto_risk *risk,
                                   const struct sotto_context *ctx);

/** What a profile says of it: no test has a true-positive rate above `bound` at `fpr`; of an advantage, no larger one, and fpr
 * is 0. */
sotto_status risk_bound(double *bound, double *fpr, const struct sotto_risk *risk,
                        const struct sotto_privacy_profile *profile);

#endif
