/* Encodings learnt from rows. Kinds, too, are decided by the rows that are named: one text among the numbers
 * of another row must not make a category of their column. */
#include "data/encoding/encoding.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static size_t row_at(const int64_t *rows, size_t i)
{
    return rows ? (size_t)rows[i] : i;
}

/* Which of `count` codes occur. */
static sotto_status find_occurring(bool **out, size_t count, const struct sotto_dataset *s, size_t column,
                                   const int64_t *rows, size_t n)
{
    bool *occurs = base_alloc(count, sizeof *occurs);
    if (!occurs)
        return status_fail(SOTTO_ENOMEM, "encoding: out of memory");
    for (size_t i = 0; i < n; i++) {
        float x = s->features[row_at(rows, i) * s->columns + column];
        if (x >= 0 && x < (float)count)
            occurs[(size_t)x] = true;
    }
    *out = occurs;
    return SOTTO_OK;
}

/* A column of codes holds numbers when all that occur are, but for the markers of missing ones. */
static bool all_numbers(const struct sotto_table_encoding *e, const struct table_column *from,
                        const bool *occurs)
{
    size_t numbers = 0;
    for (size_t k = 0; k < from->code_count; k++) {
        struct cell c = cell_of_text(from->codes[k]);
        if (!occurs[k] || text_list_find(&e->missing, c) < e->missing.count)
            continue;
        if (isnan(c.number))
            return false;
        numbers++;
    }
    return numbers > 0;
}

static sotto_status fit_codes(struct sotto_table_encoding *e, size_t j, const struct table_column *from,
                              const struct sotto_dataset *s, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct encoding_column *c = &e->columns[j];
    bool *occurs = NULL;
    TRY(find_occurring(&occurs, from->code_count, s, j, rows, n));
    if (all_numbers(e, from, occurs))
        goto done;
    c->kind = COLUMN_CATEGORY;
    for (size_t k = 0; k < from->code_count; k++) {
        const char *text = from->codes[k];
        if (occurs[k] && text_list_find(&c->categories, cell_of_text(text)) == c->categories.count)
            TRY(text_list_add(&c->categories, text));
    }
    c->other = c->categories.count;
done:
    base_free(occurs);
    return status;
}

static sotto_status fit_classes(struct sotto_table_encoding *e, const struct sotto_dataset *s,
                                const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    bool *occurs = NULL;
    NEW(occurs, s->classes);
    for (size_t i = 0; i < n; i++)
        occurs[s->labels[row_at(rows, i)]] = true;
    for (size_t k = 0; k < s->classes; k++)
        if (occurs[k])
            TRY(text_list_add(&e->classes, s->class_names[k]));
done:
    base_free(occurs);
    return status;
}

sotto_status encoding_fit(struct sotto_table_encoding **out, const struct sotto_dataset *s,
                          const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    const struct dataset *d = dataset_behind(s);
    REQUIRE(s->features && s->labels && s->class_names && d && d->column_count == s->columns,
            "%s: one-hot needs a table with described columns; import it as CSV first", s->name);
    TRY(encoding_create(&e, s->columns));
    e->header = true;
    e->text = d->table.text;
    TRY(text_list_missing(&e->missing, d->table.missing));
    NEW_TEXT(e->label, d->label_column[0] ? d->label_column : "(label)");
    for (size_t j = 0; j < s->columns; j++) {
        const struct table_column *column = &d->columns[j];
        NEW_TEXT(e->columns[j].name, column->name);
        e->columns[j].form = column->form;
        if (column->category)
            TRY(fit_codes(e, j, column, s, rows, n));
    }
    TRY(fit_classes(e, s, rows, n));
    TRY(encoding_check(e, SOTTO_EINVAL, s->name));
    *out = e;
    e = NULL;
done:
    sotto_table_encoding_free(e);
    return status;
}

/* Cells without a number take no part, and become the mean. */
static void fit_scale(struct sotto_table_encoding *e, size_t j, const struct encoding_rows *r,
                      const int64_t *rows, size_t n)
{
    struct encoding_column *c = &e->columns[j];
    bool bounded = isfinite(c->low);
    double sum = 0, squares = 0, count = 0;
    c->missing = bounded ? c->missing : NAN;
    for (size_t i = 0; i < n; i++) {
        double x = encoding_number(e, c, encoding_rows_cell(r, row_at(rows, i), j));
        sum += isnan(x) ? 0 : x;
        count += !isnan(x);
    }
    c->centre = count > 0 ? sum / count : 0;
    for (size_t i = 0; i < n; i++) {
        double x = encoding_number(e, c, encoding_rows_cell(r, row_at(rows, i), j)) - c->centre;
        squares += isnan(x) ? 0 : x * x;
    }
    c->scale = squares > 0 && isfinite(count / squares) ? sqrt(count / squares) : 1;
    c->missing = bounded ? c->missing : c->centre;
}

sotto_status encoding_fit_scales(struct sotto_table_encoding *e, const struct sotto_dataset *s,
                                 const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct encoding_rows *r = NULL;
    TRY(encoding_rows_open(&r, e, s));
    for (size_t j = 0; j < e->count; j++)
        if (e->columns[j].kind == COLUMN_NUMBER)
            fit_scale(e, j, r, rows, n);
done:
    encoding_rows_close(r);
    return status;
}
