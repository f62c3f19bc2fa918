/* bayes_interval.h - what the error counts of one threshold say of epsilon under a prior. */
#ifndef AUDIT_MEASURE_BAYES_INTERVAL_H
#define AUDIT_MEASURE_BAYES_INTERVAL_H

#include "sotto/base.h"

#include <stddef.h>

/** The equal-tailed credible interval of epsilon at delta, and its median (Zanella-Beguelin et al. 2023, section 4): both
 *  error rates have independent Jeffreys priors, Beta(1/2, 1/2), and epsilon is the smallest one whose region of (false
 *  positive rate, false negative rate) holds them. It is a posterior, not a bound that fails with a stated probability.
 *
 *  In:  hits of n1 members and false_alarms of n0 non-members above a threshold that was not chosen on them */
struct sotto_estimate bayes_epsilon(size_t hits, size_t n1, size_t false_alarms, size_t n0, double delta,
                                    double confidence);

#endif
