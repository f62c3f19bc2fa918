#include "dp/release/clip_row.h"

#include <math.h>
#include <string.h>

/* At least the norm: terms are exact, each of the d sums is off by 2^-53 of itself, the root by as much. */
static double norm_above(const float *x, size_t d, enum sotto_norm norm)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += norm == SOTTO_NORM_L1 ? fabs((double)x[j]) : (double)x[j] * (double)x[j];
    return (norm == SOTTO_NORM_L1 ? sum : sqrt(sum)) * (1 + ((double)d + 4) * 0x1p-52);
}

/* Rounding must not lift the norm over the radius again. */
void clip_row(float *x, size_t d, double radius, enum sotto_norm norm)
{
    double length = norm_above(x, d, norm);
    if (!isfinite(length)) /* sums of finite floats are finite doubles */
        memset(x, 0, d * sizeof *x);
    for (size_t j = 0; length > radius && isfinite(length) && j < d; j++)
        x[j] = (float)((double)x[j] * (radius / length * (1 - 0x1p-20)));
}
