/* Epsilon falls about as fast as the scale grows, or faster; each further trial at least doubles what is
 * added. */
#include "dp/account/calibrate_step_up.h"

#include "base/status.h"

#include <math.h>

enum { TRIALS = 30 };

sotto_status calibrate_step_up(struct sotto_account *out, double scale, const struct raise *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    double first = scale, more = 0;
    TRY(r->account(&a, scale, r->arg));
    for (int i = 0; a.epsilon.upper > r->target.epsilon; i++) {
        if (i == TRIALS || isinf(a.epsilon.upper))
            FAIL(SOTTO_EDOMAIN, "%s: no certified scale near %g reaches epsilon %g at delta %g", r->mechanism,
                 first, r->target.epsilon, r->target.delta);
        more = fmin(fmax(fmax(1.05 * log(a.epsilon.upper / r->target.epsilon), 2 * more), 1e-12), 3);
        scale *= 1 + more;
        TRY(r->account(&a, scale, r->arg));
    }
    *out = a;
done:
    return status;
}
