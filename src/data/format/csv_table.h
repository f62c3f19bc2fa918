/* csv_table.h - a table of texts, perhaps with a test table below it, seen as one. */
#ifndef DATA_FORMAT_CSV_TABLE_H
#define DATA_FORMAT_CSV_TABLE_H

#include "data/encoding/encoding.h"

struct table {
    struct csv parts[2]; /* training, test */
    size_t skip[2];      /* header rows */
    char where[2][700];
    bool strip_dot[2]; /* adult.test ends its labels with '.' */
    bool adult;        /* called adult.data: its columns have known names */
    size_t count, rows, columns;
    const struct sotto_table_encoding *schema; /* borrowed; NULL: the rows decide */
    const struct sotto_context *ctx;           /* asked every few thousand rows of each column */
};
size_t table_part_rows(const struct table *t, size_t part);
/** Which part record `row` is in, and which row of that part. */
size_t table_locate(size_t *part_row, const struct table *t, size_t row);
const char *table_cell(const struct table *t, size_t row, size_t column);
/** From the header, else Adult's, else "column 3". */
void table_column_name(char *out, size_t capacity, const struct table *t, size_t column);

/** `asked`: "first", "last", a column's name, or NULL: what the file shows. EINVAL: no such column, or no way
 * to tell. */
sotto_status table_choose_label(size_t *column, const struct table *t, const char *asked);
/** Asks whether to go on, before each block of rows. ESTOPPED. */
sotto_status table_go_on(const struct table *t, size_t row);
/** Labels and class names. EFORMAT: a missing label, a single class. */
sotto_status table_fill_labels(struct dataset *d, struct table *t, size_t label);
/** adult.test's dots behind the labels. */
void table_strip_dots(struct table *t, size_t label);
/** Labels and features by t->schema, whatever the cells hold. EFORMAT: other columns than the schema's. */
sotto_status table_fill_declared(struct dataset *d, struct table *t);
/** All other columns: numbers, or category codes with their code book in d->columns. EFORMAT: a missing
 * number. */
sotto_status table_fill_features(struct dataset *d, const struct table *t, size_t label);

#endif
