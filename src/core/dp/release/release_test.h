/* release_test.h - propose-test-release (docs/derivations/local.md, section 3). Its delta is its own, so it is no row of the
 * mechanism table: ledgers take it as a stated (epsilon, delta). */
#ifndef DP_RELEASE_RELEASE_TEST_H
#define DP_RELEASE_RELEASE_TEST_H

#include "sotto/lab/array.h"
#include "sotto/release.h"

#include <stdbool.h>

bool release_is_test(const char *mechanism);
/** The label that *a, labels of any type, as (n) or (n, 1), holds most often takes its place. */
sotto_status protect_most_frequent(struct sotto_certificate **certificate, struct sotto_array *a,
                                   const struct sotto_protect *p, const struct sotto_release *release,
                                   const struct sotto_context *ctx);

#endif
