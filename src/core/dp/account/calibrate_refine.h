/* calibrate_refine.h - smaller noise by a bound that is too slow to bisect. */
#ifndef DP_ACCOUNT_CALIBRATE_REFINE_H
#define DP_ACCOUNT_CALIBRATE_REFINE_H

#include "base/status.h"

struct refinement {
    /* Upper epsilon at a scale; a smooth falling function but for about 1e-7. */
    sotto_status (*upper)(double *epsilon, double scale, const void *arg);
    const void *arg;
    double target;
};
/** In: a scale that holds by a weaker bound. Out: one not larger at which upper() itself was <= target, about
 * 1e-6 above the smallest; unchanged if none was found. Errors of upper(). */
sotto_status calibrate_refine(double *scale, const struct refinement *r);

#endif
