/* One release: its curve itself is known, at every epsilon. */
#include "dp/pld/pld.h"
#include "num/special.h"

struct question {
    const struct pair *pair;
    double delta;
};

static struct interval value_at(const struct pair *pair, double epsilon)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    return p.value;
}

static bool upper_holds(double epsilon, const void *arg)
{
    const struct question *q = arg;
    return value_at(q->pair, epsilon).hi <= q->delta;
}

static bool lower_holds(double epsilon, const void *arg)
{
    const struct question *q = arg;
    return value_at(q->pair, epsilon).lo <= q->delta;
}

/* An epsilon that holds, next to one that does not. */
static double pld_single_first(bool (*holds)(double epsilon, const void *arg), const struct question *q)
{
    double far = 1e-12;
    while (far < 1e12 && !holds(far, q))
        far *= 2;
    return far < 1e12 ? bisect_up(far / 2, far, holds, q) : INFINITY;
}

struct interval pld_single_epsilon(const struct pair *upper, const struct pair *lower, double delta)
{
    const struct question above = {upper, delta}, below = {lower, delta};
    struct interval answer = {0, pld_single_first(upper_holds, &above)};
    double near = fmin(pld_single_first(lower_holds, &below), answer.hi);
    for (double out = 0x1p-50; out < 1 && answer.lo == 0; out *= 4)
        if (!lower_holds(near * (1 - out), &below))
            answer.lo = near * (1 - out);
    return answer;
}
