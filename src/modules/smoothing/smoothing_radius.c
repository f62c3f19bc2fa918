/* Radii from the probability of an answer. A shift of L2 norm R (Gaussian) or of L1 norm R (others) lowers it to at least
 * F(F^-1(p) - R), so it stays above 1/2 while R < F^-1(p). */
#include "num/binomial.h"
#include "num/interval.h"
#include "num/special.h"
#include "smoothing/smoothing_private.h"

#include <math.h>

double smoothing_radius(enum sotto_smoothing_noise noise, double sigma, double p)
{
    double z = noise == SOTTO_SMOOTHING_GAUSSIAN  ? normal_quantile_below(p)
               : noise == SOTTO_SMOOTHING_LAPLACE ? laplace_quantile_below(p)
                                                  : logistic_quantile_below(p);
    return z > 0 ? fmax(0, iv_scale(iv(z), sigma).lo) : 0;
}

/* -L / sigma at this epsilon, for the largest delta that the answer's probability allows. */
static double negative_radius(double epsilon, const void *arg)
{
    double p = *(const double *)arg;
    double delta = (p - exp(2 * epsilon) * (1 - p)) / (1 + exp(epsilon));
    return delta > 0 ? -epsilon / sqrt(2 * log(1.25 / delta)) : 0;
}

double smoothing_pixeldp(enum sotto_smoothing_noise noise, double sigma, double p)
{
    if (!(p > 0.5))
        return 0;
    p = fmin(p, next_down(1));
    double most = log(p / (1 - p)) / 2; /* delta 0 */
    if (noise != SOTTO_SMOOTHING_GAUSSIAN)
        return sigma * most;
    double epsilon = minimise_log(1e-9 * fmin(1, most), fmin(1, most), 0, negative_radius, &p);
    return sigma * -negative_radius(epsilon, &p);
}
