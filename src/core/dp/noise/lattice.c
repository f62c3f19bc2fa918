/* Between floats and the lattice. Everything here is exact or a function of one integer. */
#include "dp/noise/lattice.h"

#include <float.h>
#include <math.h>

struct lattice lattice_make(double scale)
{
    int exponent;
    double fraction = frexp(scale, &exponent); /* [1/2, 1) */
    return (struct lattice){(uint64_t)ldexp(fraction, 53), exponent - 53};
}

int lattice_exponent(double scale, int bits)
{
    return ilogb(scale) + 1 - bits;
}

int128 lattice_index(double x, struct lattice lattice)
{
    const int128 end = (int128)1 << LATTICE_END;
    int exponent;
    if (isnan(x))
        return 0;
    x = fmax(-DBL_MAX, fmin(x, DBL_MAX));
    int64_t mantissa = (int64_t)ldexp(frexp(x, &exponent), 53); /* x = mantissa 2^(exponent - 53) */
    int left = exponent - 53 - lattice.exponent;
    if (mantissa == 0 || left < -54) /* below half a step */
        return 0;
    if (left > LATTICE_END - 53)
        return mantissa < 0 ? -end : end;
    if (left >= 0)
        return (int128)mantissa * ((int128)1 << left);
    int64_t half = (int64_t)1 << (-left - 1), size = mantissa < 0 ? -mantissa : mantissa;
    int64_t whole = size >> -left, rest = size & (2 * half - 1);
    whole += rest > half || (rest == half && (whole & 1));
    return mantissa < 0 ? -whole : whole;
}

float lattice_value(int128 odd, struct lattice lattice)
{
    float x = ldexpf((float)odd, lattice.exponent - 1);
    return isinf(x) ? copysignf(FLT_MAX, x) : x;
}

double lattice_double(int128 odd, struct lattice lattice)
{
    double x = ldexp((double)odd, lattice.exponent - 1);
    return isinf(x) ? copysign(DBL_MAX, x) : x;
}

bool lattice_ratio(uint64_t *m, unsigned *shift, double x)
{
    int exponent;
    uint64_t whole = (uint64_t)ldexp(frexp(x, &exponent), 53);
    exponent -= 53;
    for (; whole % 2 == 0 && exponent < 0; exponent++)
        whole /= 2;
    if (exponent > 0 || exponent < -62) /* above 0: x is 2^53 or more, as whole is at least 2^52 */
        return false;
    *m = whole;
    *shift = (unsigned)-exponent;
    return true;
}
