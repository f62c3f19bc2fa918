/* adaptive_part.h - the boxes that a release may be charged as. */
#ifndef DP_ACCOUNT_ADAPTIVE_PART_H
#define DP_ACCOUNT_ADAPTIVE_PART_H

#include "dp/account/adaptive.h"
#include "dp/account/event_part.h"
#include "sotto/lab/compose.h"

enum { ADAPTIVE_OFFERS = SOTTO_MAX_OFFERS };

/** Boxes, each of which covers all releases of the part by itself: as pure, as Gaussian of that pure epsilon, as the Gaussian
 * that it is, and as Gaussians above its curve with failures of a quarter, a sixteenth and a sixty-fourth of left->failure, what
 * the column has left. Where it has left->pure as well, half of it, a quarter or three quarters stand beside a smaller Gaussian.
 * Where no curve is known, it is the hull of what Renyi divergences say. One pure release has no use for its curve, which is near that of its epsilon. Which one is taken may depend
 * on everything before the release, on nothing behind it; it is written down and never computed again.
 *
 * *count 0: nothing is known to cover it. ENOMEM, ESTOPPED. */
sotto_status adaptive_offers(struct adaptive out[ADAPTIVE_OFFERS], size_t *count, const struct part *part,
                             const struct adaptive *left, const struct sotto_context *ctx);
/** Boxes, each of which covers all n parts together, if all their parameters are fixed beforehand: as their sums, and as Gaussians above
 * their composed curve. One part: adaptive_offers(). ENOMEM, ESTOPPED. */
sotto_status adaptive_offers_together(struct adaptive out[ADAPTIVE_OFFERS], size_t *count,
                                      const struct part *parts, size_t n, const struct adaptive *left,
                                      const struct sotto_context *ctx);

#endif
