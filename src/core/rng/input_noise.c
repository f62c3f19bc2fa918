#include "rng/input_noise.h"

#include <math.h>

/* Uniform in (0, 1), neither end. */
static double inner_unit(struct rng *r)
{
    return ((double)(rng_u64(r) >> 11) + 0.5) * 0x1p-53;
}

static float input_noise_moved(float x, double scale, double z)
{
    return (float)((double)x + scale * z);
}

/* Box-Muller, two at a time. */
static void add_gaussian(float *out, const float *x, size_t n, double scale, struct rng *r)
{
    for (size_t i = 0; i < n; i += 2) {
        double radius = sqrt(-2 * log(inner_unit(r))), angle = 2 * M_PI * inner_unit(r);
        out[i] = input_noise_moved(x[i], scale, radius * cos(angle));
        if (i + 1 < n)
            out[i + 1] = input_noise_moved(x[i + 1], scale, radius * sin(angle));
    }
}

static double draw_laplace(struct rng *r)
{
    double u = 2 * inner_unit(r) - 1;
    return u < 0 ? log1p(u) : -log1p(-u);
}

static double draw_logistic(struct rng *r)
{
    double u = inner_unit(r);
    return log(u) - log1p(-u);
}

void input_noise_add(float *out, const float *x, size_t n, enum input_noise law, double scale, struct rng *r)
{
    if (law == INPUT_NOISE_GAUSSIAN)
        add_gaussian(out, x, n, scale, r);
    else
        for (size_t i = 0; i < n; i++)
            out[i] = input_noise_moved(x[i], scale,
                                       law == INPUT_NOISE_LAPLACE ? draw_laplace(r) : draw_logistic(r));
}
