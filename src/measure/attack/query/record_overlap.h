/* record_overlap.h - records that two tables share. */
#ifndef ATTACK_QUERY_RECORD_OVERLAP_H
#define ATTACK_QUERY_RECORD_OVERLAP_H

#include "base/memory.h"

/* *shared: how many of the n rows of `rows` (n, width) are equal, number for number, to one of the m rows of
 * `among`. Time O((n + m) log m). ENOMEM. */
sotto_status record_overlap(size_t *shared, const float *rows, size_t n, const float *among, size_t m,
                            size_t width);

#endif
