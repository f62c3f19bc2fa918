/* sample_distances.h - L2 distances between records and the samples of a generator: the nearest sample of each record, and
 * how many lie within a radius.
 *
 * Differences are squared one by one in single precision, so near copies keep their digits (the form
 * |x|^2 + |g|^2 - 2 x.g loses them all); what decides a result is computed again in double. */
#ifndef AUDIT_SCORE_SAMPLE_DISTANCES_H
#define AUDIT_SCORE_SAMPLE_DISTANCES_H

#include "base/cpu.h"
#include "base/memory.h"

struct sample_pairs {
    const float *records; /* (n, width) */
    const float *samples; /* (k, width) */
    size_t n, k, width;
    const struct sotto_context *ctx; /* asked whether to stop; or NULL */
};
/* nearest (n): L2 distance to the nearest sample; which (n): its row, the first of equal ones; may be NULL. ENOMEM,
 * ESTOPPED. */
sotto_status sample_nearest(double *nearest, size_t *which, const struct sample_pairs *p);
/* Over the samples within `radius` of a record: share (n), how many of k; closeness (n), the sum of
 * ln((radius + 1e-12) / (d + 1e-12)) / k. Either may be NULL. ENOMEM, ESTOPPED. */
sotto_status sample_within(double *share, double *closeness, double radius, const struct sample_pairs *p);
/* The q-quantile of all n k distances, in single precision. ENOMEM, ESTOPPED. */
sotto_status sample_quantile(double *out, double q, const struct sample_pairs *p);

enum { SAMPLE_GROUP = 4 }; /* records that share one pass over the samples */
/* squared (SAMPLE_GROUP, count) of four records and `count` samples. The same bits at every level. */
typedef void sample_kernel(float *squared, const float *const records[SAMPLE_GROUP], const float *samples,
                           size_t count, size_t width);
sample_kernel *sample_kernel_best(void);

#endif
