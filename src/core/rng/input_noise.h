/* input_noise.h - noise on the inputs of a model that makes it robust. NOT privacy noise: that is noise.h. */
#ifndef RNG_INPUT_NOISE_H
#define RNG_INPUT_NOISE_H

#include "rng/rng.h"

enum input_noise { INPUT_NOISE_GAUSSIAN, INPUT_NOISE_LAPLACE, INPUT_NOISE_LOGISTIC };

/** out (n) = x (n) + scale * z, z independent draws of the standard law; out may be x. */
void input_noise_add(float *out, const float *x, size_t n, enum input_noise law, double scale, struct rng *r);

#endif
