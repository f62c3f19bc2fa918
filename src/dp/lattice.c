/* Between floats and the lattice. Everything here is exact or a function of one integer. */
#include "dp/lattice.h"

#include <float.h>
#include <math.h>

struct lattice lattice_make(double scale)
{
    int exponent;
    double fraction = frexp(scale, &exponent); /* [1/2, 1) */
    return (struct lattice){(uint64_t)ldexp(fraction, 53), exponent - 53};
}

double lattice_step(double scale)
{
    return ldexp(1, lattice_make(scale).exponent);
}

bool lattice_index(int128 *q, double x, struct lattice lattice)
{
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(x, &exponent), 53); /* x = mantissa 2^(exponent - 53) */
    int left = exponent - 53 - lattice.exponent;
    if (mantissa == 0 || left < -54) { /* below half a step */
        *q = 0;
        return true;
    }
    if (left >= 0) {
        if (left > 47)
            return false;
        *q = (int128)mantissa * ((int128)1 << left);
        return true;
    }
    int64_t half = (int64_t)1 << (-left - 1), size = mantissa < 0 ? -mantissa : mantissa;
    int64_t whole = size >> -left, rest = size & (2 * half - 1);
    whole += rest > half || (rest == half && (whole & 1));
    *q = mantissa < 0 ? -whole : whole;
    return true;
}

int128 lattice_release(struct noise *s, int128 q, uint128 magnitude)
{
    int128 k = (int128)magnitude;
    return 2 * (q + (noise_bits(s, 1) ? k : -1 - k)) + 1;
}

float lattice_value(int128 odd, struct lattice lattice)
{
    float x = ldexpf((float)odd, lattice.exponent - 1);
    return isinf(x) ? copysignf(FLT_MAX, x) : x;
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
