/* Loops over a table of options: defaults, values from text, range errors. */
#include "base/status.h"
#include "io/text/number_interval.h"
#include "io/text/number.h"
#include "sotto/option.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is `name` one of the words of "lr|batch"? */
static bool listed(const char *words, const char *name)
{
    size_t length = strlen(name);
    for (const char *w = words; w && *w; w += strcspn(w, "|"), w += *w == '|')
        if (strcspn(w, "|") == length && strncmp(w, name, length) == 0)
            return true;
    return false;
}

const struct sotto_option *sotto_option_find(const struct sotto_option *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0 || strcmp(table->key, name) == 0 || listed(table->aliases, name) ||
            listed(table->old_names, name))
            return table;
    return NULL;
}

static void *member(void *out, size_t offset)
{
    return (char *)out + offset;
}

/* "512,128" or "[512, 128]"; "[]" is none. */
static sotto_status set_sizes(void *out, const struct sotto_option *row, const char *text)
{
    sotto_status status = SOTTO_OK;
    size_t sizes[32], n = 0;
    const char *p = text + (text[0] == '['), *end = text + strlen(text) - (text[0] == '[');
    for (bool more = p < end; more;) {
        int64_t x;
        size_t length = strcspn(p, ",]");
        REQUIRE(number_whole(&x, p, length) && x > 0,
                "%s: '%s' is not a list of whole numbers; expected for example 512,128", row->name, text);
        REQUIRE(n < row->capacity, "%s: too many numbers; expected at most %zu", row->name, row->capacity);
        sizes[n++] = (size_t)x;
        p += length;
        more = p < end;
        p += more;
        p += strspn(p, " ");
    }
    memcpy(member(out, row->offset), sizes, n * sizeof *sizes);
    memcpy(member(out, row->count), &n, sizeof n);
done:
    return status;
}

/* Also beyond 2^63: what is too large is said by the range. */
static bool read_whole(uint64_t *out, const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !*end && !errno;
}

sotto_status sotto_option_set(void *out, const struct sotto_option *row, const char *text)
{
    sotto_status status = SOTTO_OK;
    uint64_t whole = 0;
    double real = 0;
    void *to = member(out, row->offset);
    switch (row->type) {
    case SOTTO_OPTION_TEXT:
        memcpy(to, &text, sizeof text);
        break;
    case SOTTO_OPTION_FLAG:
        memcpy(to, &(int){strcmp(text, "1") == 0 || strcmp(text, "true") == 0}, sizeof(int));
        break;
    case SOTTO_OPTION_REAL:
        REQUIRE(number_real(&real, text, strlen(text)), "%s: '%s' is not a number", row->name, text);
        memcpy(to, &real, sizeof real);
        break;
    case SOTTO_OPTION_SIZES:
        status = set_sizes(out, row, text);
        break;
    default:
        REQUIRE(read_whole(&whole, text), "%s: '%s' is not a whole number >= 0", row->name, text);
        if (row->type == SOTTO_OPTION_SEED)
            memcpy(to, &whole, sizeof whole);
        else
            memcpy(to, &(size_t){(size_t)whole}, sizeof(size_t));
    }
done:
    return status;
}

void sotto_options_defaults(void *out, const struct sotto_option *table)
{
    for (; table->name; table++)
        if (table->value) {
            sotto_status status = sotto_option_set(out, table, table->value);
            assert(status == SOTTO_OK);
            (void)status;
        }
}

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

sotto_status sotto_options_check(const void *options, const struct sotto_option *table, const char *keys)
{
    sotto_status status = SOTTO_OK;
    for (; table->name; table++) {
        const char *at = (const char *)options + table->offset;
        double real;
        uint64_t seed;
        size_t size;
        if (!table->range || (keys && !listed(keys, table->key)))
            continue;
        if (table->type == SOTTO_OPTION_REAL) {
            memcpy(&real, at, sizeof real);
        } else if (table->type == SOTTO_OPTION_SEED) {
            memcpy(&seed, at, sizeof seed);
            REQUIRE(seed <= INT64_MAX, "%s %llu is too large; expected less than 2^63", table->key,
                    (unsigned long long)seed);
            continue;
        } else if (table->type == SOTTO_OPTION_COUNT) {
            memcpy(&size, at, sizeof size);
            real = (double)size;
        } else {
            continue;
        }
        TRY(check_one(real, table));
    }
done:
    return status;
}
