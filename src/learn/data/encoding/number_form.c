/* Numbers and dates as tables write them. */
#include "data/encoding/date.h"
#include "data/encoding/encoding.h"

#include "io/text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const number_forms[NUMBER_FORMS] = {"point", "comma", "date"};

/* A year begins in March here, so that the leap day is its last one (Hinnant, chrono-compatible date algorithms). */
double days_of_date(struct date d)
{
    const int y = d.year - (d.month <= 2), era = y / 400, of_era = y - era * 400;
    const int of_year = (153 * (d.month + (d.month > 2 ? -3 : 9)) + 2) / 5 + d.day - 1;
    const int leap_days = of_era / 4 - of_era / 100;
    return era * 146097.0 + of_era * 365 + leap_days + of_year - 719468;
}

struct date date_of_days(double days)
{
    const int z =
        (int)floor(isnan(days) ? 0 : fmin(fmax(days, -719162), 2932896)) + 719468; /* years 1 to 9999 */
    const int era = z / 146097, of_era = z - era * 146097;
    const int y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    const int month = m < 10 ? m + 3 : m - 9;
    return (struct date){y + era * 400 + (month <= 2), month, of_year - (153 * m + 2) / 5 + 1};
}

const char *date_text(char out[16], double days)
{
    const struct date d = date_of_days(days);
    snprintf(out, 16, "%04d-%02d-%02d", d.year % 10000, d.month % 100, d.day % 100);
    return out;
}

/* The next digits, at most `most` of them, and the character behind them; false: there are none. */
static bool take_digits(int *out, const char **text, size_t least, size_t most, char then)
{
    size_t n = 0;
    for (*out = 0; n < most && (*text)[n] >= '0' && (*text)[n] <= '9'; n++)
        *out = *out * 10 + ((*text)[n] - '0');
    if (n < least || (*text)[n] != then)
        return false;
    *text += n + (then != '\0');
    return true;
}

/* 2020-08-14, perhaps with a time behind it, or 14.08.2020. The day is one of its month if its number leads back to it. */
static bool read_date(double *out, const char *text)
{
    struct date d;
    char day[32];
    const char *iso = day, *german = text;
    snprintf(day, sizeof day, "%.*s", (int)strcspn(text, "T "), text);
    if (!(take_digits(&d.year, &iso, 4, 4, '-') && take_digits(&d.month, &iso, 1, 2, '-') &&
          take_digits(&d.day, &iso, 1, 2, '\0')) &&
        !(take_digits(&d.day, &german, 1, 2, '.') && take_digits(&d.month, &german, 1, 2, '.') &&
          take_digits(&d.year, &german, 4, 4, '\0')))
        return false;
    if (d.year < 1 || d.month < 1 || d.month > 12 || d.day < 1)
        return false;
    *out = days_of_date(d);
    return date_of_days(*out).day == d.day;
}

bool number_of_form(double *out, const char *text, enum number_form form)
{
    char copy[64];
    double x;
    const char *comma = strchr(text, ',');
    if (form == NUMBER_DATE)
        return read_date(out, text);
    if (form == NUMBER_COMMA) {
        if (strchr(text, '.') || strlen(text) >= sizeof copy) /* 1.234 would be a thousand and more */
            return false;
        snprintf(copy, sizeof copy, "%s", text);
        if (comma)
            copy[comma - text] = '.';
        text = copy;
    }
    if (!number_real(&x, text, strlen(text)) || !isfinite((float)x))
        return false;
    *out = (double)(float)x;
    return true;
}
