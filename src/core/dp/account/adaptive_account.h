/* adaptive_account.h - boxes as the public headers have them. */
#ifndef DP_ACCOUNT_ADAPTIVE_ACCOUNT_H
#define DP_ACCOUNT_ADAPTIVE_ACCOUNT_H

#include "dp/account/adaptive.h"
#include "sotto/lab/compose.h"

/** Rounded up, to and fro. */
struct adaptive adaptive_from(const struct sotto_adaptive *triple);
struct sotto_adaptive adaptive_shown(const struct adaptive *box);
/** The triples on offer for an event: each of them covers all its releases by itself. The caller takes one before the release, for
 * good. The choice may depend on everything that was seen before.
 *
 *  In:      event  under add-remove: as in sotto_account_events() with target replace-one
 *           left   what the box has left. A run, or noise with a curve, is offered with a quarter, a sixteenth and a
 *                  sixty-fourth of left->failure; and, where left->pure is finite and above 0, with parts of that
 *  Out:     out    (SOTTO_MAX_OFFERS) whether an offer fits into `left` is for the caller to see
 *           count  0: no triple is known to cover the event
 *  Returns: EINVAL  names the parameter
 *           ENOTSUP  a mechanism or a sampling without a bound
 *           ENOMEM */
sotto_status account_adaptive(struct sotto_adaptive out[SOTTO_MAX_OFFERS], size_t *count,
                              const struct sotto_event *event, const struct sotto_adaptive *left);
/** Adds a triple, rounded up: pure epsilons add up, shifts in squares; one of the failures happens, or both.
 *
 *  In/out:  total  untouched on failure
 *  Returns: EINVAL  names the member that is out of its range */
sotto_status adaptive_total_add(struct sotto_adaptive *total, const struct sotto_adaptive *entry);
/** Epsilon of a triple at delta in [0, 1), by its exact curve.
 *
 *  Returns: upper end INFINITY: none holds. Both ends NAN: the triple or delta is out of its range, or NULL */
struct sotto_interval adaptive_interval(const struct sotto_adaptive *box, double delta);
/** Which box would hold these events. Of the triples on offer for each, those are taken that give the least epsilon in all, as far as
 * exchanging one at a time finds them. What is left of a pure part, as account_adaptive() asks, is the epsilon of all beforehand.
 *
 *  In:      as sotto_account_events()
 *  Out:     *out  untouched on failure
 *  Returns: those of sotto_account_events() */
sotto_status account_any_order(struct sotto_any_order *out, const struct sotto_event *events, size_t n,
                               double delta, enum sotto_adjacency target, const struct sotto_context *ctx);

#endif
