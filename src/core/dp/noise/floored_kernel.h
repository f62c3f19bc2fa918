/* floored_kernel.h - the fast path of exact noise: floors that 64-bit words settle, by vectors of doubles. */
#ifndef DP_NOISE_FLOORED_KERNEL_H
#define DP_NOISE_FLOORED_KERNEL_H

#include "rng/chacha.h"

#include <stdbool.h>

/** Discrete Laplace noise has scale m itself: P(K) proportional to e^(-|K| / m). */
enum floored_law {
    FLOORED_LOGISTIC,
    FLOORED_LAPLACE,
    FLOORED_GAUSSIAN,
    FLOORED_DISCRETE_LAPLACE,
    FLOORED_LAWS
};

/* Words and draws come in groups, those of the key's stream. Draw i of a group comes from its word i; Gaussian
 * pair i from words i (radius) and FLOORED_PAIRS + i (angle), its cosine being draw i and its sine draw
 * FLOORED_PAIRS + i. The sign of a draw is the first bit of its word. */
enum { FLOORED_GROUP = CHACHA_WORDS / 2, FLOORED_PAIRS = FLOORED_GROUP / 2 };

/** What the kernels know of a law. With y the size of a draw of scale 1 and b its word plus 1/2, a draw is in
 * doubt where t = m y + shift is within
 *     max(flat, constant + slope y + word / b)                    of an integer, for Gaussian pairs within
 *     max(flat, slope R + inverse / R + word / b),  R the radius. */
struct floor_bounds {
    enum floored_law law;
    double m, shift;
    double constant, slope, inverse, word, flat;
    double half; /* of the last known bit of a word: 1/2 */
};
/** The bounds that are proved, for words of which the first `known` bits count (64 but in tests). */
struct floor_bounds floor_bounds_make(enum floored_law law, double m, bool flat, unsigned known);

struct floor_kernels {
    /** k[0 .. groups * FLOORED_GROUP): floors, where they are settled. Bit i of doubt[2 g + h]: draw 64 h + i of
     * group g is not; Gaussian: pair i of group g, and h is 0. */
    void (*draw[FLOORED_LAWS])(double *k, uint64_t *doubt, const uint64_t *words, size_t groups,
                               const struct floor_bounds *bounds);
    /** Whole doubles below 2^51 in size as integers. */
    void (*to_integers)(int64_t *to, const double *from, size_t n);
};
const struct floor_kernels *floor_kernels_find(void);

#endif
