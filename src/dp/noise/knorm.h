/* knorm.h - one vector of K-norm noise of the L2 ball, in double: NOT exact. */
#ifndef DP_NOISE_KNORM_H
#define DP_NOISE_KNORM_H

#include "rng/noise.h"

#include <stddef.h>

/** noise[0..n) = scale times radius Gamma(n, 1) times a uniform direction. */
void knorm_draw(double *noise, size_t n, double scale, struct noise *s);

#endif
