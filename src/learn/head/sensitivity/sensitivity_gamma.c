#include "head/sensitivity/sensitivity_gamma.h"

#include <math.h>

double lambert_lower(double x)
{
    /* With u = -w >= 1: ln u - u = ln(-x). Newton from the expansion at the branch point, which lies below
     * the root's far side only slightly, so the iteration converges in a handful of steps. */
    double target = log(-x), p = sqrt(fmax(0.0, -2.0 * (1.0 + target)));
    double u = 1.0 + p + p * p / 6.0;
    for (int i = 0; i < 60; i++) {
        if (u <= 1.0)
            return -1.0;
        double step = (log(u) - u - target) / (1.0 / u - 1.0);
        double next = u - step;
        if (next < 1.0)
            next = 0.5 * (u + 1.0);
        if (fabs(next - u) <= 1e-15 * u)
            return -next;
        u = next;
    }
    return -u;
}

double gamma_dkw(size_t m)
{
    double log_rho = 0.5 * lambert_lower(-0.25 / (double)m);
    double gamma = exp(log_rho) + sqrt(-log_rho / (2.0 * (double)m));
    return gamma < 1.0 ? gamma : 1.0;
}

double gamma_exchangeable(size_t m)
{
    return 1.0 / ((double)m + 1.0);
}

double gamma_tolerance(size_t m, double confidence)
{
    return -expm1(log1p(-confidence) / (double)m);
}
