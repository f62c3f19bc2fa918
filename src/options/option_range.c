/* Values of options against their ranges. */
#include "io/text/number_interval.h"
#include "options/option_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "at least 1 and at most 256", "finite and > 0", ... */
static void describe(char out[96], const struct interval *r, bool whole)
{
    bool low = !isinf(r->low), high = !isinf(r->high);
    if (!whole && low && !high)
        snprintf(out, 96, "finite and %s %.10g", r->low_open ? ">" : ">=", r->low);
    else if (whole && r->low <= 0 && high)
        snprintf(out, 96, "at most %.10g", r->high);
    else if (!high)
        snprintf(out, 96, "%s %.10g", r->low_open ? "above" : "at least", r->low);
    else
        snprintf(out, 96, "%s %.10g and %s %.10g", r->low_open ? "above" : "at least", r->low,
                 r->high_open ? "below" : "at most", r->high);
}

static sotto_status check_one(double x, const struct sotto_option *row)
{
    const struct interval r = interval_read(row->range);
    char expected[96];
    bool whole = row->type != SOTTO_OPTION_REAL;
    if (isfinite(x) && interval_holds(&r, x))
        return SOTTO_OK;
    describe(expected, &r, whole);
    return status_fail(SOTTO_EINVAL, "%s must be %s (got %.*g)", row->key, expected, whole ? 20 : 6, x);
}

/* The number that stands there, a stated zero as 0. */
static double number(const void *options, const struct sotto_option *row)
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

static sotto_status check_seed(const void *options, const struct sotto_option *row)
{
    uint64_t seed;
    memcpy(&seed, (const char *)options + row->offset, sizeof seed);
    if (seed <= INT64_MAX || option_is_marked(options, row))
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL, "%s %llu is too large; expected less than 2^63", row->key,
                       (unsigned long long)seed);
}

sotto_status sotto_options_check(const void *options, const struct sotto_option *table, const char *keys)
{
    sotto_status status = SOTTO_OK;
    for (; table->name; table++) {
        if (!table->range || (keys && !option_listed_in(keys, table->key)))
            continue;
        if (table->type == SOTTO_OPTION_SEED)
            TRY(check_seed(options, table));
        else if (table->type == SOTTO_OPTION_REAL || table->type == SOTTO_OPTION_COUNT)
            TRY(check_one(number(options, table), table));
    }
done:
    return status;
}
