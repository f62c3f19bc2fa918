/* ask_agree.h - one least squares over the cells of all queries: after the noise, so free (docs/derivations/ask.md). */
#ifndef ASK_ASK_AGREE_H
#define ASK_ASK_AGREE_H

#include "ask/ask_query.h"

/** x^i y^j has number 3 i + j; x and y are the shares of their bounds that two columns have reached. */
enum { ASK_ONE = 0, ASK_Y = 1, ASK_X = 3, ASK_XY = 4, ASK_XX = 6, ASK_POWERS = 9 };
/** Sums of powers over the rows of a group in which no number is missing, and the covariance of the noise in them. */
struct ask_moments {
    double sums[ASK_POWERS], covariance[ASK_POWERS][ASK_POWERS];
};
struct ask_release;
/** The sums of all queries. Initialise with {0}. */
struct ask_agreed {
    struct ask_query_sums *of; /* (count) */
    size_t count;
};
/** Sums that agree on what queries share: margins of their keys, powers of their columns, and the number of rows. With r->raw each query
 *  has its own cells alone; a second moment about the middle of the bounds has the cells of the means too. ENOMEM. */
sotto_status ask_agree(struct ask_agreed *out, const struct ask_plan *plan, const struct ask_release *r);
void ask_agreed_clear(struct ask_agreed *agreed);
/** Not of a quantile, nor of what is public. Powers that the query does not have are 0. */
void ask_moments_of(struct ask_moments *out, const struct ask_agreed *agreed, const struct ask_plan *plan,
                    const struct ask_query *q, size_t group);

#endif
