/* ask_interval.h - 95 % intervals of noisy cells: of the noise alone, exact in law. */
#ifndef ASK_ASK_INTERVAL_H
#define ASK_ASK_INTERVAL_H

#include <stdbool.h>

/** The probability that |a Z + b W| is at least t, for two draws of the noise at scale 1; a, b >= 0, not both 0. */
double ask_tail(double a, double b, double t, bool gaussian);
/** Half the width around a H + b L, two cells whose noise has that scale. */
double ask_half_width(double a, double b, double scale, bool gaussian);
/** All shares m in [0, 1] at which H (1 - m) - L m is no surprise, H and L being cells whose noise has that scale. False: too few
 * rows to say, and all of [0, 1]. */
bool ask_share_interval(double out[2], double h, double l, double scale, bool gaussian);

#endif
