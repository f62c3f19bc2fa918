/* account.h - what mechanisms guarantee: adjacency, sensitivity, accounts, calibration, privacy profiles. Nothing here draws
 * noise or writes a ledger (dp.h).
 *
 * Adjacency is replace-one unless a name says otherwise. Every epsilon is an interval; the headline is its
 * upper end. Structs that go in start from {0}, where 0 stands for the default. */
#ifndef SOTTO_ACCOUNT_H
#define SOTTO_ACCOUNT_H

#include "sotto/private/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In a result: what holds. In a target or a budget, which are members of structs that start from {0}, 0 is "not
 * given":
 *
 *  epsilon 0               none is asked for
 *  delta 0                 the default of the call, which its struct names
 *  delta SOTTO_DELTA_PURE  pure epsilon-DP, whatever the default is
 *
 * A delta that is a parameter of a function, alone or in a struct sotto_dp, has no default: 0 is pure epsilon-DP. */
struct sotto_dp {
    double epsilon, delta;
};
#define SOTTO_DELTA_PURE SOTTO_ZERO

struct sotto_interval {
    double lower, upper;
};

/** Which data sets count as neighbours. A guarantee for one never stands for another by itself. */
enum sotto_adjacency {
    SOTTO_REPLACE_ONE, /**< one record is replaced by another; the number of records is public */
    SOTTO_ADD_REMOVE,  /**< one record more or less */
    /** One record counts as nothing; the number of records is public. Accounted as add-remove. */
    SOTTO_ZERO_OUT,
    SOTTO_REPLACE_INPUT,    /**< the input of one record is replaced; its label is public, or was released */
    SOTTO_BOTH_ADJACENCIES, /**< of parts (compose.h): shown for replace-one and for add-remove */
    SOTTO_SAME_ADJACENCY    /**< of a total (compose.h): the one that all its parts have */
};
/** Returns: "replace-one", "add-remove", "zero-out", "replace-input"; "unknown" for the others. */
SOTTO_API const char *sotto_adjacency_name(enum sotto_adjacency adjacency);
/** The adjacency of that name.
 *
 *  Returns: EINVAL  names the known ones */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_adjacency_find(enum sotto_adjacency *adjacency,
                                                             const char *name);

/** Where a sensitivity comes from; only PROVED and CLIPPED count as proved. */
enum sotto_sensitivity_source {
    SOTTO_SENSITIVITY_GIVEN,
    SOTTO_SENSITIVITY_SAMPLED,
    SOTTO_SENSITIVITY_CLIPPED,
    SOTTO_SENSITIVITY_PROVED
};
struct sotto_sensitivity {
    double l1, l2; /**< entrywise norms; 0: unknown (at least one is known) */
    /** Coordinates of the released vector; 0: unknown. A known dimension sharpens bounds by L2, gives
     * l1 <= sqrt(n) l2, and pays for rounding to the noise lattice (up to 2^-39 of the scale for each coordinate). */
    size_t dimension;
    enum sotto_sensitivity_source source;
    char evidence[65]; /**< hash of the recipe it was measured for, or "" */
    /** Every value is a whole multiple of this power of two (1: integers); 0: not so. The discrete mechanisms need it
     * and add whole multiples of it. */
    double value_step;
};

/** One way to bound epsilon; the account keeps every way that applies and reports the smallest. */
struct sotto_bound {
    char name[32];
    double epsilon; /**< upper bound, rounded up */
};
enum { SOTTO_MAX_BOUNDS = 8 };

/** What a mechanism at a scale guarantees for a sensitivity. */
struct sotto_account {
    char mechanism[24];
    char accountant[32]; /**< which bound won; "none" with epsilon.upper = INFINITY when none applies */
    char adjacency[16];
    double scale, delta;
    size_t compose; /**< identical releases, independent noise; sampled: steps */
    /** 1, or the share that is sampled: then scale is the noise multiplier (scale / max_grad_norm). */
    double sample_rate;
    char sampling[8];              /**< sampled: "poisson" or "fixed"; else "" */
    char clipping[4];              /**< sampled: the norm that bounds a gradient, "l1" or "l2"; else "" */
    struct sotto_interval epsilon; /**< of the whole composition at delta; both ends proved */
    double pure_epsilon;           /**< of the whole composition; NAN: none */
    double zcdp_rho;               /**< of the whole composition; NAN: none */
    double standard_deviation;     /**< of one coordinate of the noise */
    size_t bound_count;
    struct sotto_bound bounds[SOTTO_MAX_BOUNDS];
    char note[160]; /**< a warning that belongs to the numbers, or "" */
    /** Sampled steps: the same run under the other adjacency, at the same delta ("" and 0: not accounted). */
    char other_adjacency[16];
    struct sotto_interval other_epsilon;
};

