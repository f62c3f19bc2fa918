/* The root of ln(delta / target) by regula falsi (Illinois) on the upper ends, plain double arithmetic; then
 * both ends step outwards from it until the intervals say that the truth lies between them. */
#include "dp/integer_search.h"

static double excess(double delta, double target)
{
    return log(fmax(delta, 1e-320)) - log(target);
}

struct interval integer_epsilon(struct interval (*delta)(double steps, struct interval step, double epsilon),
                                double steps, struct interval step, double target, double most)
{
    struct interval answer = {0, INFINITY};
    double low = 0, high = most, root = most;
    double above = excess(delta(steps, step, low).hi, target),
           below = excess(delta(steps, step, high).hi, target);
    if (above <= 0)
        return iv(0);
    for (int i = 0, side = 0; i < 100 && below < 0 && high - low > root * 0x1p-50; i++) {
        double next = low + (high - low) * (above / (above - below));
        root = next > low && next < high ? next : low + (high - low) / 2;
        double here = excess(delta(steps, step, root).hi, target);
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
    for (double out = 0x1p-50; out <= 1; out *= 4)
        if (delta(steps, step, root * (1 + out)).hi <= target) {
            answer.hi = root * (1 + out);
            break;
        }
    for (double out = 0x1p-50; out < 1; out *= 4)
        if (delta(steps, step, root * (1 - out)).lo > target) {
            answer.lo = root * (1 - out);
            break;
        }
    return answer;
}
