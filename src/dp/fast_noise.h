/* fast_noise.h - noise for millions of coordinates: 64 random bits a draw from ChaCha20, turned into the law
 * in double precision by vectors. NOT exact; what it does not defend is in docs/PRIVACY.md, section 5.
 *
 * A draw is a function of (key, position): neither threads nor the instruction set change a bit, for only
 * operations that IEEE 754 rounds correctly are used and none is fused. */
#ifndef DP_FAST_NOISE_H
#define DP_FAST_NOISE_H

#include "rng/chacha.h"

#include <stdbool.h>

enum fast_law { FAST_NONE, FAST_GAUSSIAN, FAST_LOGISTIC, FAST_LAPLACE, FAST_LAWS };
enum { FAST_GROUP = 16 }; /* draws that are made together */

struct fast_kernels {
    /** unit[0 .. 16 groups): noise of scale 1 from as many words of 64 random bits. By law; [FAST_NONE] is
     * NULL. */
    void (*draw[FAST_LAWS])(double *unit, const uint64_t *words, size_t groups);
    /** |x[i]| < most for all i; never with a NaN. */
    bool (*within)(const double *x, size_t n, double most);
    bool (*within_float)(const float *x, size_t n, double most);
    /** sum[i] += scale * unit[i], rounded twice (in float: a third time). */
    void (*add)(double *sum, const double *unit, size_t n, double scale);
    void (*add_float)(float *sum, const double *unit, size_t n, double scale);
};
const struct fast_kernels *fast_kernels_find(void);

/** Noise of scale 1 is below this in size: sqrt(130 ln 2), 65 ln 2, 64 ln 2, rounded up. */
double fast_reach(enum fast_law law);

struct fast_sum {
    enum fast_law law;
    double scale;
    bool single; /* the sum is of floats, else of doubles */
    int threads; /* at most */
};
/** Adds noise to sum[0..n): position i gets draw i of the key. A key is good for one call. */
void fast_noise_add(void *sum, size_t n, const struct fast_sum *how, const unsigned char key[CHACHA_KEY]);

#endif
