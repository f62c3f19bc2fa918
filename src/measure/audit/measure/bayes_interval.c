/* Of the region of (epsilon, delta), with E = e^epsilon, all is left out that has E x + y < 1 - d or x + E y < 1 - d, x and y the
 * false positive and false negative rates, and the same with 1 - x and 1 - y; the two do not meet. With c = (1 - d) / (1 + E)
 *   P(E X + Y < 1 - d or X + E Y < 1 - d)
 *     = E_X F_Y(min(c, (1 - d - X) / E)) + E_Y F_X(min(c, (1 - d - Y) / E)) - F_X(c) F_Y(c),
 * where nothing jumps. Means are taken over quantiles at u = (1 - cos pi t) / 2, level at both ends of t. */
#include "audit/measure/bayes_interval.h"

#include "num/beta.h"

#include <math.h>

enum { NODES = 256 };
static const double pi = 3.14159265358979323846, largest = 64;

/* Of an error rate: Beta(a, b), its quantiles and their weights. */
struct posterior {
    struct beta_law law;
    double node[NODES], weight[NODES];
};

static void bayes_interval_prepare(struct posterior *p, size_t errors, size_t n)
{
    p->law = beta_law_make((double)errors + 0.5, (double)(n - errors) + 0.5);
    for (int i = 0; i < NODES; i++) {
        double t = (i + 0.5) / NODES;
        p->node[i] = beta_quantile((1 - cos(pi * t)) / 2, p->law.a, p->law.b);
        p->weight[i] = pi / 2 * sin(pi * t) / NODES;
    }
}

/* F(x), or with `turned` that of 1 - the rate. */
static double bayes_interval_below(const struct posterior *p, double x, int turned)
{
    double clipped = fmin(fmax(x, 0), 1);
    return turned ? beta_law_cdf(&p->law, 1 - clipped).upper : beta_law_cdf(&p->law, clipped).lower;
}

static double one_side(const struct posterior *x, const struct posterior *y, double delta, double grow,
                       int turned)
{
    const double corner = (1 - delta) / (1 + grow), at_corner = bayes_interval_below(y, corner, turned);
    double sum = 0;
    for (int i = 0; i < NODES; i++) {
        const double at = turned ? 1 - x->node[i] : x->node[i], edge = (1 - delta - at) / grow;
        sum += x->weight[i] * (edge < corner ? bayes_interval_below(y, edge, turned) : at_corner);
    }
    return sum;
}

/* P(epsilon <= e). */
static double bayes_interval_probability(const struct posterior p[2], double delta, double epsilon)
{
    double inside = 1, grow = exp(epsilon), corner = (1 - delta) / (1 + grow);
    for (int turned = 0; turned < 2; turned++)
        inside -= one_side(&p[0], &p[1], delta, grow, turned) + one_side(&p[1], &p[0], delta, grow, turned) -
                  bayes_interval_below(&p[0], corner, turned) * bayes_interval_below(&p[1], corner, turned);
    return inside;
}

static double bayes_interval_quantile(const struct posterior p[2], double delta, double share)
{
    double low = 0, high = largest;
    if (bayes_interval_probability(p, delta, 0) >= share)
        return 0;
    for (int i = 0; i < 40; i++) {
        double middle = low + (high - low) / 2;
        if (bayes_interval_probability(p, delta, middle) < share)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct sotto_estimate bayes_epsilon(size_t hits, size_t n1, size_t false_alarms, size_t n0, double delta,
                                    double confidence)
{
    struct posterior p[2];
    bayes_interval_prepare(&p[0], false_alarms, n0);
    bayes_interval_prepare(&p[1], n1 - hits, n1);
    return (struct sotto_estimate){bayes_interval_quantile(p, delta, 0.5),
                                   bayes_interval_quantile(p, delta, (1 - confidence) / 2),
                                   bayes_interval_quantile(p, delta, (1 + confidence) / 2)};
}
