/* pure_pair.h - randomised response, the pair that dominates every t-DP mechanism (Kairouz, Oh, Viswanath
 * 2015, theorem 3.4): losses +-t, P(+t) = e^t / (1 + e^t). */
#ifndef DP_MECHANISM_PURE_PAIR_H
#define DP_MECHANISM_PURE_PAIR_H

#include "num/interval.h"

/** (e^t - e^eps) / (1 + e^t) for 0 <= eps <= t, 0 above. */
struct interval pure_pair_delta(struct interval t, double epsilon);
/** Its inverse: t + ln(1 - delta (1 + e^-t)), at least 0. */
struct interval pure_pair_epsilon(struct interval t, double delta);
/** ln[ p^alpha (1-p)^(1-alpha) + (1-p)^alpha p^(1-alpha) ] / (alpha - 1), never above alpha t^2 / 2. */
struct interval pure_pair_renyi(struct interval t, double alpha);

/** Kairouz, Oh, Viswanath: smallest epsilon >= 0 of k-fold randomised response of `epsilon` at delta >= 0. */
struct interval randomised_response_composed(double epsilon, double k, double delta);
/** Smallest epsilon of k such pairs (theorem 3.3 there), k <= PURE_PAIR_COMPOSE_MAX. */
enum { PURE_PAIR_COMPOSE_MAX = 1 << 14 };
struct interval pure_pair_composed(struct interval t, double k, double delta);

#endif
