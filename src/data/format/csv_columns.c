/* Columns: which one is the label, which ones are numbers, and codes for those that are texts. Columns of
 * numbers stay numbers; a column of texts becomes category codes (position in the sorted list of its values).
 * Where the file does not show which column is the label, the user must say. */
#include "data/format/csv_table.h"

#include "io/text/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUE_LIMIT = 10000, /* distinct texts in a column; more is free text or an identifier */
    BLOCK = 4096         /* rows between two questions whether to go on */
};

sotto_status table_go_on(const struct table *t, size_t row)
{
    return row % BLOCK ? SOTTO_OK : context_check(t->ctx, "%s: stopped while it was read", t->where[0]);
}

static bool is_missing(const char *text)
{
    return text[0] == '\0' || strcmp(text, "?") == 0;
}

/* A column is one of numbers when all its values are that are not missing, and there is one. */
static sotto_status all_numbers(bool *all, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    double x;
    *all = false;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = table_cell(t, i, column);
        TRY(table_go_on(t, i));
        if (is_missing(text))
            continue;
        *all = number_real(&x, text, strlen(text));
        if (!*all)
            break;
    }
done:
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whole numbers by value, before all other texts. */
static int by_value(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int64_t p, q;
    bool whole_x = number_whole(&p, x, strlen(x)), whole_y = number_whole(&q, y, strlen(y));
    if (whole_x != whole_y)
        return whole_x ? -1 : 1;
    if (whole_x && p != q)
        return p < q ? -1 : 1;
    return strcmp(x, y);
}

typedef int (*order)(const void *, const void *);

/* Place of the first of `count` sorted values that is not less than `text`. */
static size_t place_of(const char *text, const char *const *values, size_t count, order less)
{
    size_t first = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (less(&values[first + half], &text) < 0) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

/* Sorted distinct values of a column; pointers into the table. */
static sotto_status distinct(const char ***values, size_t *count, const struct table *t, size_t column,
                             order less)
{
    sotto_status status = SOTTO_OK;
    const char **list = NULL;
    size_t kept = 0;
    NEW(list, VALUE_LIMIT);
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = table_cell(t, i, column);
        TRY(table_go_on(t, i));
        size_t at = place_of(text, list, kept, less);
        if (at < kept && less(&list[at], &text) == 0)
            continue;
        if (kept == VALUE_LIMIT) {
            char name[128];
            table_column_name(name, sizeof name, t, column);
            FAIL(SOTTO_EFORMAT, "%s: column '%s' has more than %d different values; expected categories",
                 t->where[0], name, VALUE_LIMIT);
        }
        memmove((void *)(list + at + 1), (const void *)(list + at), (kept - at) * sizeof *list);
        list[at] = text;
        kept++;
    }
    *values = list;
    *count = kept;
    list = NULL;
done:
    base_free((void *)list);
    return status;
}

/* 0 and 1 everywhere but in the first column: Location, Purchase and their kind put the label first. */
static sotto_status rest_is_binary(bool *binary, const struct table *t)
{
    sotto_status status = SOTTO_OK;
    *binary = true;
    for (size_t i = 0; *binary && i < t->rows; i++) {
        TRY(table_go_on(t, i));
        for (size_t j = 1; *binary && j < t->columns; j++) {
            const char *text = table_cell(t, i, j);
            *binary = (text[0] == '0' || text[0] == '1') && text[1] == '\0';
        }
    }
done:
    return status;
}

