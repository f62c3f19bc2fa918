/* Rows of a set as cells: what its code book says about a code, or the number as it is. */
#include "data/encoding/encoding.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct encoding_rows {
    const struct sotto_table_encoding *e;
    const struct sotto_dataset *s;
    size_t *column;          /* (e->count): of the set; not used for ignored ones */
    struct text_list *codes; /* (e->count): empty for numbers */
    int64_t *classes;        /* (s->classes): class of the encoding for each of the set's */
};

static const struct table_column *column_of(const struct sotto_dataset *s, size_t j)
{
    return &dataset_behind(s)->columns[j];
}

static sotto_status place_column(struct encoding_rows *r, size_t j)
{
    sotto_status status = SOTTO_OK;
    const struct encoding_column *c = &r->e->columns[j];
    size_t k = 0;
    while (k < r->s->columns && strcmp(column_of(r->s, k)->name, c->name) != 0)
        k++;
    REQUIRE(k < r->s->columns, "%s: column '%.80s' is missing, but %s describes it", r->s->name, c->name,
            r->e->by);
    const struct table_column *from = column_of(r->s, k);
    r->column[j] = k;
    for (size_t i = 0; i < from->code_count; i++)
        TRY(text_list_add(&r->codes[j], from->codes[i]));
done:
    return status;
}

static sotto_status place_columns(struct encoding_rows *r)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = r->e;
    for (size_t j = 0; j < e->count; j++)
        if (e->columns[j].kind != COLUMN_IGNORED)
            TRY(place_column(r, j));
    for (size_t k = 0; k < r->s->columns; k++) {
        const char *name = column_of(r->s, k)->name;
        REQUIRE(
            encoding_find(e, name) < e->count,
            "%s: column '%.80s' is not described by %s; expected all columns ('type: ignore' leaves one out)",
            r->s->name, name, e->by);
    }
done:
    return status;
}

static struct cell label_cell(const struct sotto_dataset *s, size_t label)
{
    return s->class_names ? cell_of_text(s->class_names[label]) : (struct cell){NULL, (double)label, 0};
}

sotto_status encoding_rows_open(struct encoding_rows **out, const struct sotto_table_encoding *e,
                                const struct sotto_dataset *s)
{
    sotto_status status = SOTTO_OK;
    struct encoding_rows *r = NULL;
    NEW(r, 1);
    REQUIRE(s->features && s->labels && dataset_behind(s) && dataset_behind(s)->column_count == s->columns,
            "%s: one-hot needs a table with described columns; import it as CSV first", s->name);
    *r = (struct encoding_rows){.e = e, .s = s};
    NEW(r->column, e->count);
    NEW(r->codes, e->count);
    NEW(r->classes, s->classes);
    TRY(place_columns(r));
    for (size_t k = 0; k < s->classes; k++)
        r->classes[k] = (int64_t)encoding_class(e, label_cell(s, k));
    *out = r;
    r = NULL;
done:
    encoding_rows_close(r);
    return status;
}

void encoding_rows_close(struct encoding_rows *r)
{
    if (!r)
        return;
    for (size_t j = 0; r->codes && j < r->e->count; j++) /* e is set whenever codes are */
        text_list_clear(&r->codes[j]);
    base_free(r->codes);
    base_free(r->column);
    base_free(r->classes);
    base_free(r);
}

struct cell encoding_rows_cell(const struct encoding_rows *r, size_t row, size_t column)
{
    const struct text_list *codes = &r->codes[column];
    float x = r->s->features[row * r->s->columns + r->column[column]];
    if (codes->count == 0)
        return (struct cell){NULL, (double)x, 0};
    if (x >= 0 && x < (float)codes->count)
        return encoding_cell(&r->e->columns[column], codes->texts[(size_t)x]);
    return (struct cell){NULL, NAN, 0}; /* a category that the schema of the import does not list */
}

void encoding_rows_write(float *out, const struct encoding_rows *r, size_t row)
{
    for (size_t j = 0; j < r->e->count; j++) {
        const struct encoding_column *c = &r->e->columns[j];
        if (c->kind != COLUMN_IGNORED)
            out = encoding_write(out, r->e, c, encoding_rows_cell(r, row, j));
    }
}

int64_t encoding_rows_label(const struct encoding_rows *r, size_t row)
{
    return r->classes[r->s->labels[row]];
}
