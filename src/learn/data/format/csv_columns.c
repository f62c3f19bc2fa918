/* Columns: which one is the label, which ones are numbers, and codes for those that are texts. Columns of
 * numbers stay numbers; a column of texts becomes category codes (position in the sorted list of its values).
 * Where the file does not show which column is the label, the user must say. */
#include "data/format/csv_table.h"

#include "io/text/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_LIMIT = 10000 }; /* distinct texts in a column; more is free text or an identifier */

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

sotto_status table_count_values(size_t *values, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    const char **list = NULL;
    NEW(list, t->rows);
    for (size_t i = 0; i < t->rows; i++)
        list[i] = table_cell(t, i, column);
    TRY(table_go_on(t, 0));
    qsort((void *)list, t->rows, sizeof *list, by_bytes);
    *values = t->rows > 0;
    for (size_t i = 1; i < t->rows; i++)
        *values += strcmp(list[i - 1], list[i]) != 0;
done:
    base_free((void *)list);
    return status;
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
static sotto_status csv_columns_distinct(const char ***values, size_t *count, const struct table *t,
                                         size_t column, order less)
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
            status = status_fail(SOTTO_EFORMAT,
                                 "%s: column '%s' has more than %d different values; expected categories",
                                 t->where[0], name, VALUE_LIMIT);
            status_hint("{drop='%s'} leaves the column out; if it names persons, give {person='%s'} "
                        "{rows_per_person=M}",
                        name, name);
            goto done;
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

static bool is_numbers(const struct column_facts *f)
{
    return f->numbers > 0 && table_lines_count(&f->others) == 0;
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

sotto_status table_choose_label(size_t *column, const struct table *t, const char *asked)
{
    sotto_status status = SOTTO_OK;
    size_t last = t->columns - 1;
    if (asked) {
        if (table_find_column(column, t, asked))
            goto done;
        if (strcmp(asked, "first") != 0 && strcmp(asked, "last") != 0)
            FAIL(SOTTO_EINVAL, "%s: has no column '%.80s'", t->where[0], asked);
        *column = strcmp(asked, "first") == 0 ? 0 : last;
        goto done;
    }
    if (table_find_column(column, t, "label") || table_find_column(column, t, "class") ||
        table_find_column(column, t, "target"))
        goto done;
    struct column_facts of_first, of_last;
    bool binary = false;
    TRY(table_column_facts(&of_first, t, 0));
    TRY(table_column_facts(&of_last, t, last));
    bool first_numbers = is_numbers(&of_first), last_numbers = is_numbers(&of_last);
    if (first_numbers && last_numbers)
        TRY(rest_is_binary(&binary, t));
    if (!last_numbers && first_numbers) {
        *column = last;
    } else if ((!first_numbers && last_numbers) || binary) {
        *column = 0;
    } else {
        status =
            status_fail(SOTTO_EINVAL, "%s: the label among %zu columns is unknown", t->where[0], t->columns);
        status_hint("give {label=first}, {label=last} or {label=COLUMN}");
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
    table_column_name(d->label_column, sizeof d->label_column, t, column);
    TRY(csv_columns_distinct(&values, &count, t, column, by_value));
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

void table_warn_classes(const struct dataset *d, const struct table *t)
{
    enum { FEW = 10 };
    size_t *counts = base_alloc(d->set.classes, sizeof *counts);
    for (size_t i = 0; counts && i < t->rows; i++)
        counts[d->labels[i]]++;
    for (size_t k = 0; counts && k < d->set.classes; k++)
        if (counts[k] < FEW)
            context_log(t->ctx, SOTTO_LOG_WARNING,
                        "%s: class '%.40s' has %zu records, too few to be learnt; is it one of column '%s'?",
                        t->where[0], d->class_names[k], counts[k], d->label_column);
    base_free(counts);
}

/* A column of numbers but for a few cells, or of numbers with decimal commas. */
static sotto_status judge_texts(const struct table *t, const char *name, const struct column_facts *f)
{
    char lines[TABLE_LINES_TEXT];
    size_t others = table_lines_count(&f->others);
    if (f->decimal_commas > 0 && f->decimal_commas + f->numbers >= others - f->decimal_commas) {
        sotto_status status =
            status_fail(SOTTO_EFORMAT,
                        "%s: column '%s' has decimal commas, such as '%.20s'; expected decimal points (%s)",
                        t->where[0], name, f->example, table_lines_text(lines, t, &f->others));
        status_hint("{decimal=comma} reads them, or {types='%s=category'} takes them as they are", name);
        return status;
    }
    if ((double)f->numbers > 0.95 * (double)(f->numbers + others))
        context_log(t->ctx, SOTTO_LOG_WARNING,
                    "%s: column '%s' becomes categories because %zu of its %zu values %s no number, such as "
                    "'%.20s': %s; give {missing} for texts that stand for no value, '{types=%s=number} "
                    "{drop_bad_rows}' to leave these rows out, or '{types=%s=category}'",
                    t->where[0], name, others, f->numbers + others, others == 1 ? "is" : "are", f->example,
                    table_lines_text(lines, t, &f->others), name, name);
    return SOTTO_OK;
}

enum { MANY_VALUES = 50, IDENTIFIED = 20, NUMBERED = 100 };

/* An identifier has a value of its own in every row. Numbers that are measured seldom do where they are whole. */
static bool column_identifies(const struct column_facts *f, size_t values)
{
    const size_t others = table_lines_count(&f->others), present = f->numbers + others;
    return values == present && f->dates == 0 && f->decimal_commas == 0 && f->points == 0 &&
           present >= (others ? IDENTIFIED : NUMBERED);
}

/* Of a column whose kind the caller has not stated. */
static void warn_values(const struct table *t, const char *name, const struct column_facts *f, size_t values,
                        bool category)
{
    if (column_identifies(f, values))
        context_log(
            t->ctx, SOTTO_LOG_WARNING,
            "%s: column '%s' has another value in each of %zu rows, as an identifier has; {drop='%s'} "
            "leaves it out, {types='%s=%s'} takes it as it is",
            t->where[0], name, values, name, name, category ? "category" : "number");
    else if (category && values > MANY_VALUES)
        context_log(t->ctx, SOTTO_LOG_WARNING,
                    "%s: column '%s' has %zu categories, more than %d; {drop='%s'} leaves it out, "
                    "{types='%s=category'} takes them, and a schema can shorten codes ('prefix: 3')",
                    t->where[0], name, values, (int)MANY_VALUES, name, name);
}

/* What the cells make of a column: numbers in some form, or categories. */
static bool find_form(enum number_form *form, const struct table *t, const struct column_facts *f)
{
    const size_t others = table_lines_count(&f->others);
    const bool commas = f->decimal_commas > 0 && f->decimal_commas == others && f->points == 0;
    *form = f->dates > 0 && f->dates == others && f->numbers == 0 ? NUMBER_DATE
            : commas && (t->drafting || table_decimal_comma(t))   ? NUMBER_COMMA
                                                                  : NUMBER_POINT;
    return *form != NUMBER_POINT || is_numbers(f);
}

/* A, a digit, a digit or letter, and perhaps more, as the codes of ICD, ATC and others. */
static bool is_code(const char *text)
{
    return text[0] >= 'A' && text[0] <= 'Z' && text[1] >= '0' && text[1] <= '9' &&
           isalnum((unsigned char)text[2]) && !isdigit((unsigned char)(text[2] ? text[3] : '\0')) &&
           strlen(text) <= 8;
}

static sotto_status count_codes(size_t *codes, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    *codes = 0;
    for (size_t i = 0; i < t->rows; i++) {
        TRY(table_go_on(t, i));
        *codes += is_code(table_cell(t, i, column));
    }
done:
    return status;
}

static sotto_status propose_column(struct table *t, size_t column)
{
    enum { CODE = 3 };
    sotto_status status = SOTTO_OK;
    struct column_facts f;
    enum number_form form;
    size_t values, codes;
    bool persons;
    TRY(table_column_facts(&f, t, column));
    TRY(table_count_values(&values, t, column));
    TRY(count_codes(&codes, t, column));
    values -= f.missing > 0 && values > 0;
    TRY(table_names_persons(&persons, t, column));
    const bool numbers = find_form(&form, t, &f),
               coded = codes > 0 && (double)codes >= 0.9 * (double)table_lines_count(&f.others);
    if (persons && !coded) {
        t->kinds[column] = TABLE_DROPPED; /* csv_persons.c warned of it */
    } else if (column_identifies(&f, values) || (!numbers && values > VALUE_LIMIT)) {
        char name[128];
        table_column_name(name, sizeof name, t, column);
        warn_values(t, name, &f, values, !numbers);
        t->kinds[column] = TABLE_DROPPED;
    } else if (!numbers && values > MANY_VALUES && coded) {
        t->prefixes[column] = CODE;
    }
done:
    return status;
}

sotto_status table_propose(struct table *t, size_t label)
{
    sotto_status status = SOTTO_OK;
    char name[128], value[4096];
    for (size_t j = 0; j < t->columns; j++) {
        table_column_name(name, sizeof name, t, j);
        if (j != label && t->kinds[j] == TABLE_FOUND && !table_stated(value, t, name))
            TRY(propose_column(t, j));
    }
done:
    return status;
}

/* Missing ones are NAN until an encoding says what stands for them: no other row decides it here. */
static sotto_status fill_number(float *out, const struct table *t, size_t column, enum number_form form,
                                size_t width)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < t->rows; i++) {
        double x = NAN;
        TRY(table_go_on(t, i));
        if (!table_missing(t, table_cell(t, i, column)))
            number_of_form(&x, table_cell(t, i, column), form);
        out[i * width] = (float)x;
    }
done:
    return status;
}

static sotto_status fill_codes(float *out, const char ***codes, size_t *code_count, const struct table *t,
                               size_t column, size_t width)
{
    sotto_status status = SOTTO_OK;
    const char **values = NULL;
    size_t count;
    TRY(csv_columns_distinct(&values, &count, t, column, by_bytes));
    for (size_t i = 0; i < t->rows; i++) {
        TRY(table_go_on(t, i));
        out[i * width] = (float)place_of(table_cell(t, i, column), values, count, by_bytes);
    }
    *codes = values;
    *code_count = count;
    values = NULL;
done:
    base_free((void *)values);
    return status;
}

static sotto_status warn_column(const struct table *t, const char *name, size_t column,
                                const struct column_facts *f, bool category)
{
    sotto_status status = SOTTO_OK;
    size_t values;
    TRY(table_count_values(&values, t, column));
    warn_values(t, name, f, values - (f->missing > 0 && values > 0), category);
done:
    return status;
}

/* Column `at` of the set from one of the table. */
static sotto_status fill_feature(struct dataset *d, size_t at, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    struct column_facts f;
    const char **codes = NULL;
    size_t count = 0, width = d->set.columns;
    char name[128], value[4096];
    table_column_name(name, sizeof name, t, column);
    TRY(table_column_facts(&f, t, column));
    const bool found = t->kinds[column] == TABLE_FOUND;
    enum number_form form = t->forms[column];
    bool numbers = t->kinds[column] == TABLE_NUMBER || (found && find_form(&form, t, &f));
    if (found && !numbers)
        TRY(judge_texts(t, name, &f));
    if (found && !t->prefixes[column] && !table_stated(value, t, name))
        TRY(warn_column(t, name, column, &f, !numbers));
    TRY(numbers ? fill_number(d->features + at, t, column, form, width)
                : fill_codes(d->features + at, &codes, &count, t, column, width));
    TRY(dataset_set_column(d, at, name, codes, count));
    d->columns[at].missing = f.missing;
    d->columns[at].form = numbers ? form : NUMBER_POINT;
done:
    base_free((void *)codes);
    return status;
}

sotto_status table_fill_features(struct dataset *d, const struct table *t, size_t label)
{
    sotto_status status = SOTTO_OK;
    size_t used = 0, at = 0;
    for (size_t j = 0; j < t->columns; j++)
        used += j != label && t->kinds[j] != TABLE_DROPPED;
    if (used == 0 || t->kinds[label] == TABLE_DROPPED)
        FAIL(SOTTO_EINVAL, "%s: {drop} leaves no label or no feature; expected one of each", t->where[0]);
    TRY(dataset_reserve_features(d, t->rows, used, true));
    TRY(dataset_reserve_columns(d, used));
    for (size_t j = 0; j < t->columns; j++)
        if (j != label && t->kinds[j] != TABLE_DROPPED)
            TRY(fill_feature(d, at++, t, j));
done:
    return status;
}
