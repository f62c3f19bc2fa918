/* renyi.h - from Renyi divergence and zCDP to epsilon. */
#ifndef DP_MECHANISM_RENYI_H
#define DP_MECHANISM_RENYI_H

#include "num/interval.h"

/** eps = R_alpha + ln(1 - 1/alpha) - (ln delta + ln alpha)/(alpha - 1)
 *  (Canonne, Kamath, Steinke 2020, prop. 12). */
struct interval renyi_to_epsilon(struct interval renyi, double alpha, double delta);
/** Upper bound at the best order alpha > 1 of a curve that is itself an upper bound at every order. */
double renyi_curve_epsilon(struct interval (*curve)(double alpha, const void *arg), const void *arg,
                           double delta);
/** The same for rho-zCDP. */
double zcdp_epsilon(double rho, double delta);

#endif
