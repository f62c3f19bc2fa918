/* resolution.h - rounded probabilities: the step that they were rounded to.
 *
 * A posterior that was rounded to 1 has a log odds of "at least", not of 69 (the logarithm of a clamp at 1e-30): one such
 * value ruins the mean and the spread that a likelihood ratio is made of. Clamped at half a step, for target and
 * references alike, it is the value that it may have had. */
#ifndef AUDIT_SCORE_RESOLUTION_H
#define AUDIT_SCORE_RESOLUTION_H

#include "base/memory.h"

/* What is still possible for the values seen so far. Start with resolution_start(). */
struct resolution {
    double smallest;  /* positive value */
    bool zeros, half; /* exact zeros occur; all are float16 numbers */
    int decimals;     /* fewest that all have; more than RESOLUTION_DECIMALS: no common number */
    size_t between;   /* values other than 0 and 1 */
};
enum { RESOLUTION_DECIMALS = 6, RESOLUTION_LEAST = 50 };
struct resolution resolution_start(void);
void resolution_see(struct resolution *r, const double *p, size_t n);
void resolution_see_single(struct resolution *r, const float *p, size_t n);
/* The step: a power of ten (down to 1e-6), the smallest float16 number, or, where values stop at exact zeros, the smallest
 * positive one. 0: not rounded, or fewer than RESOLUTION_LEAST values between 0 and 1 to tell by. */
double resolution_step(const struct resolution *r);
/* By how much a row of `classes` rounded probabilities may miss a sum of 1. */
double resolution_slack(double step, size_t classes);

#endif