/** Name of the i-th mechanism that has an account. Returns: NULL after the last. */
SOTTO_API const char *sotto_mechanism_name(size_t i);
/** One line about the i-th mechanism. Returns: NULL after the last. */
SOTTO_API const char *sotto_mechanism_title(size_t i);
/** What a mechanism guarantees.
 *
 *  In:  delta    0: pure epsilon-DP
 *       compose  identical releases, at least 1
 *  Returns: EINVAL   names the parameter
 *           EDOMAIN  there is no finite epsilon: at delta 0, Gaussian noise, or Laplace noise by an l2 sensitivity alone */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_release(struct sotto_account *out,
                                                              const char *mechanism, double scale,
                                                              const struct sotto_sensitivity *sensitivity,
                                                              double delta, size_t compose,
                                                              const struct sotto_context *ctx);
/** Out: *json: the account as one JSON object, schema sotto.account/1; free with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_json(char **json, const struct sotto_account *account);
/** The mechanism's own curve at one shift: takes microseconds, where sotto_account_release() looks for the best of all
 * bounds. Adjacency is that of the sensitivity.
 *
 *  In:      delta     0: pure epsilon-DP
 *  Out:     *epsilon  upper end: holds for every adjacent pair
 *                     lower end: what one coordinate gives that moves as far as the norms allow; 0 where only a
 *                     dominating pair is known
 *  Returns: EINVAL   names the parameter
 *           EDOMAIN  the curve needs a norm that is not given */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_epsilon(struct sotto_interval *epsilon, const char *mechanism,
                                                      double scale,
                                                      const struct sotto_sensitivity *sensitivity,
                                                      double delta);
/** The same curve, the other way round: the smallest delta at an epsilon. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_delta(struct sotto_interval *delta, const char *mechanism,
                                                    double scale, const struct sotto_sensitivity *sensitivity,
                                                    double epsilon);
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
/** Smallest scale (rounded up) with an account that meets `target`. Calibrations stay 4 units in the last place below the
 * target's epsilon, so that n releases of the n-th part of a budget fit into it.
 *
 *  Returns: EDOMAIN  no scale reaches the target
 *           EINVAL   names the parameter */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate(double *scale, const char *mechanism,
                                                        const struct sotto_sensitivity *sensitivity,
                                                        struct sotto_dp target,
                                                        const struct sotto_context *ctx);
/** The same for `compose` identical releases together. */
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

/** Which norm of the change between adjacent inputs a shift is measured in. Curves of one coordinate hold for
 * whole vectors with Laplace or logistic noise by L1 only, with Gaussian noise by either. */
enum sotto_norm { SOTTO_NORM_L2, SOTTO_NORM_L1 };

/** Which of n records are in a step. */
enum sotto_sampling {
    SOTTO_SAMPLING_POISSON, /**< each with probability sample_rate, independently */
    /** sample_rate n of them, all such sets equally likely (without replacement). Accounted for a replaced record only:
     * one record more or less changes how many are drawn, or from how many. */
    SOTTO_SAMPLING_FIXED
};
/** Returns: "poisson", "fixed". */
SOTTO_API const char *sotto_sampling_name(enum sotto_sampling sampling);
/** The sampling of that name.
 *
 *  Returns: EINVAL  names the known ones */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sampling_find(enum sotto_sampling *sampling, const char *name);
/** Returns: the rate of samples of `sample` records out of `records` > 0; of a fixed size: rounded up, so that the
 *           account holds. */
SOTTO_API double sotto_sample_rate(enum sotto_sampling sampling, size_t sample, size_t records);

/** DP-SGD: `steps` steps, each a sum of gradients clipped to norm C over a sample of rate `sample_rate`, plus noise of
 * scale noise_multiplier * C. */
