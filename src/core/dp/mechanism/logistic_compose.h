/* logistic_compose.h - exact composition of k logistic releases of the same shift. */
#ifndef DP_MECHANISM_LOGISTIC_COMPOSE_H
#define DP_MECHANISM_LOGISTIC_COMPOSE_H

#include "num/interval.h"

enum { LOGISTIC_COMPOSE_MAX = 1 << 20 };

/** Hockey-stick divergence of k independent scalar pairs of shift a > 0 at epsilon >= 0; 2 <= k <=
 * LOGISTIC_COMPOSE_MAX. */
struct interval logistic_composed_delta(double a, double k, double epsilon);
/** The two ways behind it, for 0 <= epsilon < k a: independent of each other, so they check each other. */
struct interval logistic_finite_sum(double a, int k, double epsilon);
struct interval logistic_contour(double a, double k, double epsilon);
/** Smallest epsilon >= 0 at delta in (0, 1), for any shift in `a`. */
struct interval logistic_composed_epsilon(struct interval a, double k, double delta);

#endif
