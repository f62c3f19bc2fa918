#include "dp/mechanism/require.h"

#include <float.h>
#include <math.h>

sotto_status require_positive(double x, const char *what)
{
    if (isnan(x))
        return status_fail(SOTTO_EINVAL, "%s must be a number > 0 (got NaN)", what);
    if (x <= 0)
        return status_fail(SOTTO_EINVAL, "%s must be > 0 (got %g)", what, x);
    if (x < 1e-100 || x > 1e100)
        return status_fail(SOTTO_EINVAL, "%s must lie between 1e-100 and 1e100 (got %g)", what, x);
    return SOTTO_OK;
}

sotto_status require_delta(double delta)
{
    if (!(delta >= 0 && delta < 1))
        return status_fail(SOTTO_EINVAL, "delta must lie in [0, 1) (got %g)", delta);
    if (delta != 0 && delta < DBL_MIN)
        return status_fail(SOTTO_EINVAL, "delta must be 0 or at least %g (got %g)", DBL_MIN, delta);
    return SOTTO_OK;
}
