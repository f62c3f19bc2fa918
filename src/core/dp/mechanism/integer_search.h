/* integer_search.h - what the two discrete laws share. */
#ifndef DP_MECHANISM_INTEGER_SEARCH_H
#define DP_MECHANISM_INTEGER_SEARCH_H

#include "dp/mechanism/mechanism.h"

/** Smallest epsilon in [0, most] with delta(steps, step, epsilon) <= target, both ends proved, for a delta
 * that falls with epsilon. */
struct interval integer_epsilon(struct interval (*delta)(double steps, struct interval step, double epsilon),
                                double steps, struct interval step, double target, double most);

/** Combines two events of one pair: the larger delta, and the event with the larger lower end. */
struct best_event best_of(struct best_event a, struct best_event b);

#endif
