/* ask_interval.h - intervals: of the noise, and of sampling. */
#ifndef ASK_ASK_INTERVAL_H
#define ASK_ASK_INTERVAL_H

#include "ask/ask_agree.h"

/** The probability that |a Z + b W| is at least t, for two draws of the noise at scale 1; a, b >= 0, not both 0. */
double ask_tail(double a, double b, double t, bool gaussian);
/** Half the width around a H + b L, two cells whose noise has that scale, which misses with probability `rare`. */
double ask_half_width(double a, double b, double scale, double rare, bool gaussian);
/** A combination of sums, weights (ASK_POWERS), and the deviation of its noise. */
double ask_combine(const double *weights, const struct ask_moments *m);
double ask_combined_deviation(const double *weights, const struct ask_moments *m);
/** With probability `rare`, at most 5 %, noise is beyond so many deviations. Pure noise: for one draw, which has the heaviest tail there. */
double ask_deviations(double rare, bool gaussian);
/** All values v in [low, high] at which the sum of weights less v for each row is no surprise: one that has a probability below `rare`.
 *  False: too few rows to say, and all of [low, high]. */
bool ask_mean_interval(double out[2], const struct ask_moments *m, const double *weights, double low,
                       double high, double rare, bool gaussian);
/** Of a variance of shares, or (pair) of a covariance; it misses with probability `rare` at most: docs/derivations/ask.md. */
bool ask_moment_interval(double out[2], const struct ask_moments *m, bool pair, double rare, bool gaussian);
/** Makes an interval of noise around a mean of n numbers in [low, high] one of their population too, which they are a sample of. It misses
 *  with probability `rare`, about, or less often: their variance is at most that of numbers at both ends alone. */
void ask_add_sampling(double ends[2], double mean, double low, double high, double n, double rare);

#endif
