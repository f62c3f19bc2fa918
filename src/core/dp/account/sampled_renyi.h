/* sampled_renyi.h - Renyi divergence of Poisson-sampled steps, by integer and fractional orders. */
#ifndef DP_ACCOUNT_SAMPLED_RENYI_H
#define DP_ACCOUNT_SAMPLED_RENYI_H

#include "dp/mechanism/mechanism.h"

/** Upper bound, as an interval, of the Renyi divergence of order alpha > 1 of one step: Poisson rate q in (0,
 * 1], gradients clipped to 1, noise of scale `noise_multiplier`; add-remove adjacency, both directions. For
 * the Gaussian it holds the divergence itself. `m` has an L2 theorem (zcdp_divisor). [0, INFINITY]: beyond
 * doubles. */
struct interval sampled_renyi(const struct mechanism *m, double noise_multiplier, double q, double alpha);
/** About the same in plain double arithmetic, to aim a search. */
double sampled_renyi_near(const struct mechanism *m, double noise_multiplier, double q, double alpha);
enum { SAMPLED_RENYI_ORDERS = 1024 /* higher orders take long and are hardly ever best */ };
/** Upper bound of epsilon of `steps` steps at delta in (0, 1), at the best order up to 1024. */
double sampled_renyi_epsilon(const struct mechanism *m, double noise_multiplier, double q, double steps,
                             double delta);

#endif
