/* discretised_kernel.h - the fast path of exact noise: floors that 64-bit words settle, by vectors of doubles. */
#ifndef DP_NOISE_DISCRETISED_KERNEL_H
#define DP_NOISE_DISCRETISED_KERNEL_H

#include "rng/chacha.h"

#include <stdbool.h>

/** Discrete Laplace noise has scale m itself: P(K) proportional to e^(-|K| / m). */
enum discretised_law {
    DISCRETISED_LOGISTIC,
    DISCRETISED_LAPLACE,
    DISCRETISED_GAUSSIAN,
    DISCRETISED_DISCRETE_LAPLACE,
    DISCRETISED_LAWS
};

/* Words and draws come in groups, those of the key's stream. Draw i of a group comes from its word i; Gaussian
 * pair i from words i (radius) and DISCRETISED_PAIRS + i (angle), its cosine being draw i and its sine draw
 * DISCRETISED_PAIRS + i. The sign of a draw is the first bit of its word. */
enum { DISCRETISED_GROUP = CHACHA_WORDS / 2, DISCRETISED_PAIRS = DISCRETISED_GROUP / 2 };

/** What the kernels know of a law. With y the size of a draw of scale 1 and b its word plus 1/2, a draw is in
 * undecided where t = m y + shift is within
 *     max(flat, constant + slope y + word / b)                    of an integer, for Gaussian pairs within
 *     max(flat, slope R + inverse / R + word / b),  R the radius. */
struct floor_bounds {
    enum discretised_law law;
    double m, shift;
    double constant, slope, inverse, word, flat;
    double half; /* of the last known bit of a word: 1/2 */
};
/** The bounds that are proved, for words of which the first `known` bits count (64 but in tests). */
struct floor_bounds floor_bounds_make(enum discretised_law law, double m, bool flat, unsigned known);

struct floor_kernels {
    /** k[0 .. groups * DISCRETISED_GROUP): floors, where they are settled. Bit i of undecided[2 g + h]: draw 64 h + i of
     * group g is not; Gaussian: pair i of group g, and h is 0. */
    void (*draw[DISCRETISED_LAWS])(double *k, uint64_t *undecided, const uint64_t *words, size_t groups,
                                   const struct floor_bounds *bounds);
    /** Whole doubles below 2^51 in size as integers. */
    void (*to_integers)(int64_t *to, const double *from, size_t n);
};
const struct floor_kernels *floor_kernels_find(void);

#endif
