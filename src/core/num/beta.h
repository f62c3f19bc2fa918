/* beta.h - the incomplete beta function, its inverse, and the two quantiles that intervals need from it. */
#ifndef NUM_BETA_H
#define NUM_BETA_H

/** I_x(a, b), the distribution function of Beta(a, b), and its complement; each keeps its own digits.
 *  a, b > 0; x in [0, 1]. Relative error about 1e-13 for a + b up to 1e9. Source: DLMF 8.17.22. */
struct beta_tails {
    double lower, upper;
};
struct beta_tails beta_cdf(double x, double a, double b);
/** What beta_cdf() takes from a and b alone, for many x with the same bits. */
struct beta_law {
    double a, b, root, rest;
};
struct beta_law beta_law_make(double a, double b);
struct beta_tails beta_law_cdf(const struct beta_law *law, double x);
/** x with I_x(a, b) = p, p in [0, 1]. */
double beta_quantile(double p, double a, double b);

/** Two-sided Clopper-Pearson interval of k successes in n trials (0 <= k <= n, n > 0; k need not be whole).
 *  Source: Clopper and Pearson 1934; as beta quantiles, attacks.md 2.14 of the specification. */
void clopper_pearson(double *lower, double *upper, double k, double n, double confidence);
/** One end of it. */
double clopper_pearson_lower(double k, double n, double confidence);
double clopper_pearson_upper(double k, double n, double confidence);
/** Quantile of Student's t, p in (0, 1), degrees of freedom > 0 (need not be whole). */
double student_quantile(double p, double degrees);

#endif
