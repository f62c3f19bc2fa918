/* special.h - the few special functions behind the closed forms, as intervals that hold the true value. */
#ifndef NUM_SPECIAL_H
#define NUM_SPECIAL_H

#include "num/interval.h"

#include <stdbool.h>

/** h(x) = ln(sinh(x) / x), x >= 0: increasing, x^2/6 near 0, x - ln(2x) far out. */
struct interval log_sinhc(struct interval x);
/** Standard normal distribution function. */
struct interval normal_cdf(struct interval x);
/** Mills ratio (1 - Phi(x)) / phi(x) for x >= 0: decreasing, 1/x far out. */
struct interval mills_ratio(struct interval x);
/** Mills ratio in double, to about 1e-13 relative. */
double mills_near(double x);
/** Standard normal density; x any sign. */
struct interval normal_density(struct interval x);

/** Bisection with a guaranteed side. `holds(x, arg)` is false at *low and true at *high (low < high, both >
 * 0); on return it was true at the value returned, which is within 2^-50 of where it changes (if it changes
 * once). */
double bisect_up(double low, double high, bool (*holds)(double x, const void *arg), const void *arg);
/** Where a function with one minimum over ln(x - offset) is smallest on [low, high]; plain search, no
 * guarantee needed: the caller evaluates its bound at the point found. */
double minimise_log(double low, double high, double offset, double (*f)(double x, const void *arg),
                    const void *arg);

#endif
