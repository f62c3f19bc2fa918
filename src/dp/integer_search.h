/* integer_search.h - what the two discrete laws share. */
#ifndef DP_INTEGER_SEARCH_H
#define DP_INTEGER_SEARCH_H

#include "num/interval.h"

/** Smallest epsilon in [0, most] with delta(steps, step, epsilon) <= target, both ends proved, for a delta
 * that falls with epsilon. */
struct interval integer_epsilon(struct interval (*delta)(double steps, struct interval step, double epsilon),
                                double steps, struct interval step, double target, double most);

#endif
