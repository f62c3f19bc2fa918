/* Columns: which one is the label, which ones are numbers, and codes for those that are texts. Columns of
 * numbers stay numbers; a column of texts becomes category codes (position in the sorted list of its values).
 * Where the file does not show which column is the label, the user must say. */
#include "data/format/csv_table.h"

#include "io/text/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_LIMIT = 10000 }; /* distinct texts in a column; more is free text or an identifier */

static bool is_missing(const char *text)
{
    return text[0] == '\0' || strcmp(text, "?") == 0;
}

/* A column is one of numbers when all its values are; the missing ones among them are counted. */
static bool all_numbers(const struct table *t, size_t column)
{
    size_t numbers = 0;
    double x;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = table_cell(t, i, column);
        if (is_missing(text))
            continue;
        if (!number_real(&x, text, strlen(text)))
            return false;
        numbers++;
    }
    return numbers > 0;
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

/* Sorted distinct values of a column; pointers into the table. */
static sotto_status distinct(const char ***values, size_t *count, const struct table *t, size_t column,
                             order less)
{
    sotto_status status = SOTTO_OK;
    const char **list = NULL;
    size_t kept = 0;
    NEW(list, t->rows);
    for (size_t i = 0; i < t->rows; i++)
        list[i] = table_cell(t, i, column);
    qsort((void *)list, t->rows, sizeof *list, less);
    for (size_t i = 0; i < t->rows; i++)
        if (i == 0 || less(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    if (kept > VALUE_LIMIT) {
        char name[128];
        table_column_name(name, sizeof name, t, column);
        FAIL(SOTTO_EFORMAT, "%s: column '%s' has %zu different values; expected at most %d categories",
             t->where[0], name, kept, VALUE_LIMIT);
    }
    *values = list;
    *count = kept;
    list = NULL;
done:
    base_free((void *)list);
    return status;
}

static size_t code_of(const char *text, const char *const *values, size_t count, order less)
{
    const char *const *hit = bsearch(&text, values, count, sizeof *values, less);
    return (size_t)(hit - values);
}

/* 0 and 1 everywhere but in the first column: Location, Purchase and their kind put the label first. */
static bool rest_is_binary(const struct table *t)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 1; j < t->columns; j++) {
            const char *text = table_cell(t, i, j);
            if ((text[0] != '0' && text[0] != '1') || text[1] != '\0')
                return false;
        }
    return true;
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
    bool first_text = !all_numbers(t, 0), last_text = !all_numbers(t, last);
    if (last_text && !first_text) {
        *column = last;
    } else if ((first_text && !last_text) || (!last_text && rest_is_binary(t))) {
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
        if (is_missing(table_cell(t, i, column)))
            FAIL(SOTTO_EFORMAT, "%s:%zu: the label is missing", t->where[p], t->parts[p].lines[r]);
    }
    table_column_name(d->label_column, sizeof d->label_column, t, column);
    TRY(distinct(&values, &count, t, column, by_value));
    if (count < 2)
        FAIL(SOTTO_EFORMAT, "%s: every label is '%.40s'; expected at least two classes", t->where[0],
             values[0]);
    for (size_t i = 0; i < t->rows; i++)
        d->labels[i] = (int64_t)code_of(table_cell(t, i, column), values, count, by_value);
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
    for (size_t i = 0; i < t->rows; i++)
        out[i * (t->columns - 1)] = (float)code_of(table_cell(t, i, column), values, count, by_bytes);
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
        if (j == label)
            continue;
        TRY(context_check(t->ctx, "%s: stopped while it was read", t->where[0]));
        TRY(all_numbers(t, j) ? fill_number(d->features + at, t, j)
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
