/* random_forest.h - a forest of classification trees (Breiman 2001), for attackers whose shadow is one.
 *
 * Each tree grows on a bootstrap sample until its leaves are pure, at each node by the best Gini split among
 * sqrt(d) columns drawn at random; a record's posterior is the mean of the shares in the leaves it falls
 * into. Columns are cut into at most FOREST_BINS bins of equal count first, so zeros and ones cost two. The
 * same seed gives the same forest on any number of threads. */
#ifndef AUDIT_FIT_RANDOM_FOREST_H
#define AUDIT_FIT_RANDOM_FOREST_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { FOREST_TREES = 100, FOREST_BINS = 16 };

/** Records and labels, borrowed. */
struct forest_data {
    const float *x;   /* (n, d) */
    const int64_t *y; /* (n), 0 .. classes - 1 */
    size_t n, d, classes;
};

struct random_forest;
/* EINVAL: no record; ENOMEM, ESTOPPED. */
sotto_status random_forest_fit(struct random_forest **out, const struct forest_data *data, size_t trees,
                               uint64_t seed, const struct sotto_context *ctx);
/* posteriors (n, classes) of x (n, d). */
void random_forest_predict(float *posteriors, const struct random_forest *f, const float *x, size_t n);
void random_forest_free(struct random_forest *f);

#endif
