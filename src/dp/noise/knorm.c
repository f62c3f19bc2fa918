/* Direction: independent normal deviates (Box and Muller), normalised. Radius: the sum of n exponential
 * deviates. */
#include "dp/noise/knorm.h"

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
