/* What the cells of a table are, which of its rows can be records, and what the caller says about both. */
#include "data/files/bundle.h"
#include "data/format/csv_table.h"

#include <stdio.h>
#include <string.h>

sotto_status table_go_on(const struct table *t, size_t row)
{
    enum { BLOCK = 4096 }; /* rows between two questions whether to go on */
    return row % BLOCK ? SOTTO_OK : context_check(t->ctx, "%s: stopped while it was read", t->where[0]);
}

bool table_find_column(size_t *column, const struct table *t, const char *wanted)
{
    char name[128];
    for (*column = 0; *column < t->columns; ++*column) {
        table_column_name(name, sizeof name, t, *column);
        if (strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

void table_lines_add(struct table_lines *lines, const struct table *t, size_t row)
{
    size_t r, p = table_locate(&r, t, row);
    line_list_add(&lines->part[p], t->parts[p].lines[r]);
}

size_t table_lines_count(const struct table_lines *lines)
{
    return lines->part[0].count + lines->part[1].count;
}

const char *table_lines_text(char out[TABLE_LINES_TEXT], const struct table *t,
                             const struct table_lines *lines)
{
    char first[400] = "", second[400];
    if (lines->part[0].count > 0)
        line_list_text(first, &lines->part[0]);
    if (lines->part[1].count == 0)
        snprintf(out, TABLE_LINES_TEXT, "%s", first);
    else
        snprintf(out, TABLE_LINES_TEXT, "%s%s%s of %.80s", first, first[0] ? ", and " : "",
                 line_list_text(second, &lines->part[1]), path_base(t->where[1]));
    return out;
}

bool table_missing(const struct table *t, const char *text)
{
    return text_list_find(&t->missing, cell_of_text(text)) < t->missing.count;
}

sotto_status table_column_facts(struct column_facts *out, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    struct column_facts f = {0};
    double x;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = table_cell(t, i, column);
        TRY(table_go_on(t, i));
        if (table_missing(t, text)) {
            f.missing++;
        } else if (number_of_form(&x, text, NUMBER_POINT)) {
            f.numbers++;
            f.points += strchr(text, '.') != NULL;
        } else {
            f.example = f.example ? f.example : text;
            f.decimal_commas += number_of_form(&x, text, NUMBER_COMMA);
            f.dates += number_of_form(&x, text, NUMBER_DATE);
            table_lines_add(&f.others, t, i);
        }
    }
    *out = f;
done:
    return status;
}

/* Names do not come back as values of their columns. */
static bool first_row_recurs(const struct csv *c)
{
    for (size_t j = 0; j < c->columns; j++)
        for (size_t i = 1; i < c->rows; i++)
            if (strcmp(csv_cell(c, i, j), csv_cell(c, 0, j)) == 0)
                return true;
    return false;
}

bool table_has_header(const struct table *t, size_t part)
{
    const struct csv *c = &t->parts[part];
    double x;
    if (csv_has_header(c))
        return true;
    for (size_t j = 0; j < c->columns; j++)
        if (number_of_form(&x, csv_cell(c, 0, j), NUMBER_POINT) || table_missing(t, csv_cell(c, 0, j)))
            return false;
    return c->rows > 2 && !first_row_recurs(c);
}

static sotto_status no_column(const struct table *t, const char *option, const char *name)
{
    return status_fail(SOTTO_EINVAL, "%s: --%s names the column '%.80s', which the table does not have",
                       t->where[0], option, name);
}

/* Does the caller say so? */
bool table_decimal_comma(const struct table *t)
{
    return t->options->decimal && strcmp(t->options->decimal, "comma") == 0;
}

static sotto_status read_types(struct table *t, const char *list)
{
    sotto_status status = SOTTO_OK;
    char word[256];
    size_t column;
    while (text_next_word(word, &list)) {
        char *sign = strrchr(word, '=');
        bool date = sign && strcmp(sign, "=date") == 0,
             number = date || (sign && strcmp(sign, "=number") == 0);
        if (!number && !(sign && strcmp(sign, "=category") == 0))
            FAIL(SOTTO_EUSAGE,
                 "{types}: '%.80s' is not a column's type; expected COLUMN=number, COLUMN=date or "
                 "COLUMN=category",
                 word);
        *sign = '\0';
        if (!table_find_column(&column, t, word))
            return no_column(t, "types", word);
        t->kinds[column] = number ? TABLE_NUMBER : TABLE_CATEGORY;
        t->forms[column] = date ? NUMBER_DATE : table_decimal_comma(t) ? NUMBER_COMMA : NUMBER_POINT;
    }
done:
    return status;
}

sotto_status table_read_choices(struct table *t)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_import_options *o = t->options;
    const char *list = o->drop;
    char word[256];
    size_t column;
    NEW(t->kinds, t->columns);
    NEW(t->forms, t->columns);
    NEW(t->prefixes, t->columns);
    if (o->decimal && strcmp(o->decimal, "comma") != 0 && strcmp(o->decimal, "point") != 0)
        FAIL(SOTTO_EUSAGE, "{decimal}: '%.20s'; expected comma or point", o->decimal);
    TRY(read_types(t, o->types));
    while (text_next_word(word, &list)) {
        if (!table_find_column(&column, t, word))
            return no_column(t, "drop", word);
        t->kinds[column] = TABLE_DROPPED;
    }
done:
    return status;
}

static bool has_label(const struct table *t, const char *text)
{
    const struct sotto_table_encoding *e = t->schema;
    if (!e)
        return !table_missing(t, text);
    return e->other_declared || text_list_find(&e->classes, cell_of_text(text)) < e->classes.count;
}

/* Marks the rows whose cell in this column is none for a record. */
static sotto_status csv_cells_mark(bool *bad, struct table_lines *lines, const struct table *t, size_t column,
                                   bool label)
{
    sotto_status status = SOTTO_OK;
    double x;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = table_cell(t, i, column);
        TRY(table_go_on(t, i));
        if (label ? has_label(t, text) : table_missing(t, text) || number_of_form(&x, text, t->forms[column]))
            continue;
        table_lines_add(lines, t, i);
        bad[i] = true;
    }
done:
    return status;
}

