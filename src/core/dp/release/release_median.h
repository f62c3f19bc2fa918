/* release_median.h - the noise of a median: how wide, and on which lattice. */
#ifndef DP_RELEASE_RELEASE_MEDIAN_H
#define DP_RELEASE_RELEASE_MEDIAN_H

#include "dp/noise/lattice.h"

/** As private as the values, but for the lattice, which follows the range alone. */
struct median_plan {
    struct lattice lattice;
    int128 median; /* in steps */
    double width;  /* of the noise, in steps; a whole number */
};
/** EINVAL: a range or no values; EDOMAIN: epsilon is too small; ENOMEM, ESTOPPED. */
sotto_status median_plan(struct median_plan *out, const double *x, size_t n, double low, double high,
                         double epsilon, const struct sotto_context *ctx);

#endif
