/* require.h - checks that every privacy parameter passes. */
#ifndef DP_MECHANISM_REQUIRE_H
#define DP_MECHANISM_REQUIRE_H

#include "base/reserved.h"
#include "base/status.h"

/** EINVAL unless `x` is a normal number in [1e-100, 1e100]; `what` opens the message. */
sotto_status require_positive(double x, const char *what);
/** EINVAL unless 0 <= delta < 1 and delta is 0 or normal. */
sotto_status require_delta(double delta);

#endif
