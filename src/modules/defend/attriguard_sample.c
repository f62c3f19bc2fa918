#include "defend/attriguard_sample.h"

#include <math.h>

static double attriguard_sample_total(const double *prior, const double *cost, size_t n, double budget,
                                      double mu)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += prior[i] > 0 ? prior[i] / (1 + mu * (cost[i] - budget)) : 0;
    return sum;
}

/* All mass on the values of least cost: the only solution when the budget allows no more. */
static void attriguard_sample_cheapest(double *q, const double *prior, const double *cost, size_t n,
                                       double least)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += q[i] = prior[i] > 0 && cost[i] <= least ? prior[i] : 0;
    for (size_t i = 0; i < n; i++)
        q[i] /= sum;
}

bool attriguard_sample(double *q, const double *prior, const double *cost, size_t n, double budget)
{
    double least = INFINITY, mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (prior[i] > 0) {
            least = fmin(least, cost[i]);
            mean += prior[i] * cost[i];
        }
    if (!(least <= budget))
        return false;
    if (mean <= budget) {
        for (size_t i = 0; i < n; i++)
            q[i] = prior[i];
        return true;
    }
    if (least == budget) {
        attriguard_sample_cheapest(q, prior, cost, n, least);
        return true;
    }
    double low = 0, high = 1 / (budget - least);
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (attriguard_sample_total(prior, cost, n, budget, middle) > 1)
            high = middle;
        else
            low = middle;
    }
    for (size_t i = 0; i < n; i++)
        sum += q[i] = prior[i] > 0 ? prior[i] / (1 + low * (cost[i] - budget)) : 0;
    for (size_t i = 0; i < n; i++)
        q[i] /= sum;
    return true;
}
