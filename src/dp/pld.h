/* pld.h - privacy-loss distributions on a grid i h, with mass at +infinity, from below and from above.
 *
 * A pair (P, Q) is known by its hockey-stick curve delta(eps) = sup_S P(S) - e^eps Q(S) at every real eps. A
 * distribution with masses p_i at losses i h and p_inf at +infinity has the curve
 *   p_inf + sum_i p_i (1 - e^(eps - i h))_+.
 * `upper` lies above the pair's curve everywhere, `lower` below it; that order survives composition
 * (docs/derivations/pld.md, section 1), whatever the total masses are. */
#ifndef DP_PLD_H
#define DP_PLD_H

#include "base/status.h"
#include "dp/mechanism.h"
#include "num/interval.h"

#include <stdint.h>

/** One point of a pair's curve. At eps >= 0: value = delta(eps), slope = e^eps Q(L > eps). At eps < 0, where
 * delta is almost 1 - e^eps: value = delta(eps) - (1 - e^eps), slope = e^eps Q(L <= eps). Both are small in
 * their tails and known to many relative digits. At an atom either one-sided slope will do. */
struct pair_point {
    struct interval value, slope;
};

/** A pair of laws, by its curve. */
struct pair {
    void (*points)(struct pair_point *out, const void *arg, const double *epsilon, size_t n);
    const void *arg;
};

/** Which record is missing: P with it against Q without it, or the other way round. */
enum pld_direction { PLD_REMOVE, PLD_ADD };

/** The scalar pair of a mechanism with shift t, seen through Poisson sampling. The mechanism's pair is
 * swapped by a reflection, so delta_0(-e) = 1 - e^-e + e^-e delta_0(e), and without sampling both directions
 * are one. */
struct pair_sampled {
    const struct mechanism *mechanism; /* with tails */
    double shift, rate;                /* > 0; (0, 1] */
    enum pld_direction direction;
};
/** `arg` must outlive the pair. */
struct pair pair_of_sampled(const struct pair_sampled *arg);

/** Masses at losses (lowest + i) step, i = 0..n-1, and at +infinity. `step` has at most 21 significant bits,
 * so that every such loss is a double. */
struct pld {
    double step;
    int64_t lowest;
    size_t n;
    double *mass;
    double infinite;
};
void pld_free(struct pld *p);

/** The nearest number above or below with 21 bits. */
double pld_round_step(double step);

/** Losses outside of which less than `cut` of the curve is left: delta(high) <= cut, and value(low) <= cut.
 */
struct pld_range {
    double low, high;
};
struct pld_range pld_find_range(const struct pair *pair, double cut);

/** Connect-the-dots (Doroshenko et al. 2022): the curve's chords. Total mass >= 1 by at most rounding. Losses
 * below the range move up to its end, those above it to infinity. ENOMEM; EDOMAIN: more than 2^24 points. */
sotto_status pld_discretise_upper(struct pld *out, const struct pair *pair, struct pld_range range,
                                  double step);
/** The curve's tangents at half steps, met at the grid. Total mass <= 1. Same errors. */
sotto_status pld_discretise_lower(struct pld *out, const struct pair *pair, struct pld_range range,
                                  double step);
/** The hockey-stick divergence of p as it is, by summing. */
struct interval pld_delta(const struct pld *p, double epsilon);

#endif