static bool find_named(size_t *column, const struct table *t, const char *wanted)
{
    char name[128];
    for (*column = 0; *column < t->columns; ++*column) {
        table_column_name(name, sizeof name, t, *column);
        if (strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

sotto_status table_choose_label(size_t *column, const struct table *t, const char *asked)
{
    sotto_status status = SOTTO_OK;
    size_t last = t->columns - 1;
    if (asked) {
        if (find_named(column, t, asked))
            goto done;
        if (strcmp(asked, "first") != 0 && strcmp(asked, "last") != 0)
            FAIL(SOTTO_EINVAL, "%s: has no column '%.80s'", t->where[0], asked);
        *column = strcmp(asked, "first") == 0 ? 0 : last;
        goto done;
    }
    if (find_named(column, t, "label") || find_named(column, t, "class") || find_named(column, t, "target"))
        goto done;
    bool first_numbers, last_numbers, binary = false;
    TRY(all_numbers(&first_numbers, t, 0));
    TRY(all_numbers(&last_numbers, t, last));
    if (first_numbers && last_numbers)
        TRY(rest_is_binary(&binary, t));
    if (!last_numbers && first_numbers) {
        *column = last;
    } else if ((!first_numbers && last_numbers) || binary) {
        *column = 0;
    } else {
        status =
            status_fail(SOTTO_EINVAL, "%s: the label among %zu columns is unknown", t->where[0], t->columns);
        status_hint("give --label first, --label last or --label COLUMN");
    }
done:
    return status;
}

void table_strip_dots(struct table *t, size_t column)
{
    for (size_t i = 0; i < t->rows; i++) {
        size_t r, p = table_locate(&r, t, i);
        char *text = t->parts[p].cells[r * t->columns + column];
        size_t length = strlen(text);
        if (t->strip_dot[p] && length > 1 && text[length - 1] == '.')
            text[length - 1] = '\0';
    }
}

sotto_status table_fill_labels(struct dataset *d, struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    const char **values = NULL;
    size_t count;
    table_strip_dots(t, column);
    for (size_t i = 0; i < t->rows; i++) {
        size_t r, p = table_locate(&r, t, i);
        TRY(table_go_on(t, i));
        if (is_missing(table_cell(t, i, column)))
            FAIL(SOTTO_EFORMAT, "%s:%zu: the label is missing", t->where[p], t->parts[p].lines[r]);
    }
    table_column_name(d->label_column, sizeof d->label_column, t, column);
    TRY(distinct(&values, &count, t, column, by_value));
    if (count < 2)
        FAIL(SOTTO_EFORMAT, "%s: every label is '%.40s'; expected at least two classes", t->where[0],
             values[0]);
    for (size_t i = 0; i < t->rows; i++) {
        TRY(table_go_on(t, i));
        d->labels[i] = (int64_t)place_of(table_cell(t, i, column), values, count, by_value);
    }
    TRY(dataset_set_classes(d, count, values));
done:
    base_free((void *)values);
    return status;
}

static sotto_status fill_number(float *out, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = table_cell(t, i, column);
        double x;
        TRY(table_go_on(t, i));
        if (is_missing(text) || !number_real(&x, text, strlen(text))) {
            char name[128];
            size_t r, p = table_locate(&r, t, i);
            table_column_name(name, sizeof name, t, column);
            status =
                status_fail(SOTTO_EFORMAT, "%s:%zu: column '%s' has no value ('%.20s'); expected a number",
                            t->where[p], t->parts[p].lines[r], name, text);
            status_hint("give --schema schema.yaml with a fill value for missing numbers");
            goto done;
        }
        out[i * (t->columns - 1)] = (float)x;
    }
done:
    return status;
}

static sotto_status fill_codes(float *out, const char ***codes, size_t *code_count, const struct table *t,
                               size_t column)
{
    sotto_status status = SOTTO_OK;
    const char **values = NULL;
    size_t count;
    TRY(distinct(&values, &count, t, column, by_bytes));
    for (size_t i = 0; i < t->rows; i++) {
        TRY(table_go_on(t, i));
        out[i * (t->columns - 1)] = (float)place_of(table_cell(t, i, column), values, count, by_bytes);
    }
    *codes = values;
    *code_count = count;
    values = NULL;
done:
    base_free((void *)values);
    return status;
}

sotto_status table_fill_features(struct dataset *d, const struct table *t, size_t label)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_reserve_columns(d, t->columns - 1));
    for (size_t j = 0, at = 0; j < t->columns; j++) {
        const char **codes = NULL;
        size_t count = 0;
        char name[128];
        bool numbers;
        if (j == label)
            continue;
        TRY(all_numbers(&numbers, t, j));
        TRY(numbers ? fill_number(d->features + at, t, j)
                    : fill_codes(d->features + at, &codes, &count, t, j));
        table_column_name(name, sizeof name, t, j);
        status = dataset_set_column(d, at++, name, codes, count);
        base_free((void *)codes);
        if (status != SOTTO_OK)
            goto done;
    }
done:
    return status;
}
