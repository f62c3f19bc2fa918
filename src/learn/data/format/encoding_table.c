/* Tables of text under an encoding that was there before them: private records at an import, where every cell
 * is taken in silence, and queries, where a cell that is no number is the caller's error and is named. */
#include "data/encoding/encoding.h"
#include "data/files/bundle.h"
#include "data/format/csv_table.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_status place_by_name(size_t *where, const char *name, const char *const *header, size_t columns,
                                  const char *file)
{
    *where = columns;
    for (size_t k = 0; k < columns; k++) {
        if (strcmp(header[k], name) != 0)
            continue;
        if (*where < columns)
            return status_fail(SOTTO_EFORMAT, "%s: two columns are called '%.80s'", file, name);
        *where = k;
    }
    return SOTTO_OK;
}

static sotto_status place_by_position(size_t *where, size_t *label, const struct sotto_table_encoding *e,
                                      size_t columns, const char *file)
{
    *label = columns;
    if (!e->label && columns != e->count)
        return status_fail(SOTTO_EFORMAT, "%s: has %zu columns and no header; expected %zu", file, columns,
                           e->count);
    if (columns != e->count && columns != e->count + 1)
        return status_fail(SOTTO_EFORMAT,
                           "%s: has %zu columns and no header; expected %zu, or %zu with '%.80s'", file,
                           columns, e->count, e->count + 1, e->label);
    if (columns > e->count)
        *label = e->label_at;
    for (size_t j = 0; j < e->count; j++)
        where[j] = j + (j >= *label);
    return SOTTO_OK;
}

sotto_status encoding_place(size_t *where, size_t *label, const struct sotto_table_encoding *e,
                            const char *const *header, size_t columns, const char *file)
{
    sotto_status status = SOTTO_OK;
    if (!header) {
        TRY(place_by_position(where, label, e, columns, file));
        goto done;
    }
    *label = columns;
    if (e->label)
        TRY(place_by_name(label, e->label, header, columns, file));
    for (size_t j = 0; j < e->count; j++) {
        TRY(place_by_name(&where[j], e->columns[j].name, header, columns, file));
        if (where[j] == columns && e->columns[j].kind != COLUMN_IGNORED)
            FAIL(SOTTO_EFORMAT, "%s: column '%.80s' is missing; %s needs it", file, e->columns[j].name,
                 e->by);
    }
done:
    return status;
}

/* The first column of a header that an encoding does not know; columns: it knows all. */
static size_t unknown_column(const struct sotto_table_encoding *e, const char *const *header, size_t columns,
                             size_t label)
{
    size_t k = 0;
    while (header && k < columns && (k == label || encoding_find(e, header[k]) < e->count))
        k++;
    return header ? k : columns;
}

sotto_status encoding_place_all(size_t *where, size_t *label, const struct sotto_table_encoding *e,
                                const char *const *header, size_t columns, const char *file)
{
    sotto_status status = SOTTO_OK;
    TRY(encoding_place(where, label, e, header, columns, file));
    size_t k = unknown_column(e, header, columns, *label);
    if (k < columns)
        FAIL(SOTTO_EFORMAT, "%s: column '%.80s' is not described by %s; expected only described columns",
             file, header[k], e->by);
done:
    return status;
}

/* Is the first row of the file a header: does it name every column that is used? */
static bool holds_names(const struct csv *c, const struct sotto_table_encoding *e)
{
    size_t found = 0;
    for (size_t k = 0; c->rows > 0 && k < c->columns; k++) {
        size_t j = encoding_find(e, c->cells[k]);
        found += j < e->count && e->columns[j].kind != COLUMN_IGNORED;
    }
    return found == encoding_used(e);
}

static const char *const *header_of(const struct csv *c, size_t skip)
{
    return skip ? (const char *const *)c->cells : NULL;
}

/* Cells that the schema does not foresee. They are taken as it says; the lines are for the owner of the rows. */
struct strange_cells {
    struct table_lines lines;
    const char *example;
};

