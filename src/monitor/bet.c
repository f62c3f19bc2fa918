#include "monitor/bet.h"

#include <math.h>

/* Above .9 numerator and denominator vanish together: both divided by (1 - p)^2, as series and by log1p(). */
static double log_near_one(double u)
{
    double sum = 0, power = 1, slope = u > 0 ? -log1p(-u) / u : 1;
    for (int j = 0; j < 18; j++, power *= u)
        sum += power / ((j + 1.0) * (j + 2.0));
    return log(sum / ((1 - u) * slope * slope));
}

double bet_log(double p)
{
    double l = log(p);
    return p > 0.9 ? log_near_one(1 - p) : log1p(p * l - p) - l - 2 * log(-l);
}

size_t bet_fewest(size_t calibration, double log_threshold)
{
    size_t blocks = 0;
    for (double wealth = 0; wealth < log_threshold; blocks++)
        wealth += bet_log(1 / ((double)calibration + (double)blocks + 1));
    return blocks;
}
