/* ball_private.h - what the files of this folder share. */
#ifndef DP_BALL_PRIVATE_H
#define DP_BALL_PRIVATE_H

#include "dp/ball/ball.h"
#include "dp/ball/flint_headers.h"

#include <stdbool.h>

/* Everything below is for the inside of a ball_run(). */

/** Memory of the run, aligned to 16 bytes, not zeroed; leaves the run where there is none. */
void *ball_take(size_t bytes);
void ball_give(void *block);
/** Leaves the run if its context asked to stop. ball_take() asks too, and with it most operations on long numbers. */
void ball_ask(void);
/** Blocks taken and not given back, FLINT's included. */
size_t ball_live(void);

/** Doubles around a ball, rounded outwards; the whole line for NaN. */
struct interval ball_enclosure(const arb_t x);

/** A formula evaluated at a precision. */
typedef void ball_formula(arb_t out, const void *arg, slong bits);
/** Evaluates at doubling precision until the ends are neighbouring doubles (or precision runs out, at 2^14
 * bits). */
struct interval ball_narrow(ball_formula *formula, const void *arg);

/* Tail masses of the privacy loss L of a step: p = P(L > epsilon), q = Q(L > epsilon), the constants kept at
 * one precision. */
struct ball_law {
    enum ball_noise noise;
    slong bits;
    bool sampled, replaced;
    arb_t rate, rest;         /* q, 1 - q */
    arb_t t, half;            /* shift / scale, t / 2 */
    arb_t inverse;            /* Gaussian: 1 / (t sqrt 2); logistic: 1 / (2 sinh(t/2)) */
    arb_t up, down;           /* Gaussian: up = t / (2 sqrt 2); otherwise e^(t/2), e^(-t/2) */
    arb_t x, y, tail0, tail1; /* scratch */
};
void ball_law_init(struct ball_law *law, const struct ball_step *step, slong bits);
void ball_law_clear(struct ball_law *law);
void ball_law_tails(arb_t p, arb_t q, struct ball_law *law, const arb_t epsilon);

/* Two discrete privacy-loss distributions around the truth, packed as real + i imaginary parts:
 *   upper[i] is the mass at loss (first + i) * spacing and dominates, with `infinite` at +inf;
 *   lower[i] is the mass at loss (first + i + 1/2) * spacing and is dominated; it adds up to less than 1. */
struct ball_pair {
    slong bits, first;
    size_t length;
    double spacing;
    arb_t infinite;
    acb_ptr mass;
};
void ball_pair_clear(struct ball_pair *pair);
/** Tails at (first + i) * spacing, i < length; p and q from ball_numbers(). */
void ball_tails(arb_ptr p, arb_ptr q, struct ball_law *law, slong first, size_t length, double spacing);
/** Both distributions from tails of `law`; `swapped`: of the pair with P and Q exchanged. */
void ball_pair_make(struct ball_pair *out, arb_srcptr p, arb_srcptr q, slong first, size_t length,
                    double spacing, bool swapped, const struct ball_law *law);

/** Vectors of zeros; NULL may be freed. */
arb_ptr ball_numbers(size_t count);
void ball_numbers_free(arb_ptr v, size_t count);
acb_ptr ball_complexes(size_t count);
void ball_complexes_free(acb_ptr v, size_t count);

/** In place, natural order in, bit-reversed order out: out[f] = sum_j in[j] e^(2 pi i f j / 2^depth); `back`:
 * its inverse, bit-reversed order in, natural order out. */
void ball_transform(acb_ptr v, int depth, bool back, slong bits);

#endif
