#include "audit/measure/newcombe.h"

#include <math.h>

static struct sotto_estimate newcombe_wilson(size_t right, size_t n, double z)
{
    const double all = (double)n, p = (double)right / all, middle = p + z * z / (2 * all),
                 half = z * sqrt(p * (1 - p) / all + z * z / (4 * all * all)), by = 1 + z * z / all;
    return (struct sotto_estimate){p, fmax(0, (middle - half) / by), fmin(1, (middle + half) / by)};
}

struct sotto_estimate newcombe(const size_t right[2], const size_t n[2], double z)
{
    const struct sotto_estimate a = newcombe_wilson(right[0], n[0], z),
                                b = newcombe_wilson(right[1], n[1], z);
    const double d = a.estimate - b.estimate;
    return (struct sotto_estimate){d, d - hypot(a.estimate - a.lower, b.upper - b.estimate),
                                   d + hypot(a.upper - a.estimate, b.estimate - b.lower)};
}
