/* Where a curve ends, and grids of multiples of a step. */
#include "dp/pld/pld.h"

#include "base/memory.h"

static const double most_points = 0x1p24;

void pld_grid_free(struct pld_grid *g)
{
    base_free(g->index);
    *g = (struct pld_grid){0};
}

double pld_round_step(double step, double range)
{
    int exponent;
    frexp(range, &exponent); /* 2 range < 2^(exponent + 1): 53 bits reach down to 2^(exponent - 52) */
    double unit = ldexp(1, exponent - 51);
    return floor(step / unit) * unit;
}

static double value_at(const struct pair *pair, double epsilon)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    return p.value.hi;
}

/* The loss of sign `side` nearest to 0 with value <= cut, to 1 %. */
static double end_of(const struct pair *pair, double cut, double side)
{
    double far = 1e-12;
    while (far < 1e12 && value_at(pair, side * far) > cut)
        far *= 2;
    double near = far / 2;
    for (int i = 0; i < 7; i++) {
        double middle = (near + far) / 2;
        if (value_at(pair, side * middle) > cut)
            near = middle;
        else
            far = middle;
    }
    return side * far;
}

struct pld_range pld_find_range(const struct pair *pair, double cut)
{
    return (struct pld_range){end_of(pair, cut, -1), end_of(pair, cut, 1)};
}

sotto_status pld_grid_make(struct pld_grid *out, struct pld_range range, double step)
{
    sotto_status status = SOTTO_OK;
    double first = fmin(floor(range.low / step), -1), last = fmax(ceil(range.high / step), 1);
    if (!(last - first < most_points))
        FAIL(SOTTO_EDOMAIN, "a privacy-loss distribution of %g points does not fit in memory", last - first);
    struct pld_grid g = {.step = step, .n = (size_t)(last - first) + 1};
    NEW(g.index, g.n);
    for (size_t i = 0; i < g.n; i++)
        g.index[i] = (int64_t)first + (int64_t)i;
    *out = g;
done:
    return status;
}
