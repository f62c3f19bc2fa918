/* discretised_noise.h - exact noise at vector speed: K = floor(Z / r) of continuous noise Z of scale s = m r.
 *
 * For inputs q on the lattice r Z, r (q + K) = r floor((q r + Z) / r) is a function of the continuous release,
 * so every guarantee of the continuous mechanism holds for it as it is. A draw is the floor that the first
 * words of its position settle, by vectors of doubles with a proved error; where they do not, more bits are
 * taken, in ball arithmetic. Both give the same integer, so a draw is a function of (key, position) alone: not
 * of the instruction set, threads, or how positions are cut into calls.
 *
 * |q| is at most Q, and q + K is clamped to +-Q by the caller: 2^60 for integers, 2^51 for doubles. K stops at 2 Q,
 * which makes no difference to that. docs/derivations/exact-noise.md. */
#ifndef DP_NOISE_DISCRETISED_NOISE_H
#define DP_NOISE_DISCRETISED_NOISE_H

#include "dp/noise/discretised_kernel.h"
#include "dp/noise/lattice.h"

/** One release: plain data, wiped by discretised_noise_close(). */
struct discretised_noise {
    struct floor_bounds bounds;
    unsigned char key[CHACHA_KEY];
};

/** Whether noise of m lattice steps can be drawn: 2^-30 to 2^44 (flat: 2^32). */
bool discretised_noise_fits(double m, bool flat);
/** Takes a fresh key from `keys`: a stream of the operating system's generator, or a seeded one for tests.
 *  In:  m       scale over lattice step, exact; it fits
 *       flat    at least 2^-40 m counts as undecided, so that the share of slow draws does not tell the noise's size (up to
 *               15 scales, logistic and Laplace; Gaussian: radii from 0.01 to 5); m <= 2^32
 *  Errors: EINVAL: m does not fit; floating-point numbers are not rounded to nearest */
sotto_status discretised_noise_open(struct discretised_noise *out, enum discretised_law law, double m,
                                    bool flat, struct noise *keys);
void discretised_noise_close(struct discretised_noise *f);

/** k[0 .. n): the draws of positions first .. first + n - 1. A position is good for one release: released
 * twice, its noise cancels.
 *  In:  first   first + n <= DISCRETISED_POSITIONS
 *       threads at most
 *  Out: |k| <= 2^61 (the probability of more than 2^50 is below 2^-80)
 *  Errors: ENOMEM; EINVAL: a thread does not round to nearest */
sotto_status discretised_noise_fill(const struct discretised_noise *f, int64_t *k, uint64_t first, size_t n,
                                    int threads);
/** The same without that stop: |k| <= 2^121 + 1, for |q| up to Q = 2^120. */
sotto_status discretised_noise_fill_wide(const struct discretised_noise *f, int128 *k, uint64_t first,
                                         size_t n, int threads);
/** discretised_noise_fill() as doubles; |k| <= 2^52. */
sotto_status discretised_noise_fill_doubles(const struct discretised_noise *f, double *k, uint64_t first,
                                            size_t n, int threads);
#define DISCRETISED_POSITIONS ((uint64_t)1 << 60)

#endif
