/* classical_gaussian.h - the textbook formula of Gaussian noise, and where it stops being private. */
#ifndef DP_MECHANISM_CLASSICAL_GAUSSIAN_H
#define DP_MECHANISM_CLASSICAL_GAUSSIAN_H

#include "num/interval.h"

/** epsilon / t = sqrt(2 ln(1.25 / delta)), t the L2 sensitivity over the standard deviation. */
struct interval classical_slope(double delta);
/** The smallest epsilon from which on noise by the formula is not (epsilon, delta)-DP; INFINITY: none below 1e6. */
double classical_first_violation(double delta);

#endif
