/* certified_composed.h - epsilon of composed logistic releases, proposed in doubles, proved in balls. */
#ifndef DP_ACCOUNT_CERTIFIED_COMPOSED_H
#define DP_ACCOUNT_CERTIFIED_COMPOSED_H

#include "num/interval.h"

#include <stddef.h>

/** Smallest epsilon >= 0 at delta of `count` logistic releases of shift t: the finite sum below 8 releases, the
 * contour from there. */
struct interval certified_composed_epsilon(double t, size_t count, double delta);

#endif
