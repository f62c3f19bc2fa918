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
/** The smallest scale with which no test does better, within a part in 1,000 where the curve is the mechanism's own. It is found along
 * the points (epsilon, delta) that imply the risk, by sotto_calibrate(), in the adjacency of the sensitivity and in both directions;
 * what the release costs at a delta is sotto_account_release() of the scale.
 *
 *  In:      bits    of the lattice; 0: the mechanism's
 *  Out:     *point  the (epsilon, delta) that the scale was found for; whatever has it keeps the risk. NULL: not asked for
 *  Returns: EINVAL   the risk is none, or what guessing reaches; names the parameter
 *           EDOMAIN  no scale was found: no noise of that mechanism reaches the risk, or hardly any is needed */
sotto_status calibrate_risk_on(double *scale, struct sotto_dp *point, const char *mechanism,
                               const struct sotto_sensitivity *sensitivity, const struct sotto_risk *risk,
                               int bits, const struct sotto_context *ctx);
/** The same for sampled steps, by sotto_calibrate_sampled(). Takes seconds.
 *
 *  In:      sampled->noise_multiplier, sampled->delta  are not read */
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
