/* attriguard_sample.h - AttriGuard's second phase: which of several changes to make, by chance, within a budget. */
#ifndef DEFEND_ATTRIGUARD_SAMPLE_H
#define DEFEND_ATTRIGUARD_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* q (n) minimises KL(prior || q) subject to sum q_i cost_i <= budget and sum q_i = 1:
 *
 *     q = prior if that fits, else q_i = prior_i / (1 + mu (cost_i - budget)),
 *
 * mu > 0 from sum q_i = 1. prior: sums to 1 over the values of finite cost; the others get 0. False, q
 * untouched: nothing with a positive prior costs as little as the budget. Source: Jia and Gong 2018, section
 * 5; with mu found by bisection on (0, 1 / (budget - least cost)), where the sum is convex, 1 at 0 and falls
 * at first. */
bool attriguard_sample(double *q, const double *prior, const double *cost, size_t n, double budget);

#endif
