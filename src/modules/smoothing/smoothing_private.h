/* smoothing_private.h - inside of randomised smoothing. */
#ifndef SMOOTHING_SMOOTHING_PRIVATE_H
#define SMOOTHING_SMOOTHING_PRIVATE_H

#include "base/memory.h"
#include "sotto/lab/smoothing.h"

#include <stdbool.h>

/** "gaussian", ...; the norm of its radii, "l2" or "l1". */
const char *smoothing_noise_name(enum sotto_smoothing_noise noise);
const char *smoothing_norm_name(enum sotto_smoothing_noise noise);
/** Writes the statement. `embeddings`: inputs may be embeddings. */
void smoothing_state(struct sotto_smoothing_result *r, bool embeddings);
/** Fills in options, the curve, the counts and what many rows mean together. EINVAL, ENOMEM. */
sotto_status smoothing_summarise(struct sotto_smoothing_result *r, const struct sotto_smoothing_options *o,
                                 bool labelled);
/** The radius of the same guarantee by PixelDP: the largest L such that the noise on the query is (epsilon, delta)-DP for
 *  inputs at distance L and p >= e^(2 epsilon) (1 - p) + (1 + e^epsilon) delta.
 *  Gaussian: L = sigma epsilon / sqrt(2 ln(1.25 / delta)), the best epsilon <= 1; others: L = sigma epsilon, delta 0.
 *  Returns: 0 for p <= 1/2 */
double smoothing_pixeldp(enum sotto_smoothing_noise noise, double sigma, double p);
/** In:      p      lower limit of the probability of the answer
 *  Returns: the certified radius, rounded down; 0 for p <= 1/2 */
double smoothing_radius(enum sotto_smoothing_noise noise, double sigma, double p);

#endif
