/* Tables of text under an encoding that was there before them: private records at an import, where every cell
 * is taken in silence, and queries, where a cell that is no number is the caller's error and is named. */
#include "data/files/bundle.h"
#include "data/format/csv_table.h"

#include <math.h>
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
    if (columns != e->count && columns != e->count + 1)
        return status_fail(SOTTO_EFORMAT,
                           "%s: has %zu columns and no header; expected %zu, or %zu with '%.80s'", file,
                           columns, e->count, e->count + 1, e->label);
    *label = columns > e->count ? e->label_at : columns;
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
    TRY(place_by_name(label, e->label, header, columns, file));
    for (size_t j = 0; j < e->count; j++) {
        TRY(place_by_name(&where[j], e->columns[j].name, header, columns, file));
        if (where[j] == columns && e->columns[j].kind != COLUMN_IGNORED)
            FAIL(SOTTO_EFORMAT, "%s: column '%.80s' is missing; %s needs it", file, e->columns[j].name,
                 e->by);
    }
    for (size_t k = 0; k < columns; k++)
        if (k != *label && encoding_find(e, header[k]) == e->count)
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

static sotto_status fill_column(float *out, const struct table *t, const struct encoding_column *c,
                                size_t where, size_t width)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < t->rows; i++) {
        struct cell cell = cell_of_text(table_cell(t, i, where));
        TRY(table_go_on(t, i));
        out[i * width] = c->kind == COLUMN_NUMBER ? (float)encoding_number(t->schema, c, cell)
                                                  : (float)encoding_category(c, cell);
    }
done:
    return status;
}

static sotto_status describe_set(struct dataset *d, const struct sotto_table_encoding *e)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_set_classes(d, e->classes.count, (const char *const *)e->classes.texts));
    base_free(d->encoding);
    d->encoding = NULL;
    TRY(sotto_table_encoding_text(&d->encoding, e));
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
    TRY(encoding_place(where, label, e, header_of(&t->parts[0], t->skip[0]), t->columns, t->where[0]));
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
    TRY(dataset_reserve_features(d, t->rows, used, true));
    d->set.n_train = table_part_rows(t, 0);
    TRY(dataset_reserve_columns(d, used));
    for (size_t j = 0; j < e->count; j++) {
        if (e->columns[j].kind == COLUMN_IGNORED)
            continue;
        const struct encoding_column *c = &e->columns[j];
        TRY(fill_column(d->features + at, t, c, where[j], used));
        TRY(dataset_set_column(d, at++, c->name,
                               c->kind == COLUMN_CATEGORY ? (const char *const *)c->categories.texts : NULL,
                               c->categories.count));
    }
    table_strip_dots(t, label);
    for (size_t i = 0; i < t->rows; i++) {
        TRY(table_go_on(t, i));
        d->labels[i] = (int64_t)encoding_class(e, cell_of_text(table_cell(t, i, label)));
    }
    TRY(describe_set(d, e));
done:
    base_free(where);
    return status;
}

/* One query. `unknown` counts categories that the encoding does not list. */
static sotto_status write_query(float *out, size_t *unknown, const struct sotto_table_encoding *e,
                                const struct csv *c, size_t row, const size_t *where)
{
    sotto_status status = SOTTO_OK;
    for (size_t j = 0; j < e->count; j++) {
        const struct encoding_column *column = &e->columns[j];
        if (column->kind == COLUMN_IGNORED)
            continue;
        const char *text = csv_cell(c, row, where[j]);
        struct cell cell = cell_of_text(text);
        if (column->kind == COLUMN_NUMBER && isnan(cell.number) &&
            text_list_find(&e->missing, cell) == e->missing.count)
            FAIL(SOTTO_EFORMAT, "%s:%zu: column '%.80s' is '%.40s'; expected a number", c->name,
                 c->lines[row], column->name, text);
        *unknown += column->kind == COLUMN_CATEGORY &&
                    text_list_find(&column->categories, cell) == column->categories.count;
        out = encoding_write(out, e, column, cell);
    }
done:
    return status;
}

static sotto_status write_queries(struct sotto_array *x, const struct sotto_table_encoding *e,
                                  const struct csv *c, size_t skip, const size_t *where,
                                  const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t unknown = 0, shape[2] = {c->rows - skip, sotto_table_encoding_width(e)};
    struct sotto_array made = {0};
    TRY(sotto_array_make(&made, SOTTO_F4, 2, shape));
    for (size_t i = 0; i < shape[0]; i++) {
        if (i % 4096 == 0)
            TRY(context_check(ctx, "%s: stopped while it was encoded", c->name));
        TRY(write_query((float *)made.data + i * shape[1], &unknown, e, c, skip + i, where));
    }
    if (unknown > 0)
        context_log(ctx, SOTTO_LOG_WARNING, "%s: %zu cells have categories that %s does not list", c->name,
                    unknown, e->by);
    *x = made;
    made = (struct sotto_array){0};
done:
    sotto_array_clear(&made);
    return status;
}

sotto_status sotto_table_encode(struct sotto_array *x, const struct sotto_table_encoding *e, const char *path,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct csv c = {0};
    const struct csv_style style = {
        .separator = name_ends(path, ".tsv") ? '\t' : 0, .trim = true, .ctx = ctx};
    size_t label, *where = NULL;
    NEW(where, e->count);
    TRY(csv_read_file(&c, path, &style));
    size_t skip = e->header || holds_names(&c, e);
    TRY(encoding_place(where, &label, e, header_of(&c, skip), c.columns, path));
    if (c.rows == skip)
        FAIL(SOTTO_EFORMAT, "%s: holds a header but no rows", path);
    TRY(write_queries(x, e, &c, skip, where, ctx));
done:
    csv_clear(&c);
    base_free(where);
    return status;
}

sotto_status sotto_table_answers(const char *path, const struct sotto_table_encoding *e,
                                 const struct sotto_array *probabilities)
{
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
