/* What {0} means, by the tables: 0 is "not given", and a 0 that is given stands there as a mark (sotto/base.h). */
#include "io/text/number_interval.h"
#include "options/option_values.h"
#include "sotto/private/option.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What stands in memory for a stated zero. */
static const struct {
    size_t size;
    union {
        size_t count;
        uint64_t seed;
        double real;
    } mark; /* of numbers */
} stored[] = {[SOTTO_OPTION_FLAG] = {sizeof(int), {0}},
              [SOTTO_OPTION_TEXT] = {sizeof(char *), {0}},
              [SOTTO_OPTION_COUNT] = {sizeof(size_t), {.count = SOTTO_NONE}},
              [SOTTO_OPTION_SEED] = {sizeof(uint64_t), {.seed = SOTTO_SEED_ZERO}},
              [SOTTO_OPTION_REAL] = {sizeof(double), {.real = SOTTO_ZERO}},
              [SOTTO_OPTION_SIZES] = {sizeof(size_t), {0}},
              [SOTTO_OPTION_CHOICE] = {sizeof(int), {0}},
              [SOTTO_OPTION_REALS] = {sizeof(size_t), {0}},
              [SOTTO_OPTION_LIST] = {sizeof(char **), {0}},
              [SOTTO_OPTION_INPUT] = {0, {0}}};

/* Address of an option's member; for numbers, of the member that holds how many they are. */
static void *option_defaults_place(void *options, const struct sotto_option *row)
{
    const bool counted = row->type == SOTTO_OPTION_SIZES || row->type == SOTTO_OPTION_REALS;
    return option_at(options, counted ? row->count : row->offset);
}

/* The numbers of a REALS member belong to the caller, so the call itself takes the default. */
static bool has_default(const struct sotto_option *row)
{
    return row->value && row->type != SOTTO_OPTION_REALS && row->type != SOTTO_OPTION_INPUT;
}

static void option_defaults_clear(void *options, const struct sotto_option *row)
{
    memset(option_defaults_place(options, row), 0, stored[row->type].size);
}

static void option_defaults_mark(void *options, const struct sotto_option *row)
{
    memcpy(option_defaults_place(options, row), &stored[row->type].mark, stored[row->type].size);
}

static bool is_number(const struct sotto_option *row)
{
    return row->type == SOTTO_OPTION_COUNT || row->type == SOTTO_OPTION_SEED ||
           row->type == SOTTO_OPTION_REAL;
}

/* By bits: a processor that takes tiny numbers for 0 compares SOTTO_ZERO equal to it. */
bool option_is_marked(const void *options, const struct sotto_option *row)
{
    const char *at = (const char *)options + row->offset;
    return is_number(row) && memcmp(at, &stored[row->type].mark, stored[row->type].size) == 0;
}

static bool is_zero(void *options, const struct sotto_option *row)
{
    static const unsigned char zeros[sizeof stored->mark];
    double x;
    if (row->type != SOTTO_OPTION_REAL)
        return memcmp(option_defaults_place(options, row), zeros, stored[row->type].size) == 0;
    memcpy(&x, option_defaults_place(options, row), sizeof x);
    return x == 0 && !option_is_marked(options, row); /* -0.0 too */
}

static bool is_auto(const struct sotto_option *row)
{
    return is_number(row) && row->value && strcmp(row->value, "auto") == 0;
}

/* Is the default another number than 0? */
static bool marks_zero(const struct sotto_option *row)
{
    return is_number(row) && row->value && (is_auto(row) || strtod(row->value, NULL) > 0);
}

sotto_status sotto_option_set(void *out, const struct sotto_option *row, const char *text)
{
    REQUIRE_GIVEN(out, row, text);
    sotto_status status = option_put(out, row, text);
    if (status == SOTTO_OK && marks_zero(row) && is_zero(out, row))
        option_defaults_mark(out, row);
    return status;
}

static void put_default(void *out, const struct sotto_option *row)
{
    sotto_status status = option_put(out, row, row->value);
    assert(status == SOTTO_OK);
    (void)status;
}

void options_defaults(void *out, const struct sotto_option *table)
{
    GIVEN_OR(, out, table);
    for (; table->name; table++)
        if (is_auto(table))
            option_defaults_clear(out, table);
        else if (has_default(table))
            put_default(out, table);
}

static void option_defaults_resolve(void *out, const struct sotto_option *row)
{
    if (option_is_marked(out, row))
        option_defaults_clear(out, row);
    else if (is_zero(out, row) && is_auto(row) && row->type != SOTTO_OPTION_REAL)
        return; /* whole numbers have no NAN */
    else if (is_zero(out, row) && is_auto(row))
        memcpy(option_defaults_place(out, row), &(double){NAN}, sizeof(double));
    else if (is_zero(out, row) && has_default(row))
        put_default(out, row);
}

sotto_status sotto_options_resolve(void *out, const void *given, const struct sotto_option *table)
{
    REQUIRE_GIVEN(out, table);
    const struct sotto_option *end = table;
    while (end->name)
        end++;
    if (given)
        memmove(out, given, end->capacity);
    else
        memset(out, 0, end->capacity);
    for (; table->name; table++)
        option_defaults_resolve(out, table);
    return SOTTO_OK;
}

static bool admits_zero(const struct sotto_option *row)
{
    const struct interval range = interval_read(row->range);
    return interval_holds(&range, 0);
}

void options_state(void *resolved, const struct sotto_option *table)
{
    for (; table->name; table++) {
        double x = 0;
        if (is_auto(table) && table->type == SOTTO_OPTION_REAL)
            memcpy(&x, option_defaults_place(resolved, table), sizeof x);
        if (isnan(x))
            option_defaults_clear(resolved, table);
        else if (marks_zero(table) && is_zero(resolved, table) && admits_zero(table))
            option_defaults_mark(resolved, table);
    }
}

bool options_given(const void *options, const struct sotto_option *table)
{
    for (; table->name; table++)
        if (!is_zero((void *)options, table))
            return true;
    return false;
}

static sotto_status change_sizes(void *out, const struct sotto_option *to, const void *changes,
                                 const struct sotto_option *from)
{
    sotto_status status = SOTTO_OK;
    size_t n;
    memcpy(&n, (const char *)changes + from->count, sizeof n);
    if (n == SOTTO_NONE)
        n = 0;
    REQUIRE(n <= to->capacity, "%s: too many numbers; expected at most %zu", to->name, to->capacity);
    memcpy(option_at(out, to->offset), (const char *)changes + from->offset, n * sizeof n);
    memcpy(option_at(out, to->count), &n, sizeof n);
done:
    return status;
}

sotto_status options_change(void *out, const struct sotto_option *table, const void *changes,
                            const struct sotto_option *changes_table)
{
    sotto_status status = SOTTO_OK;
    for (const struct sotto_option *from = changes_table; from->name; from++) {
        const struct sotto_option *to = sotto_option_find(table, from->key);
        if (!to || is_zero((void *)changes, from))
            continue;
        assert(to->type == from->type);
        if (from->type == SOTTO_OPTION_SIZES)
            TRY(change_sizes(out, to, changes, from));
        else
            memcpy(option_at(out, to->offset), (const char *)changes + from->offset, stored[from->type].size);
    }
done:
    return status;
}