static bool is_strange(const struct table *t, const struct encoding_column *c, struct cell cell)
{
    if (encoding_missing(t->schema, cell.text))
        return false;
    return c->kind == COLUMN_NUMBER ? isnan(cell.number)
                                    : text_list_find(&c->categories, cell) == c->categories.count;
}

static void warn_strange(const struct table *t, const char *column, const char *what,
                         const struct strange_cells *strange)
{
    char lines[TABLE_LINES_TEXT];
    size_t count = table_lines_count(&strange->lines);
    if (count > 0)
        context_log(t->ctx, SOTTO_LOG_WARNING, "%s: column '%s': %zu %s, such as '%.20s': %s", t->where[0],
                    column, count, what, strange->example, table_lines_text(lines, t, &strange->lines));
}

static void note_strange(struct strange_cells *strange, const struct table *t, size_t row, const char *text)
{
    table_lines_add(&strange->lines, t, row);
    strange->example = strange->example ? strange->example : text;
}

static sotto_status fill_column(float *out, struct table_column *facts, const struct table *t,
                                const struct encoding_column *c, size_t where, size_t width)
{
    sotto_status status = SOTTO_OK;
    struct strange_cells strange = {0};
    for (size_t i = 0; i < t->rows; i++) {
        struct cell cell = encoding_cell(c, table_cell(t, i, where));
        const bool missing = encoding_missing(t->schema, cell.text);
        TRY(table_go_on(t, i));
        facts->missing += missing;
        if (is_strange(t, c, cell))
            note_strange(&strange, t, i, cell.text);
        if (c->kind == COLUMN_CATEGORY)
            out[i * width] = (float)encoding_category(c, cell);
        else if (c->was_missing && (missing || isnan(cell.number)))
            out[i * width] = NAN; /* the encoding fills it in, and says so */
        else
            out[i * width] = (float)encoding_number(t->schema, c, cell);
    }
    facts->unforeseen = table_lines_count(&strange.lines);
    warn_strange(t, c->name,
                 c->kind == COLUMN_NUMBER ? "cells are no number and count as missing"
                                          : "cells are not among the categories",
                 &strange);
done:
    return status;
}

static sotto_status fill_labels(struct dataset *d, const struct table *t, size_t label)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = t->schema;
    struct strange_cells strange = {0};
    char what[128];
    for (size_t i = 0; i < t->rows; i++) {
        struct cell cell = cell_of_text(table_cell(t, i, label));
        TRY(table_go_on(t, i));
        if (text_list_find(&e->classes, cell) == e->classes.count)
            note_strange(&strange, t, i, cell.text);
        d->labels[i] = (int64_t)encoding_class(e, cell);
    }
    snprintf(what, sizeof what, "labels are not among the classes and count as '%.60s'",
             e->classes.texts[e->other_class]);
    warn_strange(t, e->label, what, &strange);
done:
    return status;
}

static sotto_status describe_set(struct dataset *d, const struct sotto_table_encoding *e)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_set_classes(d, e->classes.count, (const char *const *)e->classes.texts));
    base_free(d->encoding);
    d->encoding = NULL;
    TRY(encoding_text(&d->encoding, e));
    d->drafted = e->how == SOTTO_ENCODING_FITTED;
    strncpy(d->label_column, e->label, sizeof d->label_column - 1);
done:
    return status;
}

static sotto_status find_columns(size_t *where, size_t *label, const struct table *t)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = t->schema;
    if (!e->header && holds_names(&t->parts[0], e))
        FAIL(SOTTO_EFORMAT, "%s: begins with a row of names; expected 'header: true' in %s", t->where[0],
             e->by);
    TRY(encoding_place_all(where, label, e, header_of(&t->parts[0], t->skip[0]), t->columns, t->where[0]));
    if (*label == t->columns)
        FAIL(SOTTO_EFORMAT, "%s: label column '%.80s' is missing", t->where[0], e->label);
