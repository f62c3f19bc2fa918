/* head_blobs.h - labelled Gaussian blobs for the head tests. */
#ifndef TESTS_HEAD_BLOBS_H
#define TESTS_HEAD_BLOBS_H

#include "base/memory.h"
#include "rng/rng.h"

/* Class i % classes around its own random centre; `spread` is the noise's standard deviation. */
static inline void make_blobs(float *x, int64_t *y, size_t n, size_t d, size_t classes, double spread,
                              uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (int64_t)(i % classes);
        struct rng centre = rng_stream(99, RNG_TEST, 1, (uint64_t)y[i]),
                   noise = rng_stream(seed, RNG_TEST, 2, i);
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = (float)(rng_normal(&centre) + spread * rng_normal(&noise));
    }
}

#endif
