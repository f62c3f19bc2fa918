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

static double log_sum(double a, double b)
{
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

double wealth_bet(struct wealth *w, double p)
{
    const double kept = -log((double)++w->blocks),
                 next = -log((double)w->blocks + 1); /* the shares of s >= t: 1 / t */
    const double share = kept + next;
    w->log_bet = (w->blocks == 1 ? share : log_sum(w->log_bet, share)) + bet_log(p);
    return log_sum(w->log_bet, next);
}

size_t bet_fewest(size_t calibration, double log_threshold)
{
    struct wealth w = {0};
    for (double log_wealth = 0; log_wealth < log_threshold;)
        log_wealth = wealth_bet(&w, 1 / ((double)calibration + (double)w.blocks + 1));
    return w.blocks;
}
