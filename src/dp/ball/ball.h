/* ball.h - the certified path: privacy bounds in ball arithmetic (Arb), where the library itself follows
 * every rounding error. Nothing here rests on the accuracy of the C library. No type of Arb leaves this
 * folder.
 *
 * Memory: large tables come from base_alloc, so running out is SOTTO_ENOMEM; FLINT itself aborts when its
 * small temporaries cannot be allocated, so what they need is checked to be available beforehand. */
#ifndef DP_BALL_H
#define DP_BALL_H

#include "base/status.h"
#include "num/interval.h"

enum ball_noise { BALL_GAUSSIAN, BALL_LOGISTIC, BALL_LAPLACE };

/** One step: the pair of output laws that differ by `shift` under noise of scale `scale`, seen through a
 * Poisson sample of rate `sample_rate` (1: no sampling). All exact numbers > 0. */
struct ball_step {
    enum ball_noise noise;
    double shift, scale, sample_rate;
};

/** Smallest epsilon >= 0 at `delta` of `count` independent steps, the larger of both directions (with and
 *  without the record), by its privacy-loss distribution on a grid.
 *  In:  0 < delta < 1, count >= 1; grid: spacing in loss, made wider where the table would exceed 2^18
 *       points; NAN chooses 1e-4 or less
 *  Out: *epsilon encloses the truth; untouched on failure
 *  Errors: ENOMEM; EDOMAIN: losses too large for any grid
 *  Source: docs/derivations/certified.md */
sotto_status ball_compose_epsilon(struct interval *epsilon, const struct ball_step *step, size_t count,
                                  double delta, double grid);

#endif
