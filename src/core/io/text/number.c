/* Most numbers in tables have few digits: a mantissa below 2^53 and a power of ten up to 22 are both exact
 * doubles, so one multiplication or division rounds correctly (Clinger 1990). With 64 bits of mantissa the same goes for 19 digits
 * and powers up to 27, unless what is left for the second rounding is near a half. Everything else goes to strtod. */
#include "io/text/number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool number_special(double *out, const char *text, size_t length)
{
    bool negative = length > 0 && text[0] == '-';
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        text++;
        length--;
    }
    if (length == 3 && strncasecmp(text, "nan", 3) == 0)
        *out = NAN;
    else if ((length == 3 && strncasecmp(text, "inf", 3) == 0) ||
             (length == 8 && strncasecmp(text, "infinity", 8) == 0))
        *out = negative ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static double number_general(const char *text, size_t length)
{
    char copy[512];
    /* Longer than any double needs (about 770 digits decide the last bit only of hand-made halfway cases). */
    length = length < sizeof copy ? length : sizeof copy - 1;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return strtod(copy, NULL);
}

enum { EXACT_POWER = 22, WIDE_POWER = 27 };
static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                     1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                     1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/* Rounded to 64 bits, then to 53; false: that may be another double. */
static bool round_twice(double *out, uint64_t mantissa, long power)
{
#if LDBL_MANT_DIG == 64
    const long double x = power < 0 ? mantissa / powers[-power] : mantissa * powers[power];
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    *out = (double)x;
    return (bits & 0x7ff) < 0x3ff || (bits & 0x7ff) > 0x401;
#else
    (void)out, (void)mantissa, (void)power;
    return false;
#endif
}

bool number_scaled(double *out, uint64_t mantissa, long power)
{
    if (mantissa < UINT64_C(1) << 53 && power >= -EXACT_POWER && power <= EXACT_POWER) {
        *out =
            power < 0 ? (double)mantissa / (double)powers[-power] : (double)mantissa * (double)powers[power];
        return true;
    }
    return power >= -WIDE_POWER && power <= WIDE_POWER && round_twice(out, mantissa, power);
}

/* The place behind digits, which are appended to the mantissa while it has room; *exact: it had for all. */
static size_t take_digits(uint64_t *mantissa, bool *exact, const char *text, size_t i, size_t length)
{
    for (; i + NUMBER_WORD <= length && *mantissa < 100000000000 && number_are_digits(number_word(text + i));
         i += NUMBER_WORD)
        *mantissa =
            *mantissa * 100000000 + number_of_digits(number_word(text + i) & UINT64_C(0x0f0f0f0f0f0f0f0f));
    for (; i < length && (unsigned char)(text[i] - '0') < 10; i++)
        if (*mantissa >= UINT64_MAX / 10)
            *exact = false;
        else
            *mantissa = *mantissa * 10 + (uint64_t)(text[i] - '0');
    return i;
}

bool number_real(double *out, const char *text, size_t length)
{
    size_t i = 0, digits;
    bool negative = false, exact = true;
    uint64_t mantissa = 0;
    long power = 0;
    if (i < length && (text[i] == '-' || text[i] == '+'))
        negative = text[i++] == '-';
    const size_t start = i;
    i = take_digits(&mantissa, &exact, text, i, length);
    digits = i - start;
    if (i < length && text[i] == '.') {
        const size_t fraction = i + 1;
        i = take_digits(&mantissa, &exact, text, fraction, length);
        digits += i - fraction;
        power = -(long)(i - fraction);
    }
    if (digits == 0)
        return number_special(out, text, length);
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        long exponent = 0;
        bool minus = false;
        if (++i < length && (text[i] == '-' || text[i] == '+'))
            minus = text[i++] == '-';
        if (i == length)
            return false;
        for (; i < length && isdigit((unsigned char)text[i]); i++)
            if (exponent < 100000)
                exponent = exponent * 10 + (text[i] - '0');
        power += minus ? -exponent : exponent;
    }
    if (i != length)
        return false;
    double value;
    if (!exact || !number_scaled(&value, mantissa, power)) {
        if (length >= 500)
            return false;
        *out = number_general(text, length);
        return true;
    }
    *out = negative ? -value : value;
    return true;
}

bool number_whole(int64_t *out, const char *text, size_t length)
{
    int64_t value = 0;
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value))
            return false;
    }
    *out = value;
    return true;
}

const char *number_text(char out[NUMBER_TEXT], double x)
{
    double back = NAN;
    for (int digits = 15; digits <= 17; digits++) {
        int length = snprintf(out, NUMBER_TEXT, "%.*g", digits, x);
        if (number_real(&back, out, (size_t)length) && back == x)
            break;
    }
    return out;
}

const char *sotto_number_text(char out[SOTTO_NUMBER_TEXT], double x, int digits, int up)
{
    char negative[NUMBER_TEXT];
    digits = digits < 1 ? 1 : digits > 17 ? 17 : digits;
    if (!out || up || x == 0 || isnan(x))
        return out ? number_text_up(out, x, digits) : NULL;
    number_text_up(negative, -x, digits); /* down is up on the other side of 0 */
    snprintf(out, SOTTO_NUMBER_TEXT, x > 0 ? "%s" : "-%s", negative + (x > 0));
    return out;
}

const char *number_text_up(char out[NUMBER_TEXT], double x, int digits)
{
    double shown = x;
    int length = snprintf(out, NUMBER_TEXT, "%.*g", digits, x);
    if (isfinite(x) && number_real(&shown, out, (size_t)length) && shown < nextafter(x, -INFINITY)) {
        /* what was rounded down lies less than half a unit of its last digit above that */
        const double unit = pow(10, floor(log10(fabs(x))) - digits + 1);
        snprintf(out, NUMBER_TEXT, "%.*g", digits, x + 0.75 * unit);
    }
    return out;
}
