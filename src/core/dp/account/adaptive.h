/* adaptive.h - guarantees that hold for an analyst who chooses each release after looking at all earlier ones.
 *
 * A box (E, m, D) stands for one draw of three things that say which of two neighbours it was: a coin that tells all with
 * probability D, randomised response of E, and a Gaussian of shift sqrt(m). Each of them splits: releases whose boxes add up to
 * at most (E, m, D), whatever was chosen when, are a function of that one draw (docs/derivations/adaptive.md, lemma 2).
 * The box must be fixed beforehand; the sum along the path that was taken is no guarantee. */
#ifndef DP_ACCOUNT_ADAPTIVE_H
#define DP_ACCOUNT_ADAPTIVE_H

#include "base/status.h"
#include "num/interval.h"

#include <stdbool.h>

struct adaptive {
    double pure;    /* E >= 0 */
    double square;  /* m >= 0 */
    double failure; /* D in [0, 1] */
};

/** The curve of a box at any real x (formula (1)):
 * D + (1 - D) [p G(sqrt m, x - E) + (1 - p) G(sqrt m, x + E)], p = e^E / (1 + e^E). */
struct interval adaptive_delta(const struct adaptive *box, double x);
/** adaptive_delta(box, x).hi >= delta, without intervals where plain doubles tell. */
bool adaptive_reaches(const struct adaptive *box, double x, double delta);
/** adaptive_delta(box, x).hi <= delta, without intervals where plain doubles tell. */
bool adaptive_stays(const struct adaptive *box, double x, double delta);
/** Epsilon of a box from above: the smallest x >= 0 with a curve of at most `delta`. INFINITY: there is none. */
double adaptive_epsilon(const struct adaptive *box, double delta);
/** The same from below: the curve is above `delta` there. 0: nothing more is known. */
double adaptive_epsilon_below(const struct adaptive *box, double delta);
/** The true-positive rate that no test of false-positive rate `fpr` exceeds, from above. */
double adaptive_tpr(const struct adaptive *box, double fpr);

/** The sum of two boxes, rounded up. */
struct adaptive adaptive_add(struct adaptive a, struct adaptive b);
/** Is a at most b in every member? */
bool adaptive_fits(const struct adaptive *a, const struct adaptive *b);
/** A column: the largest m with which the box (pure, m, failure) is (epsilon, delta) private. Below 0: even m = 0 is not. */
double adaptive_column(double epsilon, double delta, double pure, double failure);

/** m of a Gaussian that tells at least as much as any release of pure epsilon: (2 Phi^-1(p))^2, rounded up. */
double adaptive_square_of_pure(double epsilon);

/** From below, to some 1e-11 of the truth: for checks, as it takes a tenth of the time. */
double adaptive_square_of_pure_below(double epsilon);

/** A curve from above: at x[0] = 0 < x[1] < ... both directions of a pair have at most delta[i]. The pair's own curve is convex
 * in e^x and does not rise, so chords lie above it. */
struct adaptive_curve {
    const double *x, *delta;
    size_t n;
};
/** Lowers any upper ends at x[0] = 0 < x[1] < ... of both directions to the lower hull in e^x of the points, their mirror images and
 * (e^x, delta) = (0, 1), which is above the curve too (section 2 of the page). What comes of Renyi orders, or of the smaller of two
 * bounds, need not be convex; chords between points of the hull are upper ends. ENOMEM; delta is untouched then. */
sotto_status adaptive_hull(double *delta, const double *x, size_t n);
/** Proves, cell by cell, that the box's curve is nowhere below the other (section 7 of the page). false: no proof was found. */
bool adaptive_covers(const struct adaptive *box, const struct adaptive_curve *curve);
/** The smallest m, to 2^-20 of it, such that (pure, m, failure) covers the curve; INFINITY: none does, which is so when the curve
 * is above `failure` at its last point. */
double adaptive_square_of_curve(const struct adaptive_curve *curve, double pure, double failure);

#endif
