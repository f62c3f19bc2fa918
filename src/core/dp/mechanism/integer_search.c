/* The root of ln(delta / target) by regula falsi (Illinois) on the upper ends, plain double arithmetic; then
 * both ends step outwards from it until the intervals say that the truth lies between them. */
#include "dp/mechanism/integer_search.h"

#include <stdbool.h>

static double integer_search_excess(double delta, double target)
{
    return log(fmax(delta, 1e-320)) - log(target);
}

struct question {
    struct interval (*delta)(double steps, struct interval step, double epsilon);
    double steps;
    struct interval step;
    double target, root;
    int side; /* 1: epsilon with a delta surely small enough; -1: with one surely too large */
};

static bool integer_search_surely(const struct question *q, double out)
{
    struct interval d = q->delta(q->steps, q->step, q->root * (1 + q->side * out));
    return q->side > 0 ? d.hi <= q->target : d.lo > q->target;
}

/* Steps out until the answer is sure, then halves the last step back a few times: the curve has kinks where
 * one side needs far longer steps than the other. */
static double step_out(const struct question *q)
{
    double out = 0x1p-50, before = 0;
    while (!integer_search_surely(q, out)) {
        before = out;
        out *= 4;
        if (out > 1)
            return q->side > 0 ? INFINITY : 0;
    }
    for (int i = 0; before > 0 && i < 12; i++) {
        double middle = (before + out) / 2;
        if (integer_search_surely(q, middle))
            out = middle;
        else
            before = middle;
    }
    return q->root * (1 + q->side * out);
}

struct interval integer_epsilon(struct interval (*delta)(double steps, struct interval step, double epsilon),
                                double steps, struct interval step, double target, double most)
{
    struct interval answer = {0, INFINITY};
    double low = 0, high = most, root = most;
    double above = integer_search_excess(delta(steps, step, low).hi, target),
           below = integer_search_excess(delta(steps, step, high).hi, target);
    if (above <= 0)
        return iv(0);
    for (int i = 0, side = 0; i < 100 && below < 0 && high - low > root * 0x1p-50; i++) {
        double next = low + (high - low) * (above / (above - below));
        root = next > low && next < high ? next : low + (high - low) / 2;
        double here = integer_search_excess(delta(steps, step, root).hi, target);
        if (fabs(here) < 0x1p-50)
            break;
        if (here > 0) {
            low = root;
            above = here;
            below = side == 1 ? below / 2 : below;
            side = 1;
        } else {
            high = root;
            below = here;
            above = side == -1 ? above / 2 : above;
            side = -1;
        }
    }
    answer.hi = step_out(&(struct question){delta, steps, step, target, root, 1});
    answer.lo = step_out(&(struct question){delta, steps, step, target, root, -1});
    return answer;
}

struct best_event best_of(struct best_event a, struct best_event b)
{
    struct best_event best = b.delta.lo > a.delta.lo ? b : a;
    best.delta = iv_min(iv_max(a.delta, b.delta), iv(1));
    return best;
}
