/* require.h - checks that every privacy parameter passes. */
#ifndef DP_MECHANISM_REQUIRE_H
#define DP_MECHANISM_REQUIRE_H

#include "base/status.h"

/** Help of the option of that name, a row of two tables. */
extern const char mechanism_help[];
/** EINVAL unless `x` is in the range of a release's scale (sotto/option.h); `what` opens the message. */
sotto_status require_positive(double x, const char *what);
/** EINVAL unless delta is in the range of a release's, and 0 or normal. */
sotto_status require_delta(double delta);

#endif
