/* ball_draw.h - the slow path of exact noise: draws that the given words do not decide, in ball arithmetic.
 * docs/derivations/exact-noise.md, section 2. */
#ifndef DP_BALL_DRAW_H
#define DP_BALL_DRAW_H

#include "dp/ball/ball.h"

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 int128;

/** More bits of both words of a draw, a pure function of (arg, round); the highest bits are taken first. */
typedef void ball_refinement(uint64_t bits[2], const void *arg, unsigned round);

/** What is known of a draw of noise of scale m, the law's letter Z. A uniform number is (w + theta) / 2^n: w
 * its known bits, theta what is not yet known.
 *   logistic  first bit of word[0] the sign, the others U in (0, 1/2]; |Z| = m ln((1 - U) / U)
 *   Laplace   first bit of word[0] the sign, the others U in (0, 1];   |Z| = -m ln U
 *   discrete  the same U; |Z| = -m ln U + m ln(2 / (1 + e^(-1/m)))
 *   Cauchy    first bit of word[0] the sign, the others U in (0, 1];   |Z| = m tan(pi U / 2)
 *   Gaussian  word[0] is U in (0, 1], word[1] V; Z = m sqrt(-2 ln U) (cos 2 pi V, sin 2 pi V) */
struct ball_draw {
    enum ball_noise law;
    bool discrete;    /* discrete Laplace, `law` being BALL_LAPLACE */
    double m;         /* > 0, taken as exact */
    uint64_t word[2]; /* word[1]: Gaussian only */
    unsigned known;   /* bits that count, the first of each word: 2 .. 64 */
    unsigned step;    /* bits of each refinement, the first: 1 .. 64 */
    ball_refinement *refine;
    const void *arg;
};

enum { BALL_DRAW_BITS = 121 };
/** floor(Z), of both values of a Gaussian pair; of discrete noise sign * floor(|Z|). What is larger than
 * 2^BALL_DRAW_BITS is cut off there. For the inside of a ball_run().
 *  Out: floor[0], for Gaussian noise floor[1] too */
void ball_draw(int128 floor[2], const struct ball_draw *d);

#endif
