/* epsilon_bounds.h - what a successful attack proves about the mechanism: lower bounds on epsilon. */
#ifndef AUDIT_MEASURE_EPSILON_BOUNDS_H
#define AUDIT_MEASURE_EPSILON_BOUNDS_H

#include "audit/measure/metrics.h"

/* Runs whose data differ by a group of `group` records (Jagielski, Ullman and Oprea 2020): the largest
 * epsilon of one record for which group privacy, (group epsilon, delta (e^(group epsilon) - 1) / (e^epsilon -
 * 1)), is refuted by the rates. group 1 is rates_epsilon(). */
double epsilon_of_group(const struct rates *r, double delta, size_t group);

/* One run, m records included by independent fair coins, r guesses of which v were right (Steinke, Nasr and
 * Jagielski 2023, theorem 5.2): the p-value of (epsilon, delta), and the largest epsilon that it refutes at
 * `confidence`. */
double one_run_p(double epsilon, double delta, size_t m, size_t r, size_t v);
double one_run_epsilon(double delta, size_t m, size_t r, size_t v, double confidence);

/* Fisher's exact conditional interval of ln(odds ratio) of hits among n1 against false alarms among n0, and
 * the conditional maximum-likelihood estimate; ends may be infinite. For additive logistic noise the odds
 * ratio of true and false positive rate is the same at every threshold and at most e^a. ENOMEM. */
sotto_status odds_ratio_interval(struct sotto_estimate *out, size_t hits, size_t n1, size_t false_alarms,
                                 size_t n0, double confidence);

#endif
