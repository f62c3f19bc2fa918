#include "dp/mechanism/require.h"

#include "options/option_tables.h"
#include "sotto/option.h"
#include "sotto/private/option.h"

#include <float.h>

static sotto_status require_as(const char *option, double x, const char *what)
{
    struct sotto_option row = *sotto_option_find(options_release, option);
    row.key = what;
    return sotto_option_check_number(&row, x);
}

sotto_status require_positive(double x, const char *what)
{
    if (x > 1e-90 && x < 1e90) /* well inside that row's range, which takes long to read from its text */
        return SOTTO_OK;
    return require_as("scale", x, what);
}

sotto_status require_delta(double delta)
{
    sotto_status status = require_as("delta", delta, "delta");
    if (status == SOTTO_OK && delta != 0 && delta < DBL_MIN)
        status = status_fail(SOTTO_EINVAL, "delta must be 0 or at least %g (got %g)", DBL_MIN, delta);
    return status;
}
