/* straggler.h - which rank do the others wait for? */
#ifndef NN_LOOP_STRAGGLER_H
#define NN_LOOP_STRAGGLER_H

#include <stdbool.h>
#include <stddef.h>

struct straggler {
    size_t rank;
    /* its work, in that of the median rank (of an even number: the lower of both in the middle) */
    double times;
};
/** True: the slowest rank worked more than 1.3 times as long as the median rank, and so much longer that it matters (1 s).
 *  In:  seconds  (ranks) of work, of which all have as much to do; 0: a rank that told none, and then there is no straggler */
bool straggler_find(struct straggler *out, const float *seconds, size_t ranks);

#endif
