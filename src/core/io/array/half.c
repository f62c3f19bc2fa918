/* IEEE 754 binary16 by arithmetic on double, which holds every half and every float exactly; so one rounding
 * only. */
#include "io/array/array.h"

#include <math.h>

float half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float value;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf((float)fraction, -24);
    else
        value = ldexpf((float)(1024 + fraction), exponent - 25);
    return half & 0x8000 ? -value : value;
}

uint16_t half_from_double(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    if (isnan(x))
        return sign | 0x7e00;
    if (magnitude >= 65520) /* half way between 65504, the largest finite value, and 2^16 */
        return sign | 0x7c00;
    int exponent;
    (void)frexp(magnitude, &exponent); /* magnitude in [2^(exponent-1), 2^exponent) */
    if (magnitude == 0 || exponent < -13)
        exponent = -13; /* subnormals share the spacing 2^-24 of the smallest normals */
    /* nearbyint rounds to even in the default mode; a carry into the next power of two adds up by itself. */
    double units = nearbyint(ldexp(magnitude, 11 - exponent));
    return (uint16_t)(sign | (unsigned)((exponent + 13) * 1024 + (int)units));
}
