/* knorm.h - K-norm noise of the L2 ball: density proportional to exp(-|z| / scale). In double, NOT exact; or with a proved
 * error, which exact Laplace noise then hides (docs/derivations/objective.md, section 4). */
#ifndef DP_NOISE_KNORM_H
#define DP_NOISE_KNORM_H

#include "num/interval.h"
#include "rng/noise.h"
#include "sotto/base.h"

#include <stddef.h>

/** noise[0..n) = scale times radius Gamma(n, 1) times a uniform direction; NOT exact. */
void knorm_draw(double *noise, size_t n, double scale, struct noise *s);

/** Blocks of independent noise, `width` numbers each. */
struct knorm_blocks {
    size_t blocks, width;
    double scale;
};
/** noise (blocks, width), within knorm_error() and (width + 8) 2^-53 of its size of exact noise of that law. */
sotto_status knorm_draw_discretised(double *noise, const struct knorm_blocks *b, struct noise *s);
/** In L2 norm, over all blocks; but for draws too rare to matter behind a blur of `dimension` numbers that ends within
 * 2^KNORM_END scales. */
double knorm_error(const struct knorm_blocks *b, size_t dimension);
enum { KNORM_END = 24 };

/** Adds exact Laplace noise of that scale on a lattice to numbers of at most `end` in size, and cuts the sums to +-end. */
sotto_status knorm_blur(double *values, size_t n, double scale, double end, struct noise *s);
/** Pure epsilon of the blur of n numbers which lie within `error` of what is protected already, in L2 norm. */
struct interval knorm_blur_cost(double error, size_t n, double scale);
/** The smallest scale of a blur that costs at most epsilon. EDOMAIN: there is none. */
sotto_status knorm_blur_scale(double *scale, double error, size_t n, double epsilon);
/** The exponent of the lattice of a blur. */
int knorm_blur_exponent(double scale);

#endif
