/* bootstrap.h - stratified bootstrap of the true-positive rate at a false-positive rate, the threshold chosen
 * again in every draw.
 *
 * Resampling n sorted scores with replacement makes the (k+1)-th highest the record at rank floor(n U), U the
 * (k+1)-th smallest of n uniforms, Beta(k + 1, n - k); the members above it are then Binomial(m, their
 * share). Both are drawn directly: the distribution is that of resampling all records, ties included, at a
 * cost that does not grow with them. */
#ifndef AUDIT_MEASURE_BOOTSTRAP_H
#define AUDIT_MEASURE_BOOTSTRAP_H

#include "audit/measure/metrics.h"
#include "rng/rng.h"

/* One draw of the rate, in [0, 1]. */
double bootstrap_tpr_draw(const struct roc *c, double fpr, struct rng *r);
/* Percentile interval of `draws` draws around the rate of the curve itself. Draw i is a function of (seed,
 * stream, i). ENOMEM. */
sotto_status bootstrap_tpr(struct sotto_estimate *out, const struct roc *c, double fpr, size_t draws,
                           double confidence, uint64_t seed, uint64_t stream,
                           const struct sotto_context *ctx);
/* Sorts the draws and reads the percentile interval off. */
void bootstrap_percentiles(struct sotto_estimate *out, double *draws, size_t count, double *scratch,
                           double confidence);

/* Exact samplers by comparison and rejection (Marsaglia and Tsang 2000; Ahrens and Dieter 1974). a, b >=
 * 1. */
double bootstrap_beta(double a, double b, struct rng *r);
size_t bootstrap_binomial(size_t n, double p, struct rng *r);

#endif
