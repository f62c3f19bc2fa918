/* account.h - what mechanisms guarantee: adjacency, sensitivity, accounts, calibration, privacy profiles. Nothing here draws
 * noise or writes a ledger (release.h).
 *
 * Adjacency is replace-one unless a name says otherwise. Every epsilon is an interval; the headline is its
 * upper end. Structs that go in start from {0}, where 0 stands for the default. */
#ifndef SOTTO_ACCOUNT_H
#define SOTTO_ACCOUNT_H

#include "sotto/base.h"

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
    SOTTO_BOTH_ADJACENCIES, /**< of parts (lab/compose.h): shown for replace-one and for add-remove */
    SOTTO_SAME_ADJACENCY    /**< of a total (lab/compose.h): the one that all its parts have */
};
/** Returns: "replace-one", "add-remove", "zero-out", "replace-input"; "unknown" for the others. */
SOTTO_API const char *sotto_adjacency_name(enum sotto_adjacency adjacency);

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
    enum sotto_adjacency adjacency; /**< SAME_ADJACENCY: unknown, as nothing is claimed */
    double scale, delta;
    size_t compose; /**< identical releases, independent noise; sampled: steps */
    /** 1, or the share that is sampled: then scale is the noise multiplier (scale / max_grad_norm). */
    double sample_rate;
    int sampled; /**< 1: sampled steps, whose sampling and clipping the next two are; 0: releases */
    enum sotto_sampling sampling;
    enum sotto_norm clipping;      /**< the norm that bounds a gradient */
    struct sotto_interval epsilon; /**< of the whole composition at delta; both ends proved */
    double pure_epsilon;           /**< of the whole composition; NAN: none */
    double zcdp_rho;               /**< of the whole composition; NAN: none */
    double standard_deviation;     /**< of one coordinate of the noise */
    size_t bound_count;
    struct sotto_bound bounds[SOTTO_MAX_BOUNDS];
    char note[160]; /**< a warning that belongs to the numbers, or "" */
    /** 1: the same steps were accounted under the other adjacency too, at the same delta, and the next two say it; 0: not */
    int has_other;
    enum sotto_adjacency other_adjacency;
    struct sotto_interval other_epsilon;
};

/** Name of the i-th mechanism that has an account. Returns: NULL after the last. */
SOTTO_API const char *sotto_mechanism_name(size_t i);
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
/** Smallest scale (rounded up) with an account that meets `target`. Calibrations stay 4 units in the last place below the
 * target's epsilon, so that n releases of the n-th part of a budget fit into it.
 *
 *  Returns: EDOMAIN  no scale reaches the target
 *           EINVAL   names the parameter */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate(double *scale, const char *mechanism,
                                                        const struct sotto_sensitivity *sensitivity,
                                                        struct sotto_dp target,
                                                        const struct sotto_context *ctx);

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
/** Returns: default delta of private trainers: 1 / (10 records), rounded down to a power of ten; 0 for 0 records. */
SOTTO_API double sotto_default_delta(size_t records);
/** A noise multiplier with upper epsilon <= target_epsilon, within about 1e-6 of the smallest.
 *
 *  In:      sampled->noise_multiplier  is not read
 *  Returns: EDOMAIN  no noise multiplier reaches the target
 *           others as sotto_account_sampled() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_sampled(double *noise_multiplier,
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

/** Points of a privacy profile delta(epsilon) (Balle, Barthe, Gaboardi 2020), from above: for every two neighbours, in both
 * directions, the hockey-stick divergence at epsilon[i] is at most delta[i]. Together they bound the trade-off curve of any
 * test of membership from below (Dong, Roth, Su 2022, proposition 2.12; docs/derivations/one-run.md). Start from {0};
 * release with sotto_privacy_profile_clear(). */
struct sotto_privacy_profile {
    double *epsilon, *delta; /**< (count): epsilon >= 0; delta in [0, 1] */
    size_t count;
    char of[160];                   /**< one line: the mechanism behind it */
    enum sotto_adjacency adjacency; /**< of the neighbours */
};
/** The profile of one release, in closed form.
 *
 *  Out:     *out  adjacency: SAME_ADJACENCY, that of the sensitivity, which the caller states; where the mechanism has no curve for that sensitivity: no points
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

/** Something that was done with the private data; independent noise each time. Three kinds:
 *
 *  noise                  of `scale`; l1, l2 (0: unknown), dimension, value_step as in struct sotto_sensitivity
 *  Poisson-sampled steps  noise_multiplier > 0, add-remove, clipped to norm 1
 *  mechanism "stated"     an (epsilon, delta) from elsewhere */
struct sotto_event {
    const char *mechanism;
    size_t count;
    double scale, l1, l2;
    size_t dimension;
    double value_step;
    double noise_multiplier, sample_rate;
    enum sotto_norm clipping;     /**< of sampled steps; 0: L2 */
    enum sotto_sampling sampling; /**< of sampled steps; fixed: of adjacency replace-one */
    struct sotto_dp stated;
    size_t group; /**< data sets that differ in this many records, such as a person's rows; 0 or 1: one */
    enum sotto_adjacency adjacency;
};
/** Epsilon of all events together at `delta`, by every bound that applies: one interval.
 *
 *  In:      events   (n)
 *           target   replace-one: an add-remove event counts as a group of two, but sampled steps are taken as they are
 *                    where their pair is known (Gaussian noise, or clipping by L1)
 *  Out:     *out     mechanism "composition" and scale NAN, unless there is one kind of event
 *  Returns: ENOTSUP  a replace-one event under add-remove, or SOTTO_SAME_ADJACENCY where they differ
 *           EINVAL   names the event ("events[2]: ...") */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_events(struct sotto_account *out,
                                                             const struct sotto_event *events, size_t n,
                                                             double delta, enum sotto_adjacency target,
                                                             const struct sotto_context *ctx);
/** The same for a file of schema sotto.events/1 (docs/FORMATS.md).
 *
 *  In:      path     JSON or, by its ending .yaml or .yml, YAML
 *  Returns: EFORMAT  names what is wrong with the file
 *           those of sotto_account_events() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_events_file(struct sotto_account *out, const char *path,
                                                                  double delta, enum sotto_adjacency target,
                                                                  const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