struct sotto_sampled {
    const char *mechanism; /**< "gaussian", "logistic", or "laplace" (clipped by L1 only) */
    double noise_multiplier, sample_rate;
    size_t steps;
    double delta;             /**< above 0 */
    enum sotto_norm clipping; /**< the norm that bounds a gradient by C [L2] */
    /** [replace-one], add-remove or zero-out; of a reservation: replace-one, zero-out or replace-input. */
    enum sotto_adjacency adjacency;
    enum sotto_sampling sampling; /**< [poisson], or fixed: under replace-one only */
    /** [0: a record], or the neighbours differ in a person with at most so many records. Poisson samples only. */
    size_t rows_per_person;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Accounts for all steps together.
 *
 *  Out:     *out  upper end of epsilon: the smallest of these bounds:
 *                   Renyi divergence of integer and fractional orders (Mironov, Talwar, Zhang 2019; logistic by the L2
 *                     theorem; a replaced record as a group of two)
 *                   the sum of pure epsilons (clipping by L1)
 *                   the privacy-loss distribution (Gaussian noise, or clipping by L1)
 *                 lower end: that of a gradient moved along one coordinate, by its privacy-loss distribution
 *                 samples of a fixed size: by the pair of Balle, Barthe, Gaboardi 2018 (docs/derivations/pld.md,
 *                   section 3.2); the lower end is that of two data sets in which all records but one are alike
 *  Returns: EINVAL   names the parameter
 *           ENOTSUP  a mechanism without such a bound
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled(struct sotto_account *out,
                                                              const struct sotto_sampled *sampled,
                                                              const struct sotto_context *ctx);
/** The same, also under the other adjacency.
 *
 *  Out: *out  other_adjacency, other_epsilon: what it is under the other one, add-remove or replace-one, at the same
 *             delta; empty for samples of a fixed size, which have no other */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled_both(struct sotto_account *out,
                                                                   const struct sotto_sampled *sampled,
                                                                   const struct sotto_context *ctx);
/** Returns: default delta of private trainers: 1 / (10 records), rounded down to a power of ten; 0 for 0 records. */
SOTTO_API double sotto_default_delta(size_t records);
/** sotto_account_sampled(), proved again in ball arithmetic (FLINT) by the privacy-loss distribution, in seconds.
 *
 *  Returns: ENOTSUP  another mechanism, or replace-one
 *           EDOMAIN  losses too large for a grid
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled_certified(struct sotto_account *out,
                                                                        const struct sotto_sampled *sampled,
                                                                        const struct sotto_context *ctx);
/** A noise multiplier with upper epsilon <= target_epsilon, within about 1e-6 of the smallest.
 *
 *  In:      sampled->noise_multiplier  is not read
 *  Returns: EDOMAIN  no noise multiplier reaches the target
 *           others as sotto_account_sampled() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_sampled(double *noise_multiplier,
                                                                const struct sotto_sampled *sampled,
                                                                double target_epsilon,
                                                                const struct sotto_context *ctx);
/** Calibrated so that the certified account holds: starts from the calibration above and steps up until the
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

/** How well a test of membership may do, for who would rather say that than an epsilon: any test, that knows all other
 * records and how the release was made. {0}: nothing is asked; at most one member is given. */
struct sotto_risk {
    /** "0.02@0.01": the true-positive rate is at most 0.02 where the false-positive rate is at most 0.01. Both in (0, 1). */
    const char *max_tpr;
    /** In (0, 1): the true-positive rate less the false-positive rate is at most that, whatever the latter is. */
    double max_advantage;
};
/** The smallest scale with which no test does better, within a part in 1,000 where the curve is the mechanism's own. It is found along the points
 * (epsilon, delta) that imply the risk, by sotto_calibrate(), in the adjacency of the sensitivity and in both directions; what
 * the release costs at a delta is sotto_account_release() of the scale.
 *
 *  Returns: EINVAL   the risk is none, or what guessing reaches; names the parameter
 *           EDOMAIN  no scale was found: no noise of that mechanism reaches the risk, or hardly any is needed */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_risk(double *scale, const char *mechanism,
                                                             const struct sotto_sensitivity *sensitivity,
                                                             const struct sotto_risk *risk,
                                                             const struct sotto_context *ctx);
/** The same for sampled steps, by sotto_calibrate_sampled(). Takes seconds.
 *
 *  In:      sampled->noise_multiplier, sampled->delta  are not read */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_sampled_risk(double *noise_multiplier,
                                                                     const struct sotto_sampled *sampled,
                                                                     const struct sotto_risk *risk,
                                                                     const struct sotto_context *ctx);

/** Points of a privacy profile delta(epsilon) (Balle, Barthe, Gaboardi 2020), from above: for every two neighbours, in both
 * directions, the hockey-stick divergence at epsilon[i] is at most delta[i]. Together they bound the trade-off curve of any
 * test of membership from below (Dong, Roth, Su 2022, proposition 2.12; docs/derivations/one-run.md). Start from {0};
 * release with sotto_privacy_profile_clear(). */
struct sotto_privacy_profile {
    double *epsilon, *delta; /**< (count): epsilon >= 0; delta in [0, 1] */
    size_t count;
    char of[160];       /**< one line: the mechanism behind it */
    char adjacency[16]; /**< of the neighbours */
};
/** The profile of one release, in closed form.
 *
 *  Out:     *out  where the mechanism has no curve for that sensitivity: no points
 *  Returns: EINVAL  names the parameter
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_privacy_profile_release(struct sotto_privacy_profile *out, const char *mechanism, double scale,
                              const struct sotto_sensitivity *sensitivity);
/** The profile of all steps together: their privacy-loss distribution, the larger of both directions; where that does not
 * bound the steps, the account at twelve deltas.
 *
 *  In:      sampled->delta  is not read
 *  Returns: as sotto_account_sampled() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_privacy_profile_sampled(struct sotto_privacy_profile *out,
                                                                      const struct sotto_sampled *sampled,
                                                                      const struct sotto_context *ctx);
SOTTO_API void sotto_privacy_profile_clear(struct sotto_privacy_profile *profile);
/** How probably at most one record is reconstructed, by any attacker who knows all others (ReRo: Balle, Cherubin and Hayes 2022;
 * Kaissis et al. 2023 in terms of the trade-off curve).
 *
 *  In:      prior   in (0, 1): the largest probability with which a guess that does not depend on the record is right, whatever
 *                   "right" means: one of K equally probable records 1/K
 *  Out:     *bound  rounded up; 1 where the profile has no points
 *  Returns: EINVAL  the prior is out of its range */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_reconstruction_bound(double *bound, const struct sotto_privacy_profile *profile, double prior);

#ifdef __cplusplus
}
#endif
#endif
