/* effort.h - how much a test draws: SOTTO_EFFORT is 1 (make check), 5 (make check-landing) or 50 (make
 * check-night). It changes draws, runs, seeds and the density of grids, nothing else: exact tests do not ask.
 * Sample size and threshold move together, so that a negative control fails at each effort. */
#ifndef TESTS_EFFORT_H
#define TESTS_EFFORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int effort(void)
{
    const char *asked = getenv("SOTTO_EFFORT");
    if (!asked || !asked[0] || strcmp(asked, "1") == 0)
        return 1;
    if (strcmp(asked, "5") == 0)
        return 5;
    if (strcmp(asked, "50") == 0)
        return 50;
    fprintf(stderr, "SOTTO_EFFORT is '%s'; expected 1, 5 or 50\n", asked);
    exit(2);
}

/* One of three, by effort. */
static inline long by_effort(long check, long landing, long night)
{
    const int e = effort();
    return e == 1 ? check : e == 5 ? landing : night;
}

#endif
