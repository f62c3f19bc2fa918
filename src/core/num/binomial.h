/* binomial.h - what counts of successes say of a probability, and the quantiles of noise that certified radii need; every
 * bound is rounded to the safe side. */
#ifndef NUM_BINOMIAL_H
#define NUM_BINOMIAL_H

#include <stdint.h>

/** One-sided Clopper-Pearson: the largest p found with P(Bin(n, p) >= k) <= alpha, rounded down; 0 for k = 0.
 *  0 <= k <= n, n > 0, alpha in (0, 1). Source: Clopper and Pearson 1934. */
double binomial_lower_limit(uint64_t k, uint64_t n, double alpha);
/** Two-sided exact p-value of k successes in n fair coins, rounded up; 1 for n = 0. */
double fair_coin_p_value(uint64_t k, uint64_t n);
/** z >= 0 with Phi(z) <= p, rounded down; 0 for p <= 1/2; finite for p = 1. */
double normal_quantile_below(double p);
/** F^-1(p) of the Laplace law of scale 1, rounded down, likewise: -ln(2 (1 - p)). */
double laplace_quantile_below(double p);
/** F^-1(p) of the logistic law of scale 1, rounded down, likewise: ln(p / (1 - p)). */
double logistic_quantile_below(double p);

#endif