static sotto_status csv_cells_refuse(const struct table *t, const struct table_lines *lines, size_t column,
                                     bool label)
{
    char name[128], shown[TABLE_LINES_TEXT];
    size_t count = table_lines_count(lines);
    table_column_name(name, sizeof name, t, column);
    sotto_status status = status_fail(SOTTO_EFORMAT, "%s: column '%s' has no %s in %zu %s: %s", t->where[0],
                                      name, label ? "label" : "number", count, count == 1 ? "row" : "rows",
                                      table_lines_text(shown, t, lines));
    status_hint(label ? "{drop_bad_rows} leaves these rows out"
                      : "{missing} names the cells that stand for no value, and {drop_bad_rows} leaves these "
                        "rows out");
    return status;
}

static sotto_status check_column(bool *bad, const struct table *t, size_t column, bool label)
{
    sotto_status status = SOTTO_OK;
    struct table_lines lines = {0};
    TRY(csv_cells_mark(bad, &lines, t, column, label));
    if (table_lines_count(&lines) > 0 && !t->options->drop_bad_rows)
        TRY(csv_cells_refuse(t, &lines, column, label));
done:
    return status;
}

static sotto_status remove_rows(struct table *t, const bool *bad)
{
    sotto_status status = SOTTO_OK;
    struct table_lines lines = {0};
    char shown[TABLE_LINES_TEXT];
    bool *of_part[2] = {NULL};
    for (size_t p = 0; p < t->count; p++)
        NEW(of_part[p], t->parts[p].rows);
    for (size_t i = 0; i < t->rows; i++) {
        size_t r, p = table_locate(&r, t, i);
        of_part[p][r] = bad[i];
        if (bad[i])
            table_lines_add(&lines, t, i);
    }
    size_t count = table_lines_count(&lines);
    if (2 * count > t->rows)
        FAIL(SOTTO_EFORMAT, "%s: %zu of %zu rows have no label or no number where one is expected: %s",
             t->where[0], count, t->rows, table_lines_text(shown, t, &lines));
    for (size_t p = 0; p < t->count; p++)
        csv_remove_rows(&t->parts[p], of_part[p]);
    t->rows -= count;
    t->left_out += count;
    if (count > 0)
        context_log(t->ctx, SOTTO_LOG_WARNING, "%s: %zu rows without a label%s or number were left out: %s",
                    t->where[0], count, t->schema ? " of the schema" : "",
                    table_lines_text(shown, t, &lines));
done:
    base_free(of_part[0]);
    base_free(of_part[1]);
    return status;
}

/* Persons stay numbered in the order of their first rows. */
static sotto_status remove_persons(int64_t *persons, const bool *bad, size_t n)
{
    sotto_status status = SOTTO_OK;
    int64_t *renumbered = NULL, next = 0;
    NEW(renumbered, n);
    for (size_t i = 0, kept = 0; i < n; i++) {
        int64_t *number = &renumbered[persons[i]]; /* from 1; 0: not met yet */
        if (bad[i])
            continue;
        if (*number == 0)
            *number = ++next;
        persons[kept++] = *number - 1;
    }
done:
    base_free(renumbered);
    return status;
}

sotto_status table_check_rows(struct table *t, size_t label, int64_t *persons)
{
    sotto_status status = SOTTO_OK;
    bool *bad = NULL;
    if (t->schema && !t->options->drop_bad_rows)
        goto done; /* under a schema no cell is refused */
    NEW(bad, t->rows);
    TRY(check_column(bad, t, label, true));
    for (size_t j = 0; t->kinds && j < t->columns; j++)
        if (t->kinds[j] == TABLE_NUMBER && j != label)
            TRY(check_column(bad, t, j, false));
    if (persons)
        TRY(remove_persons(persons, bad, t->rows));
    TRY(remove_rows(t, bad));
done:
    base_free(bad);
    return status;
}
