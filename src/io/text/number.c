/* Most numbers in tables have few digits: a mantissa below 2^53 and a power of ten up to 22 are both exact
 * doubles, so one multiplication or division rounds correctly (Clinger 1990). Everything else goes to strtod. */
#include "io/text/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool special(double *out, const char *text, size_t length)
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

static double general(const char *text, size_t length)
{
    char copy[512];
    /* Longer than any double needs (about 770 digits decide the last bit only of hand-made halfway cases). */
    length = length < sizeof copy ? length : sizeof copy - 1;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return strtod(copy, NULL);
}

bool number_real(double *out, const char *text, size_t length)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    size_t i = 0, digits = 0;
    bool negative = false, exact = true;
    uint64_t mantissa = 0;
    long power = 0;
    if (i < length && (text[i] == '-' || text[i] == '+'))
        negative = text[i++] == '-';
    for (bool fraction = false; i < length; i++) {
        if (text[i] == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!isdigit((unsigned char)text[i]))
            break;
        digits++;
        power -= fraction;
        if (mantissa >= (UINT64_C(1) << 53) / 10)
            exact = false;
        else
            mantissa = mantissa * 10 + (uint64_t)(text[i] - '0');
    }
    if (digits == 0)
        return special(out, text, length);
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
    if (!exact || power < -22 || power > 22) {
        if (length >= 500)
            return false;
        *out = general(text, length);
        return true;
    }
    double value = power < 0 ? (double)mantissa / powers[-power] : (double)mantissa * powers[power];
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
