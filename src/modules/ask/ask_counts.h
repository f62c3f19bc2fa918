/* ask_counts.h - counts as they are possible, from noisy ones: after the noise, so free. */
#ifndef ASK_ASK_COUNTS_H
#define ASK_ASK_COUNTS_H

#include "base/status.h"

#include <stddef.h>

/** The nearest counts (n) that are at least 0 and add up to `total` >= 0. ENOMEM. */
sotto_status ask_counts_project(double *counts, size_t n, double total);
/** Whole numbers next to counts (n) >= 0 whose sum is that of the counts, rounded: those with the largest remainders go up, of equal ones
 * the first. ENOMEM. */
sotto_status ask_counts_round(double *counts, size_t n);

#endif