done:
    return status;
}

sotto_status table_fill_declared(struct dataset *d, struct table *t)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = t->schema;
    size_t label, used = encoding_used(e), at = 0, *where = NULL;
    NEW(where, e->count);
    TRY(find_columns(where, &label, t));
    table_strip_dots(t, label);
    TRY(table_check_rows(t, label, d->persons));
    TRY(dataset_reserve_features(d, t->rows, used, true));
    TRY(dataset_reserve_columns(d, used));
    for (size_t j = 0; j < e->count; j++) {
        if (e->columns[j].kind == COLUMN_IGNORED)
            continue;
        const struct encoding_column *c = &e->columns[j];
        TRY(dataset_set_column(d, at, c->name,
                               c->kind == COLUMN_CATEGORY ? (const char *const *)c->categories.texts : NULL,
                               c->categories.count));
        d->columns[at].form = c->form;
        TRY(fill_column(d->features + at, &d->columns[at], t, c, where[j], used));
        at++;
    }
    TRY(fill_labels(d, t, label));
    TRY(describe_set(d, e));
done:
    base_free(where);
    return status;
}

static void log_query(enum sotto_log_level level, const struct csv *c, const char *column, const char *what,
                      const struct line_list *list, const char *example, const struct sotto_context *ctx)
{
    char lines[400];
    if (list->count > 0)
        context_log(ctx, level, "%s: column '%.80s': %zu cells %s, such as '%.40s': %s", c->name, column,
                    list->count, what, example, line_list_text(lines, list));
}

/* Names the cells of queries that are taken as the encoding says; a text for a number is refused. */
static sotto_status check_queries(const struct sotto_table_encoding *e, const struct encoding_column *column,
                                  const struct csv *c, size_t skip, size_t where,
                                  const struct sotto_context *ctx)
{
    struct line_list odd = {0}, missing = {0};
    const char *example = "", *marker = "";
    char what[400];
    bool number = column->kind == COLUMN_NUMBER;
    for (size_t i = skip; i < c->rows; i++) {
        struct cell cell = encoding_cell(column, csv_cell(c, i, where));
        if (encoding_missing(e, cell.text)) {
            marker = cell.text;
            if (number)
                line_list_add(&missing, c->lines[i]);
        } else if (number ? isnan(cell.number)
                          : text_list_find(&column->categories, cell) == column->categories.count) {
            example = odd.count ? example : cell.text;
            line_list_add(&odd, c->lines[i]);
        }
    }
    if (number && odd.count > 0)
        return status_fail(SOTTO_EFORMAT, "%s:%zu: column '%.80s' is '%.40s'; expected a %s%s%s", c->name,
                           odd.lines[0], column->name, example,
                           column->form == NUMBER_DATE ? "date such as 2020-08-14 or 14.08.2020" : "number",
                           odd.count > 1 ? "; so in all of " : "",
                           odd.count > 1 ? line_list_text(what, &odd) : "");
    char day[16];
    snprintf(what, sizeof what, "hold no value and count as %.9g", column->missing);
    if (column->form == NUMBER_DATE)
        snprintf(what, sizeof what, "hold no value and count as %s", date_text(day, column->missing));
    log_query(SOTTO_LOG_INFO, c, column->name, what, &missing, marker, ctx);
    snprintf(what, sizeof what, "have categories that %.300s does not list", e->by);
    log_query(SOTTO_LOG_WARNING, c, column->name, what, &odd, example, ctx);
    return SOTTO_OK;
}

