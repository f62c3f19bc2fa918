/* In double: the direction is that of independent normal deviates (Box and Muller), the radius a sum of n exponential
 * deviates. With a proved error: |A| B for normal vectors A of n + 1 and B of n numbers has the same law, and normal
 * numbers come discretised to a lattice (docs/derivations/objective.md, section 4). */
#include "dp/noise/knorm.h"
#include "base/memory.h"
#include "dp/noise/discretised_noise.h"

#include <math.h>

void knorm_draw(double *noise, size_t n, double scale, struct noise *s)
{
    double square = 0, radius = 0;
    while (square == 0) /* all zero: practically never */
        for (size_t i = 0; i < n; i++) {
            double size = sqrt(-2 * log(noise_unit(s))), turn = 6.283185307179586476925 * noise_unit(s);
            noise[i] = size * cos(turn);
            square += noise[i] * noise[i];
        }
    for (size_t i = 0; i < n; i++)
        radius -= log(noise_unit(s));
    double factor = scale * radius / sqrt(square);
    for (size_t i = 0; i < n; i++)
        noise[i] *= factor;
}

enum { STEPS_BITS = 44 }; /* a standard deviation is 2^44 steps, the most that discretised noise allows */

static double knorm_normal(int128 k)
{
    return ((double)k + 0.5) * ldexp(1, -STEPS_BITS);
}

sotto_status knorm_draw_discretised(double *noise, const struct knorm_blocks *b, struct noise *s)
{
    sotto_status status = SOTTO_OK;
    const size_t n = b->width, each = 2 * n + 1;
    struct discretised_noise discretised = {0};
    int128 *k = NULL;
    NEW_ROWS(k, b->blocks, each);
    TRY(discretised_noise_open(&discretised, DISCRETISED_GAUSSIAN, ldexp(1, STEPS_BITS), false, s));
    TRY(discretised_noise_fill_wide(&discretised, k, 0, b->blocks * each, 1));
    for (size_t block = 0; block < b->blocks; block++) {
        const int128 *of = k + block * each;
        double square = 0;
        for (size_t i = n; i < each; i++)
            square += knorm_normal(of[i]) * knorm_normal(of[i]);
        for (size_t i = 0; i < n; i++)
            noise[block * n + i] = b->scale * sqrt(square) * knorm_normal(of[i]);
    }
done:
    discretised_noise_close(&discretised);
    if (k)
        base_wipe(k, b->blocks * each * sizeof *k);
    base_free(k);
    return status;
}

double knorm_error(const struct knorm_blocks *b, size_t dimension)
{
    const double count = (double)b->blocks * (2 * (double)b->width + 1);
    const double rare = (double)dimension * (ldexp(1, KNORM_END + 1) + 32) + 1024;
    const double most = 2 * sqrt(rare + 0.35 * count); /* norm of all normal numbers */
    return 1.001 * b->scale * ldexp(most + 1, -STEPS_BITS) * sqrt((double)b->blocks * ((double)b->width + 1));
}

int knorm_blur_exponent(double scale)
{
    return lattice_exponent(scale, LATTICE_BITS);
}

sotto_status knorm_blur(double *values, size_t n, double scale, double end, struct noise *s)
{
    sotto_status status = SOTTO_OK;
    const struct lattice lattice = {.exponent = knorm_blur_exponent(scale)};
    struct discretised_noise discretised = {0};
    int128 *k = NULL;
    NEW(k, n);
    TRY(discretised_noise_open(&discretised, DISCRETISED_LAPLACE, ldexp(scale, -lattice.exponent), false, s));
    TRY(discretised_noise_fill_wide(&discretised, k, 0, n, 1));
    for (size_t i = 0; i < n; i++) {
        const int128 sum = lattice_index(values[i], lattice) + k[i];
        values[i] = fmin(end, fmax(-end, lattice_double(2 * sum + 1, lattice)));
    }
done:
    discretised_noise_close(&discretised);
    if (k)
        base_wipe(k, n * sizeof *k);
    base_free(k);
    return status;
}

/* Each of two neighbours is off by `error` and is rounded to the lattice. */
struct interval knorm_blur_cost(double error, size_t n, double scale)
{
    const struct interval numbers = iv((double)n), step = iv(ldexp(1, knorm_blur_exponent(scale)));
    const struct interval apart = iv_mul(iv_scale(iv_sqrt(numbers), 2), iv(error));
    return iv_div(iv_add(apart, iv_mul(numbers, step)), iv(scale));
}

sotto_status knorm_blur_scale(double *scale, double error, size_t n, double epsilon)
{
    sotto_status status = SOTTO_OK;
    const double left =
        epsilon - (double)n * ldexp(1, 1 - LATTICE_BITS); /* a step is at most 2^(1 - bits) scales */
    if (!(left > epsilon / 2))
        FAIL(SOTTO_EDOMAIN, "epsilon %g is too small for the lattice of %zu numbers", epsilon, n);
    *scale = 2 * error * sqrt((double)n) / left * (1 + 0x1p-40);
done:
    return status;
}
