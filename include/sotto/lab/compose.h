/* compose.h - what guarantees add up to: composition rules for stated (epsilon, delta).
 *
 * Every number is an interval that holds the exact value of the rule; its upper end is the guarantee. A rule only knows
 * (epsilon, delta): mechanisms with known noise compose tighter (sotto_account_release() with `compose`,
 * sotto_account_events()). Post-processing needs no function: whatever is computed from a release without the private data
 * keeps its guarantee. Proofs: docs/derivations/composition.md. */
#ifndef SOTTO_LAB_COMPOSE_H
#define SOTTO_LAB_COMPOSE_H

#include "sotto/account.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_certificate;

struct sotto_composed {
    char rule[32];
    enum sotto_adjacency adjacency;
    char reason[192]; /**< why the rule gives this, one line */
    struct sotto_interval epsilon, delta;
};

/* All rules:
 *
 *  In:      adjacency  that of the parts: replace-one or add-remove
 *  Out:     *out       untouched on failure; an upper epsilon of INFINITY: the rule gives nothing at this delta
 *  Returns: EINVAL  an epsilon that is not in [0, 1e100], a delta that is not in [0, 1), an empty list */

/** Sums of epsilons and deltas.
 *
 *  In: parts  (n); they may be chosen one after the other, knowing earlier results */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compose_basic(struct sotto_composed *out,
                                                            const struct sotto_dp *parts, size_t n,
                                                            enum sotto_adjacency adjacency);
/** k times the same, in total at `delta`: k eps (e^eps - 1) + eps sqrt(2 k ln(1/d')), d' = delta - k delta_each.
 *
 *  In:     each  (eps, delta_each)
 *  Source: Dwork, Rothblum, Vadhan 2010 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compose_advanced(struct sotto_composed *out,
                                                               struct sotto_dp each, size_t k, double delta,
                                                               enum sotto_adjacency adjacency);
/** k times the same: the best that holds for every mechanism that is (epsilon, delta_each).
 *
 *  In:     k  <= 2^20
 *  Source: Kairouz, Oh, Viswanath 2015, theorem 3.3 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compose_optimal(struct sotto_composed *out,
                                                              struct sotto_dp each, size_t k, double delta,
                                                              enum sotto_adjacency adjacency);
/** One mechanism for each part of a partition by a function of the record.
 *
 *  add-remove   the largest counts
 *  replace-one  a replaced record may leave one part and enter another: the two largest add up; within one part it is a
 *               replacement, or, where only add-remove is shown, a group of two
 *
 *  In:      parts       (n)
 *           parts_hold  what each part was shown for
 *           target      what is asked for: replace-one or add-remove
 *  Returns: ENOTSUP  parts that were shown for replace-one alone, which says nothing about parts that grow or shrink */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compose_parallel(struct sotto_composed *out,
                                                               const struct sotto_dp *parts, size_t n,
                                                               enum sotto_adjacency parts_hold,
                                                               enum sotto_adjacency target);
/** One mechanism for each part of a partition by row number, which no record's values can change: a record stays in its part.
 *
 *  add-remove   a record counts or counts as nothing, and all others keep their row numbers; the largest counts
 *  replace-one  the largest counts; where parts were shown for add-remove alone, the largest group of two
 *
 *  In:      parts, parts_hold, target  as in sotto_compose_parallel()
 *  Returns: ENOTSUP  parts that were shown for replace-one alone, under add-remove */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compose_parallel_rows(struct sotto_composed *out,
                                                                    const struct sotto_dp *parts, size_t n,
                                                                    enum sotto_adjacency parts_hold,
                                                                    enum sotto_adjacency target);
/** Data sets that differ in several records: (g eps, delta (e^(g eps) - 1) / (e^eps - 1)).
 *
 *  In: g  records, at least 1 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compose_group(struct sotto_composed *out, struct sotto_dp each,
                                                            size_t g, enum sotto_adjacency adjacency);
/** One of n mechanisms, drawn at random: (largest epsilon, sum of probability times delta).
 *
 *  In: parts          (n)
 *      probabilities  (n) which do not depend on the data and add up to 1 within 1e-9; NULL: unknown ones, so the largest
 *                     delta counts */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compose_mixture(struct sotto_composed *out,
                                                              const struct sotto_dp *parts,
                                                              const double *probabilities, size_t n,
                                                              enum sotto_adjacency adjacency);
/** sotto_account_events_file() for the state of an Opacus accountant: Gaussian noise, add-remove.
 *
 *  In: path  JSON: {"history": [[noise_multiplier, sample_rate, num_steps], ...], "mechanism": "rdp" | "prv" | "gdp"}, or
 *            the bare list */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_opacus_file(struct sotto_account *out, const char *path,
                                                                  double delta, enum sotto_adjacency target,
                                                                  const struct sotto_context *ctx);

/* Guarantees for an analyst who looks at each result before choosing the next release. Adjacency is replace-one.
 *
 * A triple is fixed before the first release. As long as the triples of the releases add up to it at most, they have its epsilon
 * together, in any order of choices. The sum along the path that was taken is no guarantee (docs/derivations/adaptive.md). */

/** Three independent releases that tell at least as much as one, or as many together. Upper ends; {0}: nothing was released.
 * Values are at least 0, and INFINITY is allowed for pure and mu. */
struct sotto_adaptive {
    double pure;    /**< epsilon of a randomised response */
    double mu;      /**< shift of a Gaussian of deviation 1 */
    double failure; /**< probability that everything is told, at most 1 */
};
enum { SOTTO_MAX_OFFERS = 8 };

/** Two figures for a list of events. */
struct sotto_any_order {
    /** holds all events, in any order of choices, if it was fixed before the first of them */
    struct sotto_adaptive box;
    struct sotto_interval epsilon;   /**< of the box */
    char reason[192];                /**< why the upper end is INFINITY; else "" */
    struct sotto_account beforehand; /**< if all parameters had been fixed before the first event */
};
/** The same for a file of schema sotto.events/1.
 *
 *  In, Returns: as sotto_account_events_file() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_any_order_file(struct sotto_any_order *out,
                                                                     const char *path, double delta,
                                                                     enum sotto_adjacency target,
                                                                     const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
