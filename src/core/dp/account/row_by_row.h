/* row_by_row.h - runs of a person: her rows are replaced one after the other, or all at once. docs/derivations/person.md, 3 */
#ifndef DP_ACCOUNT_ROW_BY_ROW_H
#define DP_ACCOUNT_ROW_BY_ROW_H

#include "dp/account/event_part.h"

/** How this bound is called. */
#define ROW_BY_ROW "rows one by one"

/** Epsilon at `delta` of all that one record sees; INFINITY: none is known. */
typedef sotto_status record_epsilon(double *out, double delta, const void *arg);
/** Epsilon of a person of `rows` rows at `delta`, from that of a record, by the rule of groups. INFINITY: none was found.
 * Fails as `record` does. */
sotto_status epsilon_row_by_row(double *out, size_t rows, double delta, record_epsilon *record,
                                const void *arg);

/** Points of the curve of `count` runs together, each of which has an item (event_part.h): delta[i] at x[i], 0 = x[0] < x[1] < ...,
 * from above, in both directions; the smaller of both bounds, and the lower hull of that. ENOMEM, ESTOPPED. */
sotto_status runs_deltas(double *delta, const double *x, size_t n, const struct part *runs, size_t count,
                         const struct sotto_context *ctx);
/** An x from which on that curve is at most delta in (0, 1), not much more than the smallest. INFINITY: none was found. ENOMEM. */
sotto_status runs_end(double *end, const struct part *runs, size_t count, double delta,
                      const struct sotto_context *ctx);

#endif
