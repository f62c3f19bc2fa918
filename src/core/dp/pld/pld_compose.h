/* pld_compose.h - many privacy-loss distributions together, by a Fourier transform of tilted masses.
 *
 * Masses p_i become w_i = p_i e^(tilt l_i - s), which add up to 1; the transform of their k-fold convolution
 * is the k-th power of theirs. The tilt moves the mean of w's composition to the requested epsilon,
 * so that the transform's absolute rounding error, taken back by e^(-tilt epsilon), stays small beside deltas
 * of any size. Losses are indices modulo N; what wraps around is bounded. docs/derivations/pld.md, section
 * 5. */
#ifndef DP_PLD_PLD_COMPOSE_H
#define DP_PLD_PLD_COMPOSE_H

#include "dp/pld/pld.h"
#include "num/fft.h"

/** `count` releases of a kind that lies between two items: below the mixture of their upper curves, and above the lower curve of
 * the former one. */
struct pld_blend {
    double weight; /* of the item itself, in [0, 1]; the rest is that of the item before it */
    double count;  /* a whole number, 1..2^40 */
};

/** `count` releases of one kind, and such as lie between it and the item before it, which the first item has none of. All items
 * have the same step; an item's two distributions one grid. */
struct pld_item {
    const struct pld *upper, *lower;
    double count; /* a whole number, 0..2^40 */
    const struct pld_blend *blends;
    size_t blend_count;
};

enum { PLD_ORDERS = 7, PLD_MANY = 16 /* items, of which progress is told */ };

/** The composition. W(l) for the loss l = index step is at index mod N. */
struct pld_sum {
    double step, tilt;
    size_t n;                     /* N, a power of two */
    double *upper, *lower;        /* W for the upper and the lower distributions */
    struct interval log_scale;    /* masses are W e^(log_scale - tilt l) */
    double error;                 /* 2-norm of the errors of `upper`, and of `lower` */
    double relative;              /* masses before the transform: their relative errors, added up */
    double total;                 /* of W, at most */
    double infinite;              /* at most, of the upper composition */
    double log_right[PLD_ORDERS]; /* ln of the sum of W e^(tilt l / 2^i) for `lower`, at most */
    double highest;               /* no loss lies above */
    double *memory;
};
/** `log_moment[i]`: about ln sum p e^(tilt l) of item i's upper distribution, from any estimate. ENOMEM, ESTOPPED. */
sotto_status pld_compose(struct pld_sum *out, const struct pld_item *items, const double *log_moment,
                         size_t count, double tilt, int log2_n, const struct sotto_context *ctx);
void pld_sum_free(struct pld_sum *s);

/** The latter end alone. */
double pld_sum_upper_delta(const struct pld_sum *s, double epsilon);
/** [a bound from below of the lower composition's curve, one from above of the upper's] at epsilon. */
struct interval pld_sum_delta(const struct pld_sum *s, double epsilon);
/** Smallest epsilon >= 0 at delta: [from below, from above]; INFINITY above: not below delta anywhere. */
struct interval pld_sum_epsilon(const struct pld_sum *s, double delta);

#endif
