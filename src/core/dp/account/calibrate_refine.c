/* Secants for ln epsilon against ln scale, aimed a little to the safe side. Whatever is returned was itself
 * accounted and found to hold. */
#include "dp/account/calibrate_refine.h"

#include <math.h>

enum { TRIALS = 12 };
static const double close_enough = 2e-8;

sotto_status calibrate_refine(double *scale, const struct refinement *r)
{
    sotto_status status = SOTTO_OK;
    double holds = *scale, fails = 0, x = *scale, slope = -1, epsilon, last_x = 0, last_log = 0;
    for (int i = 0; i < TRIALS; i++) {
        TRY(r->upper(&epsilon, x, r->arg));
        if (epsilon <= r->target)
            holds = fmin(holds, x);
        else
            fails = fmax(fails, x);
        double miss = log(fmax(epsilon, 1e-300) / r->target);
        if (holds < fails * (1 + close_enough) || (miss <= 0 && miss > -close_enough) || fails >= holds)
            break;
        if (i > 0 && x != last_x)
            slope = fmin(fmax((miss - last_log) / log(x / last_x), -30), -0.1);
        last_x = x;
        last_log = miss;
        x *= exp((miss + close_enough / 2) / -slope);
        if (!(x > fails && x < holds))
            x = fails > 0 ? sqrt(fails * holds) : holds / 2;
    }
    *scale = holds;
done:
    return status;
}
