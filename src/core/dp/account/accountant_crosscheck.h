/* accountant_crosscheck.h - do the independent ways to the same number agree?
 *
 * k logistic releases of shift t have an exact answer by a finite alternating sum and by a contour integral,
 * each in double intervals and in ball arithmetic; the privacy-loss grids must enclose it. */
#ifndef DP_ACCOUNT_ACCOUNTANT_CROSSCHECK_H
#define DP_ACCOUNT_ACCOUNTANT_CROSSCHECK_H

#include "base/status.h"
#include "num/interval.h"

#include <stdbool.h>

struct crosscheck_way {
    const char *name;
    struct interval value;
};
enum { AGREEMENT_WAYS = 4 };
struct crosscheck {
    double t, delta;
    size_t count;
    /* Hockey-stick divergence at one epsilon by every way that works there; the exact epsilon at `delta`; and
     * the epsilon of the grids. */
    size_t exact_count, epsilon_count, grid_count;
    struct crosscheck_way exact[AGREEMENT_WAYS], epsilon[AGREEMENT_WAYS], grid[AGREEMENT_WAYS];
};
/** ENOMEM, EDOMAIN as ball_compose_epsilon(). t > 0, count >= 2, 0 < delta < 1. About a second. */
sotto_status accountant_crosscheck(struct crosscheck *out, double t, size_t count, double delta,
                                   const struct sotto_context *ctx);
/** Every two exact values overlap and lie within 1e-10 of each other, relatively; every grid interval holds
 * the exact epsilon. `why` gets the first violation, or the figures. */
bool agreement_holds(const struct crosscheck *a, char *why, size_t capacity);

#endif
