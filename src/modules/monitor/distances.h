/* distances.h - the monitor's one loop of weight: a row against a table of rows. */
#ifndef MONITOR_DISTANCES_H
#define MONITOR_DISTANCES_H

#include "base/cpu.h"

#include <stddef.h>

/** out (n): squared L2 distances of row (d) to the rows of table (n, d). In f32, the same bits at every level; infinite
 *  where f32 overflows. */
typedef void monitor_distances(float *out, const float *row, const float *table, size_t n, size_t d);
monitor_distances *monitor_distances_best(void);

#endif