static sotto_status write_queries(struct sotto_array *x, const struct sotto_table_encoding *e,
                                  const struct csv *c, size_t skip, const size_t *where,
                                  const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t shape[2] = {c->rows - skip, sotto_table_encoding_width(e)};
    struct sotto_array made = {0};
    for (size_t j = 0; j < e->count; j++)
        if (e->columns[j].kind != COLUMN_IGNORED)
            TRY(check_queries(e, &e->columns[j], c, skip, where[j], ctx));
    TRY(sotto_array_make(&made, SOTTO_F4, 2, shape));
    for (size_t i = 0; i < shape[0]; i++) {
        float *out = (float *)made.data + i * shape[1];
        if (i % 4096 == 0)
            TRY(context_check(ctx, "%s: stopped while it was encoded", c->name));
        for (size_t j = 0; j < e->count; j++)
            if (e->columns[j].kind != COLUMN_IGNORED)
                out = encoding_write(out, e, &e->columns[j],
                                     encoding_cell(&e->columns[j], csv_cell(c, skip + i, where[j])));
    }
    *x = made;
    made = (struct sotto_array){0};
done:
    sotto_array_clear(&made);
    return status;
}

/* Columns that the training table did not keep: an identifier, the person, what --drop left out. */
static void log_unknown(const struct csv *c, const struct sotto_table_encoding *e, size_t skip, size_t label,
                        const struct sotto_context *ctx)
{
    const size_t k = unknown_column(e, header_of(c, skip), c->columns, label);
    if (k < c->columns)
        context_log(ctx, SOTTO_LOG_INFO,
                    "%s: columns that the model does not use are not read, such as '%.80s'", c->name,
                    csv_cell(c, 0, k));
}

sotto_status sotto_table_encode(struct sotto_array *x, const struct sotto_table_encoding *e, const char *path,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(x, e, path);
    sotto_status status = SOTTO_OK;
    struct csv c = {0};
    const bool tabs = name_ends(path, ".tsv");
    const struct csv_style style = {.separator = tabs ? '\t' : 0, .detect = !tabs, .trim = true, .ctx = ctx};
    size_t label, *where = NULL, size, text_size;
    unsigned char *bytes = NULL;
    char *text = NULL;
    enum text_encoding from;
    NEW(where, e->count);
    TRY(file_read(&bytes, &size, path, (size_t)1 << 30));
    TRY(table_text(&text, &text_size, &from, (const char *)bytes, size, path, NULL, e->text, TEXT_SHOWN,
                   ctx));
    TRY(csv_parse(&c, text, text_size, path, &style));
    size_t skip = e->header || holds_names(&c, e);
    TRY(encoding_place(where, &label, e, header_of(&c, skip), c.columns, path));
    log_unknown(&c, e, skip, label, ctx);
    if (c.rows == skip)
        FAIL(SOTTO_EFORMAT, "%s: holds a header but no rows", path);
    TRY(write_queries(x, e, &c, skip, where, ctx));
done:
    base_free(bytes);
    base_free(text);
    csv_clear(&c);
    base_free(where);
    return status;
}

sotto_status sotto_table_answers(const char *path, const struct sotto_table_encoding *e,
                                 const struct sotto_array *probabilities)
{
    REQUIRE_GIVEN(e, probabilities);
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {.stream = path ? NULL : stdout};
    const size_t n = probabilities->shape[0], classes = probabilities->shape[1];
    static const char title[] = "row,class,probability\n";
    REQUIRE(classes == e->classes.count,
            "answers: %zu columns of probabilities but %zu classes; expected the same number", classes,
            e->classes.count);
    if (path)
        TRY(atomic_open(&f, path));
    atomic_write(&f, title, sizeof title - 1);
    for (size_t i = 0; i < n; i++) {
        const float *p = (const float *)probabilities->data + i * classes;
        size_t best = 0;
        for (size_t k = 1; k < classes; k++)
            best = p[k] > p[best] ? k : best;
        csv_write_real(&f, (double)(i + 1));
        atomic_write(&f, ",", 1);
        csv_write_text(&f, e->classes.texts[best]);
        atomic_write(&f, ",", 1);
        csv_write_real(&f, (double)p[best]);
        atomic_write(&f, "\n", 1);
    }
    if (path)
        TRY(atomic_commit(&f));
done:
    if (path)
        atomic_discard(&f);
    return status;
}
