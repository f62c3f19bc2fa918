/* fast_noise.h - noise for millions of coordinates: random bits from ChaCha20, turned into the law by vectors
 * of floats, 64 bits a draw, for the Gaussian 48. NOT exact; what it does not defend is in docs/PRIVACY.md,
 * section 5.
 *
 * A draw is a function of (key, position): neither threads nor the instruction set change a bit, for only
 * operations that IEEE 754 rounds correctly are used and none is fused. */
#ifndef DP_NOISE_FAST_NOISE_H
#define DP_NOISE_FAST_NOISE_H

#include "rng/chacha.h"

#include <stdbool.h>

enum fast_law { FAST_NONE, FAST_GAUSSIAN, FAST_LOGISTIC, FAST_LAPLACE, FAST_LAWS };
enum { FAST_BLOCK = 32 }; /* draws that are made together */

struct fast_kernels {
    /** unit[0 .. 32 blocks): noise of scale 1 from words of 32 random bits, fast_words(law) a block. By law;
     * [FAST_NONE] is NULL. */
    void (*draw[FAST_LAWS])(float *unit, const uint32_t *words, size_t blocks);
    /** |x[i]| < most for all i; never with a NaN. */
    bool (*within)(const double *x, size_t n, double most);
    bool (*within_floats)(const float *x, size_t n, double most);
    /** sum[i] += scale * unit[i] in double, rounded to a multiple of unit_of_sum, a power of two. */
    void (*add)(double *sum, const float *unit, size_t n, double scale, double unit_of_sum);
    /** sum[i] += scale * unit[i] in double, rounded to float. */
    void (*add_floats)(float *sum, const float *unit, size_t n, double scale);
};
const struct fast_kernels *fast_kernels_find(void);
size_t fast_words(enum fast_law law);

/** Sums of doubles and their noise are rounded to multiples of this: 2^-20 of the power of two below the
 * scale. So neither shows in bits that the other does not have. */
double fast_unit(double scale);

/** Noise of scale 1 is below this in size: sqrt(130 ln 2), 65 ln 2, 64 ln 2, rounded up. */
double fast_reach(enum fast_law law);

struct fast_sum {
    enum fast_law law;
    double scale;
    bool floats; /* the sum is of floats, else of doubles */
    int threads; /* at most */
};
/** Adds noise to sum[0..n): position i gets draw i of the key. A key is good for one call. */
void fast_noise_add(void *sum, size_t n, const struct fast_sum *how, const unsigned char key[CHACHA_KEY]);

#endif
