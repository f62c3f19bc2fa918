/* ask_interval.h - 95 % intervals of noisy cells: of the noise alone, exact in law. */
#ifndef ASK_ASK_INTERVAL_H
#define ASK_ASK_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

/** The probability that |a Z + b W| is at least t, for two draws of the noise at scale 1; a, b >= 0, not both 0. */
double ask_tail(double a, double b, double t, bool gaussian);
/** Half the width around a H + b L, two cells whose noise has that scale. */
double ask_half_width(double a, double b, double scale, bool gaussian);
/** All shares m in [0, 1] at which H (1 - m) - L m is no surprise, H and L being cells whose noise has that scale. False: too few
 * rows to say, and all of [0, 1]. */
bool ask_share_interval(double out[2], double h, double l, double scale, bool gaussian);

enum { ASK_PARTS = 4 };
/** Numbers that cells stand for, and the cells: means of them are quotients of sums. */
struct ask_parts {
    size_t count;
    double cells[ASK_PARTS], numbers[ASK_PARTS];
};
/** All values v in [low, high] at which the sum of (number - v) times its cell is no surprise: one that has a probability below `rare`.
 *  False: too few rows to say, and all of [low, high]. */
bool ask_mean_interval(double out[2], const struct ask_parts *p, double low, double high, double rare,
                       double scale, bool gaussian);
/** 95 % of a variance of shares, or (pair) of a covariance, from their cells in this order: docs/derivations/ask.md. */
bool ask_moment_interval(double out[2], const double *cells, bool pair, double scale, bool gaussian);

#endif
