/* pld.h - privacy-loss distributions on a grid of multiples of h, with mass at +infinity, from below and from
 * above.
 *
 * A pair (P, Q) is known by its hockey-stick curve delta(eps) = sup_S P(S) - e^eps Q(S) at every real eps. A
 * distribution with masses p_i at losses i h and p_inf at +infinity has the curve
 *   p_inf + sum_i p_i (1 - e^(eps - i h))_+.
 * `upper` lies above the pair's curve everywhere, `lower` below it; that order survives composition
 * (docs/derivations/pld.md, section 1), whatever the total masses are. */
#ifndef DP_PLD_PLD_H
#define DP_PLD_PLD_H

#include "base/status.h"
#include "dp/mechanism/mechanism.h"
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

/** Which record is missing: P with it against Q without it, or the other way round. Or none is: one record
 * takes another's place, and their contributions point in opposite directions (pld_replace.c); or it does so
 * in samples of a fixed size, where any other record is in its place as well (docs/derivations/pld.md, 3.2):
 * the curve of PLD_REMOVE for twice the shift above 0, and its mirror image below. */
enum pld_direction { PLD_REMOVE, PLD_ADD, PLD_REPLACE, PLD_FIXED };

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
/** The pair of a replaced record: (1-q) Q0 + q P0 against (1-q) Q0 + q P0 reflected. */
struct pair_point pair_replaced_point(const struct pair_sampled *s, double epsilon);
/** The pair of a shift without sampling. */
struct pair_point pair_plain_point(const struct mechanism *m, double shift, double epsilon);

/** P(L > y), Q(L > y) and the curve of a shift, at a loss of either sign that has no probability of its own. */
struct tails pair_tails_at(const struct mechanism *m, double shift, double y);

enum { ROWS_NODES = 256 };
/** The rows of a person, each of them seen as `of` says (but PLD_FIXED): they are in a sample so many at a time with these
 * probabilities. Many numbers stand together: as the largest of them above the pair, as the smallest below it. */
struct pair_rows {
    struct pair_sampled of;
    bool above;
    size_t count;
    double rows[ROWS_NODES]; /* ascending; the first is 0 */
    struct interval weight[ROWS_NODES], some /* of all but the first */;
};
/** above: only values, from above; else values from below, and slopes. */
void pair_rows_make(struct pair_rows *out, const struct pair_sampled *one, size_t rows, bool above);
/** `arg` must outlive the pair. */
struct pair pair_of_rows(const struct pair_rows *arg);

/** The pair of noise on whole steps that moves by `steps`, and its mirror image, which is the same. */
struct pair_integer {
    const struct integer_law *law;
    double steps; /* whole, > 0 */
    struct interval step;
};
/** `arg` must outlive the pair. */
struct pair pair_of_integer(const struct pair_integer *arg);

/** Whole numbers first < 0 < last, among them 0, rising: the losses index[i] step. Every such loss, and the
 * middle of any two, is a double. */
struct pld_grid {
    double step;
    size_t n;
    int64_t *index;
};
/** The next step below such that multiples of step / 2 up to twice `range` are doubles; range / step at most
 * 2^24. */
double pld_round_step(double step, double range);
void pld_grid_free(struct pld_grid *g);

/** Masses at the grid's losses and at +infinity. `grid` is the maker's. */
struct pld {
    const struct pld_grid *grid;
    double *mass;
    double infinite;
};
void pld_free(struct pld *p);

/** Losses outside of which less than `cut` of the curve is left: delta(high) <= cut, and value(low) <=
 * cut. */
struct pld_range {
    double low, high;
};
struct pld_range pld_find_range(const struct pair *pair, double cut);
/** All multiples of `step` in the range, and one beyond. ENOMEM; EDOMAIN: more than 2^24. */
sotto_status pld_grid_make(struct pld_grid *out, struct pld_range range, double step);

/** Connect-the-dots (Doroshenko et al. 2022): the curve's chords between the grid's losses. Total mass >= 1
 * by at most rounding. Losses below the grid move up to its end, those above it to infinity. ENOMEM. */
sotto_status pld_discretise_upper(struct pld *out, const struct pair *pair, const struct pld_grid *grid);
/** The curve's tangents half-way between the grid's losses, met at these. Total mass <= 1. ENOMEM. */
sotto_status pld_discretise_lower(struct pld *out, const struct pair *pair, const struct pld_grid *grid);
/** Epsilon of one release at delta in (0, 1): its lower end from `lower`, its upper end from `upper`. */
struct interval pld_single_epsilon(const struct pair *upper, const struct pair *lower, double delta);
/** The hockey-stick divergence of p as it is, by summing. */
struct interval pld_delta(const struct pld *p, double epsilon);

#endif
