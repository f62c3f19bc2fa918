/* smooth_sensitivity.h - smooth sensitivity of a median, and propose-test-release (docs/derivations/local.md). */
#ifndef DP_SMOOTH_SMOOTH_SENSITIVITY_H
#define DP_SMOOTH_SMOOTH_SENSITIVITY_H

#include "sotto/account.h"

/** Noise for a statistic with smooth sensitivity S at beta: its scale is S times `factor`. */
struct smooth_noise {
    double beta;   /**< rounded down */
    double factor; /**< rounded up */
};

/** Smooth sensitivity of the median x_m, m = ceil(n / 2), of n values in [low, high] under replace-one: max over k of
 *  e^(-beta k) times the largest change within k + 1 replacements.
 *
 *  In:      x     (n) in any order; values outside [low, high], and NaN, count as its nearer end, as low
 *           beta  > 0
 *  Out:     *out  rounded up
 *  Returns: EINVAL, ENOMEM, ESTOPPED
 *  Source:  Nissim, Raskhodnikova, Smith 2007, section 3.1 */
sotto_status smooth_median(double *out, const double *x, size_t n, double low, double high, double beta,
                           const struct sotto_context *ctx);
/** (epsilon, delta): beta = epsilon / (2 ln(2 / delta)), Laplace noise of scale 2 S / epsilon.
 *  delta 0: pure epsilon: beta = epsilon / 2, Cauchy noise of scale S / (2 sinh(epsilon / 4)): a shift by S costs
 *  2 asinh(1 / (2 factor)), another scale beta.
 *
 *  Returns: EINVAL */
sotto_status smooth_noise(struct smooth_noise *out, struct sotto_dp target);
/** Propose-test-release: f(D) is released as it is iff dist(D) + X >= k, X discrete Laplace noise of scale 1 / epsilon,
 *  dist(D) the largest r such that no r replacements change f (0 if one can). Then it is (epsilon, delta)-DP.
 *
 *  Out:     *threshold  the smallest k with e^(-epsilon k) / (1 + e^-epsilon) <= delta
 *  Returns: EINVAL  epsilon or delta out of range
 *  Source:  Dwork and Lei 2009; docs/derivations/local.md for the integer law */
sotto_status propose_threshold(size_t *threshold, struct sotto_dp target);
/** dist(D) of the most frequent of `classes` labels (ties: the smallest label): max(0, ceil((n1 - n2) / 2) - 1).
 *
 *  In:      counts     (classes)
 *  Out:     *label     the most frequent
 *           *distance  as PRIVATE as the counts: neither it nor a failing test is to be printed
 *  Returns: EINVAL  fewer than 2 classes */
sotto_status most_frequent(size_t *label, size_t *distance, const size_t *counts, size_t classes);

#endif
