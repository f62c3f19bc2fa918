/* Values of options against their ranges. */
#include "io/text/number.h"
#include "io/text/number_interval.h"
#include "options/option_values.h"
#include "sotto/private/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ends of positive numbers that arithmetic sets, not the meaning of the option. */
static const double tiny = 1e-100, huge = 1e100;

/* What x misses: "at least 1 and at most 256", "finite and > 0", ... */
static void option_range_describe(char out[96], const struct interval *r, bool whole, double x)
{
    bool low = !isinf(r->low), high = !isinf(r->high);
    if (r->low == tiny && !(x > 0) && r->high == huge)
        snprintf(out, 96, "greater than 0");
    else if (r->low == tiny && !(x > 0 && x < tiny))
        snprintf(out, 96, "greater than 0 and at most %.15g", r->high);
    else if (!whole && low && !high)
        snprintf(out, 96, "finite and %s %.15g", r->low_open ? ">" : ">=", r->low);
    else if (whole && r->low <= 0 && high)
        snprintf(out, 96, "at most %.15g", r->high);
    else if (!high)
        snprintf(out, 96, "%s %.15g", r->low_open ? "above" : "at least", r->low);
    else
        snprintf(out, 96, "%s %.15g and %s %.15g", r->low_open ? "above" : "at least", r->low,
                 r->high_open ? "below" : "at most", r->high);
}

sotto_status sotto_option_check_number(const struct sotto_option *row, double x)
{
    REQUIRE_GIVEN(row);
    const struct interval r = interval_read(row->range);
    char expected[96];
    bool whole = row->type == SOTTO_OPTION_COUNT || row->type == SOTTO_OPTION_SEED;
    if (isfinite(x) && interval_holds(&r, x))
        return SOTTO_OK;
    option_range_describe(expected, &r, whole, x);
    status_fail(SOTTO_EINVAL, "%s must be %s (got %.*g)", row->key, expected, whole ? 20 : 6, x);
    status_key(row->key);
    return SOTTO_EINVAL;
}

/* The number that stands there, a stated zero as 0. */
static double option_range_number(const void *options, const struct sotto_option *row)
{
    const char *at = (const char *)options + row->offset;
    double real = 0;
    size_t size;
    if (option_is_marked(options, row))
        return 0;
    if (row->type == SOTTO_OPTION_REAL) {
        memcpy(&real, at, sizeof real);
        return real;
    }
    memcpy(&size, at, sizeof size);
    return (double)size;
}

sotto_status sotto_option_reals(double *out, size_t capacity, size_t *count, const struct sotto_option *row,
                                const char *text)
{
    REQUIRE_GIVEN(out, count, row, text);
    sotto_status status = SOTTO_OK;
    size_t n = 0;
    for (struct option_words l = option_words_of(text); l.more; n++) {
        size_t length;
        const char *word = option_words_next(&l, &length);
        REQUIRE(n < capacity, "%s: too many numbers; expected at most %zu", row->name, capacity);
        REQUIRE(number_real(&out[n], word, length),
                "%s: '%s' is not a list of numbers; expected for example 0.01,0.001", row->name, text);
        TRY(sotto_option_check_number(row, out[n]));
    }
    *count = n;
done:
    if (status != SOTTO_OK)
        status_key(row->key);
    return status;
}

static sotto_status check_reals(const void *options, const struct sotto_option *row)
{
    sotto_status status = SOTTO_OK;
    const double *x;
    size_t n;
    memcpy(&x, (const char *)options + row->offset, sizeof x);
    memcpy(&n, (const char *)options + row->count, sizeof n);
    REQUIRE(n == 0 || x, "%s is NULL; expected %zu numbers", row->key, n);
    for (size_t i = 0; i < n; i++)
        TRY(sotto_option_check_number(row, x[i]));
done:
    return status;
}

static sotto_status check_seed(const void *options, const struct sotto_option *row)
{
    uint64_t seed;
    memcpy(&seed, (const char *)options + row->offset, sizeof seed);
    if (seed <= INT64_MAX || option_is_marked(options, row))
        return SOTTO_OK;
    status_fail(SOTTO_EINVAL, "%s %llu is too large; expected less than 2^63", row->key,
                (unsigned long long)seed);
    status_key(row->key);
    return SOTTO_EINVAL;
}

sotto_status sotto_options_check(const void *options, const struct sotto_option *table, const char *keys)
{
    REQUIRE_GIVEN(options, table);
    sotto_status status = SOTTO_OK;
    for (; table->name; table++) {
        if (!table->range || (keys && !option_listed_in(keys, table->key)))
            continue;
        if (table->type == SOTTO_OPTION_SEED)
            TRY(check_seed(options, table));
        else if (table->type == SOTTO_OPTION_REAL || table->type == SOTTO_OPTION_COUNT)
            TRY(sotto_option_check_number(table, option_range_number(options, table)));
        else if (table->type == SOTTO_OPTION_REALS)
            TRY(check_reals(options, table));
    }
done:
    return status;
}
