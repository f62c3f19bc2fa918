/* From Renyi divergence to (epsilon, delta). Any order is valid, so the search for the best one is plain
 * double arithmetic and only the final evaluation is rounded. */
#include "dp/mechanism/renyi.h"

#include "num/special.h"

struct interval renyi_to_epsilon(struct interval renyi, double alpha, double delta)
{
    struct interval less = iv_sub(iv(alpha), iv(1));
    struct interval gain = iv_log1p(iv_neg(iv_div(iv(1), iv(alpha))));
    struct interval price = iv_div(iv_add(iv_log(iv(delta)), iv_log(iv(alpha))), less);
    return iv_max(iv_sub(iv_add(renyi, gain), price), iv(0));
}

struct objective {
    struct interval (*curve)(double alpha, const void *arg);
    const void *arg;
    double delta;
};

static double renyi_upper(double alpha, const void *arg)
{
    const struct objective *o = arg;
    return renyi_to_epsilon(o->curve(alpha, o->arg), alpha, o->delta).hi;
}

double renyi_curve_epsilon(struct interval (*curve)(double alpha, const void *arg), const void *arg,
                           double delta)
{
    const struct objective o = {curve, arg, delta};
    double best = minimise_log(1 + 1e-7, 1e15, 1, renyi_upper, &o);
    return renyi_upper(best, &o);
}

static struct interval renyi_line(double alpha, const void *rho)
{
    return iv_mul(iv(*(const double *)rho), iv(alpha));
}

double zcdp_epsilon(double rho, double delta)
{
    return renyi_curve_epsilon(renyi_line, &rho, delta);
}
