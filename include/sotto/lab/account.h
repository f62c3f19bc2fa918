/* account.h - more of accounts: names, certified accounts, calibration to several releases or to a risk, the classical Gaussian
 * formula, the choice of a mechanism. No promise: it may change with any version. */
#ifndef SOTTO_LAB_ACCOUNT_H
#define SOTTO_LAB_ACCOUNT_H

#include "sotto/account.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The adjacency of that name.
 *
 *  Returns: EINVAL  names the known ones */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_adjacency_find(enum sotto_adjacency *adjacency,
                                                             const char *name);
/** sotto_account_release(), proved again in ball arithmetic (FLINT): the interval does not rest on the accuracy of
 * the C library. Bounds by the privacy loss (exact for gaussian and logistic, on a grid for laplace) and by Renyi
 * divergence.
 *
 *  Returns: ENOTSUP  other mechanisms
 *           EDOMAIN  losses too large for a grid
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_account_release_certified(struct sotto_account *out, const char *mechanism, double scale,
                                const struct sotto_sensitivity *sensitivity, double delta, size_t compose,
                                const struct sotto_context *ctx);
/** sotto_calibrate() for `compose` identical releases together. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_composed(double *scale, const char *mechanism,
                                                                 const struct sotto_sensitivity *sensitivity,
                                                                 struct sotto_dp target, size_t compose,
                                                                 const struct sotto_context *ctx);
/** The classical Gaussian formula, sigma = sqrt(2 ln(1.25 / delta)) l2 / epsilon, beside the exact curve. */
struct sotto_classical_gaussian {
    double scale;           /**< by the formula, rounded up */
    double analytic_scale;  /**< smallest scale that is private */
    double achieved_delta;  /**< of the formula's scale at epsilon, rounded up; > delta: not private */
    double first_violation; /**< the formula is not private from this epsilon on */
    int is_private;         /**< 1: achieved_delta <= delta */
    int published;          /**< 1: epsilon < 1, where the published proof covers it */
};
/** For comparing only (plots mark it "not private" where is_private is 0).
 *
 *  Returns: EINVAL  names the parameter */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_gaussian_classical(struct sotto_classical_gaussian *out,
                                                                 double l2, struct sotto_dp target);

enum { SOTTO_MAX_MECHANISMS = 8 };
/** What every additive mechanism needs for the same target. Left out are mechanisms that cannot reach the target, the
 * discrete ones unless sensitivity->value_step says that they fit, and K-norm noise unless the dimension is known.
 *
 *  Out:     accounts[0..*count)  each at its calibrated scale, least noise first
 *  Returns: EDOMAIN  no mechanism reaches the target
 *           others as sotto_calibrate() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_choose(struct sotto_account accounts[SOTTO_MAX_MECHANISMS],
                                                     size_t *count,
                                                     const struct sotto_sensitivity *sensitivity,
                                                     struct sotto_dp target, size_t compose,
                                                     const struct sotto_context *ctx);
/** Returns: "poisson", "fixed". */
SOTTO_API const char *sotto_sampling_name(enum sotto_sampling sampling);
/** The sampling of that name.
 *
 *  Returns: EINVAL  names the known ones */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sampling_find(enum sotto_sampling *sampling, const char *name);
/** sotto_account_sampled(), also under the other adjacency.
 *
 *  Out: *out  other_adjacency, other_epsilon: what it is under the other one, add-remove or replace-one, at the same
 *             delta; empty for samples of a fixed size, which have no other */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled_both(struct sotto_account *out,
                                                                   const struct sotto_sampled *sampled,
                                                                   const struct sotto_context *ctx);
/** sotto_account_sampled(), proved again in ball arithmetic (FLINT) by the privacy-loss distribution, in seconds.
 *
 *  Returns: ENOTSUP  another mechanism, or replace-one
 *           EDOMAIN  losses too large for a grid
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled_certified(struct sotto_account *out,
                                                                        const struct sotto_sampled *sampled,
                                                                        const struct sotto_context *ctx);
/** Calibrated so that the certified account holds: starts from sotto_calibrate() and steps up until the
 * upper end in balls is at most the target. Many seconds when sampled.
 *
 *  Out:     *out     the certified account; its scale is the scale (sampled: the noise multiplier) to use
 *  Returns: EDOMAIN  the target is not reached
 *           others as the calibration and the certified account */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_certified(struct sotto_account *out,
                                                                  const char *mechanism,
                                                                  const struct sotto_sensitivity *sensitivity,
                                                                  struct sotto_dp target, size_t compose,
                                                                  const struct sotto_context *ctx);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_sampled_certified(struct sotto_account *out,
                                                                          const struct sotto_sampled *sampled,
                                                                          double target_epsilon,
                                                                          const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
