/* ball.h - the certified path: privacy bounds in ball arithmetic (Arb), where the library itself follows
 * every rounding error. Nothing here rests on the accuracy of the C library. No type of Arb leaves this
 * folder. */
#ifndef DP_BALL_H
#define DP_BALL_H

#include "base/status.h"
#include "num/interval.h"

#include <stdbool.h>

enum ball_noise { BALL_GAUSSIAN, BALL_LOGISTIC, BALL_LAPLACE, BALL_CAUCHY /* drawn only: ball_draw.h */ };

/** Runs body(arg) with all memory of ball arithmetic taken from one pool. Where memory runs out, however deep
 * inside FLINT, the body is left on the spot and the pool is dropped whole, so a body holds nothing else
 * (memory, files, locks) while it calls the functions below. Inside another run: only a call.
 *  The same way a run is left when `ctx` asks to stop.
 *  Returns: what the body returned; ENOMEM; ESTOPPED */
sotto_status ball_run(sotto_status (*body)(void *arg), void *arg, const struct sotto_context *ctx);

/* One value each, evaluated at growing precision until the interval is as narrow as doubles allow. Pure
 * functions of doubles taken as exact; t = shift / scale > 0. A value that cannot be had gives the whole
 * range; so does want of memory, outside of ball_run(). */

/** Functions that double intervals are checked against; outside of their range the whole line. NORMAL_CDF is
 * Phi, MILLS (1 - Phi(x)) / phi(x), LOG_SINHC ln(sinh x / x). */
enum ball_function {
    BALL_EXP,
    BALL_EXPM1,
    BALL_LOG,
    BALL_LOG1P,
    BALL_ERFC,
    BALL_NORMAL_CDF,
    BALL_NORMAL_DENSITY,
    BALL_MILLS,
    BALL_LOG_SINHC
};
struct interval ball_value(enum ball_function function, double x);

/** Hockey-stick divergence at epsilon >= 0, and the smallest epsilon >= 0 at delta in (0, 1). */
struct interval ball_delta(enum ball_noise noise, double t, double epsilon);
struct interval ball_epsilon(enum ball_noise noise, double t, double delta);
/** Renyi divergence of order alpha > 1. */
struct interval ball_renyi(enum ball_noise noise, double t, double alpha);
/** Upper bound of the Renyi divergence of integer order alpha >= 2 of one step with Poisson rate `rate`,
 * gradients clipped to 1 and noise of scale `multiplier` that is `divisor`-zCDP (2: Gaussian, 6: logistic by
 * the L2 theorem): ln( sum_k C(alpha, k) (1-q)^(alpha-k) q^k e^(k (k-1) / (divisor m^2)) ) / (alpha - 1). */
struct interval ball_sampled_renyi(double multiplier, double divisor, double rate, unsigned alpha);
/** eps = renyi + ln(1 - 1/alpha) - (ln delta + ln alpha) / (alpha - 1), at least 0. */
struct interval ball_renyi_to_epsilon(double renyi, double alpha, double delta);

/** Hockey-stick divergence of `count` logistic releases of shift t at epsilon >= 0, two independent ways: the
 *  finite alternating sum (time grows with count^2: up to a few hundred), and the contour integral (slow
 * below count = 6). */
struct interval ball_finite_sum(double t, size_t count, double epsilon);
struct interval ball_contour(double t, size_t count, double epsilon);

/** One step: the pair of output laws that differ by `shift` under noise of scale `scale`, seen through a
 * Poisson sample of rate `sample_rate` (1: no sampling). All exact numbers > 0.
 * `replaced` (Gaussian noise, sample_rate < 1): a sampled record moves the output by `shift` one way before, and by as much the
 * other way after: N(shift) against N(-shift), each with probability `sample_rate`, else N(0). */
struct ball_step {
    enum ball_noise noise;
    double shift, scale, sample_rate;
    bool replaced;
};

/** Smallest epsilon >= 0 at `delta` of `count` independent steps, the larger of both directions (with and
 *  without the record), by its privacy-loss distribution on a grid.
 *  In:  0 < delta < 1, count >= 1; grid: spacing in loss, made wider where the table would exceed 2^18
 *       points; NAN chooses 1e-4 or less
 *  Out: *epsilon encloses the truth (INFINITY above: this grid proves nothing); untouched on failure
 *  Errors: ENOMEM; EDOMAIN: losses too large for any grid
 *  Source: docs/derivations/certified.md */
sotto_status ball_compose_epsilon(struct interval *epsilon, const struct ball_step *step, size_t count,
                                  double delta, double grid);

#endif
