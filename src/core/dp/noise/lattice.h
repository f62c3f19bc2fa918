/* lattice.h - whole numbers only, so that nothing about the input hides in low-order bits: between floats and the
 * lattice r Z of exact noise, and the samplers that ask coins of whole numbers (discrete Gaussian noise,
 * selection, randomised response). Continuous laws and discrete Laplace noise: discretised_noise.h.
 *
 * An input is rounded to the lattice, whole steps of noise are added, and the float that is written is a
 * function of that sum alone. The account is of the rounded function: l1 + n r, l2 + sqrt(n) r. Sources:
 * Canonne, Kamath, Steinke 2020 (Bernoulli variables from integers); Karney 2016 (discrete normal). */
#ifndef DP_NOISE_LATTICE_H
#define DP_NOISE_LATTICE_H

#include "dp/ball/ball_draw.h"
#include "rng/noise.h"

__extension__ typedef unsigned __int128 uint128;

struct lattice {
    uint64_t m;   /* scale / step, an integer in [2^52, 2^53) */
    int exponent; /* step r = 2^exponent */
};
/** For a normal scale > 0. */
struct lattice lattice_make(double scale);

/* Lattices of released vectors: the scale is less than 2^bits steps, and at least half as many. */
enum {
    LATTICE_BITS_FINE = 53, /* lattice_make(); releases of early versions */
    LATTICE_BITS = 40,
    LATTICE_BITS_FLAT = 32 /* where doubts are flat */
};
/** The exponent of the step. */
int lattice_exponent(double scale, int bits);

/** x = m 2^-shift with m < 2^53 and shift <= 62, for a normal x > 0. False: no such pair. */
bool lattice_ratio(uint64_t *m, unsigned *shift, double x);

/** |K| for integer noise K of scale m 2^-shift with P(K = -k) = P(K = k), m < 2^53 and shift <= 62, before
 * the sign: 0 counts twice, so integer_signed() draws again for one of the two. */
typedef uint128 integer_magnitude(struct noise *s, uint64_t m, unsigned shift);
integer_magnitude integer_gaussian, integer_laplace;
/** The signed draw. */
int128 integer_signed(struct noise *s, integer_magnitude *magnitude, uint64_t m, unsigned shift);

enum { LATTICE_END = 120 };
/** round(x / r), half to even, by integers alone: |x / r - result| <= 1/2. Beyond +-2^LATTICE_END it is that
 * end of the lattice: a clamp brings no two values further apart, and what is too large stays unsaid. NaN is
 * 0, by rule. */
int128 lattice_index(double x, struct lattice lattice);
/** The float nearest to odd * r / 2, the double nearest to it; the largest finite one instead of an
 * infinity. */
float lattice_value(int128 odd, struct lattice lattice);
double lattice_double(int128 odd, struct lattice lattice);

/** One of the candidates left (n), by their gaps; the smallest of these is 0. May change the order in left. */
typedef size_t choice_sampler(struct noise *s, const uint128 *gap, size_t *left, size_t n, uint64_t m);
/** i with probability proportional to e^(-gap[i] / m). */
choice_sampler choice_draw;
/** In random order, the first i that a coin of probability e^(-gap[i] / m) takes. */
choice_sampler flip_draw;
/** Randomised response: `truth` with e^t / (e^t + classes - 1), else one of the others, t = 2^shift / m. */
uint64_t label_draw(struct noise *s, uint64_t truth, uint64_t classes, uint64_t m, unsigned shift);

/* Building blocks, exact for every argument: */

/** 1 with probability p / q, p <= q, q > 0. Reads 64 bits, more only when they do not decide. */
bool coin_ratio(struct noise *s, uint64_t p, uint64_t q);
/** Uniform in {0, ..., n - 1}, n > 0. */
uint64_t coin_below(struct noise *s, uint64_t n);
/** 1 with probability e^(-p / q), q > 0. */
bool coin_exp(struct noise *s, uint64_t p, uint64_t q);
/** 1 with probability e^-1. */
bool coin_exp_one(struct noise *s);
/** 1 with probability e^-(whole + p / q), p < q. */
bool coin_exp_parts(struct noise *s, uint128 whole, uint64_t p, uint64_t q);
/** 1 with probability e^(-k / m). */
bool coin_exp_wide(struct noise *s, uint128 k, uint64_t m);
/** k with probability proportional to e^(-k^2 / 2). */
uint64_t coin_half_normal(struct noise *s);

#endif
