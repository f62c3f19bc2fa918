/* csv_table.h - a table of texts, perhaps with a test table below it, seen as one. */
#ifndef DATA_FORMAT_CSV_TABLE_H
#define DATA_FORMAT_CSV_TABLE_H

#include "data/encoding/encoding.h"

enum table_kind { TABLE_FOUND, TABLE_NUMBER, TABLE_CATEGORY, TABLE_DROPPED };

struct table {
    struct csv parts[2]; /* training, test */
    size_t skip[2];      /* header rows */
    char where[2][700];
    bool strip_dot[2]; /* adult.test ends its labels with '.' */
    bool adult;        /* called adult.data: its columns have known names */
    size_t count, rows, columns;
    const struct sotto_table_encoding *schema;  /* borrowed; NULL: the rows decide */
    const struct sotto_import_options *options; /* borrowed */
    const struct sotto_context *ctx;            /* asked every few thousand rows of each column */
    struct text_list missing;                   /* cells without a value */
    enum table_kind *kinds;                     /* (columns): as the caller wants them; NULL: all are found */
    enum number_form *forms;                    /* (columns) of numbers */
    size_t *prefixes;                           /* (columns) of codes; a draft proposes them */
    bool drafting;                              /* what a column is, is proposed, not refused */
    enum text_encoding text;                    /* of the training table */
    size_t left_out;                            /* rows */
};
struct bundle;
/** Reads the table of a bundle into an empty set as its rows decide; the table stays for later questions. t: options and ctx
 * are set; free with table_clear(), on failure too. */
sotto_status table_read(struct table *t, struct dataset *d, size_t *label, const struct bundle *b);
void table_clear(struct table *t);
size_t table_part_rows(const struct table *t, size_t part);
/** Which part record `row` is in, and which row of that part. */
size_t table_locate(size_t *part_row, const struct table *t, size_t row);
const char *table_cell(const struct table *t, size_t row, size_t column);
/** From the header, else Adult's, else "column 3". */
void table_column_name(char *out, size_t capacity, const struct table *t, size_t column);
bool table_find_column(size_t *column, const struct table *t, const char *name);

/** Rows of either part, to be named in a message. */
struct table_lines {
    struct line_list part[2];
};
void table_lines_add(struct table_lines *lines, const struct table *t, size_t row);
size_t table_lines_count(const struct table_lines *lines);
enum { TABLE_LINES_TEXT = 900 };
/* What becomes of a table that is not UTF-8, though nobody says so. */
enum table_text_use {
    TEXT_OF_OPTIONS,   /* refused: an option says what it is */
    TEXT_OF_SCHEMA,    /* refused: the schema says it */
    TEXT_OF_GOOD_ROWS, /* its rows are left out one by one */
    TEXT_SHOWN         /* it is read as what it shows */
};
/** The text of a table as UTF-8, whatever it is in. asked: NULL, or what the caller names. EFORMAT: it is none, which is named. */
sotto_status table_text(char **out, size_t *out_size, enum text_encoding *from, const char *text, size_t size,
                        const char *where, const char *asked, enum text_encoding known,
                        enum table_text_use use, const struct sotto_context *ctx);
/** How many different texts a column holds. */
sotto_status table_count_values(size_t *values, const struct table *t, size_t column);
/** What {state} says of a column of a draft; NULL: nothing. */
const char *table_stated(char out[4096], const struct table *t, const char *name);
/** Of a draft, once the label is known: what each column should be, where the caller has not said it. */
sotto_status table_propose(struct table *t, size_t label);

/** "lines 3 and 7, and line 2 of x.test". Returns out. */
const char *table_lines_text(char out[TABLE_LINES_TEXT], const struct table *t,
                             const struct table_lines *lines);

/** What the cells of a column are. */
struct column_facts {
    size_t numbers, points, missing, decimal_commas, dates; /* points: numbers that contain one */
    struct table_lines others;                              /* neither */
    const char *example;                                    /* one of them */
};
bool table_missing(const struct table *t, const char *text);
bool table_decimal_comma(const struct table *t);
sotto_status table_column_facts(struct column_facts *out, const struct table *t, size_t column);
/** Is the first row of a part one of names? */
bool table_has_header(const struct table *t, size_t part);
/** The caller's --types and --drop. EINVAL: no such column; EUSAGE: no such type. */
sotto_status table_read_choices(struct table *t);
/** Rows without a label, and rows without a number in a column of --types number; under a schema, those with a label
 * that it does not list. Each depends on its own row only. EFORMAT names them all, or with drop_bad_rows they leave the
 * table, and `persons` (NULL, or whose row is whose), which is numbered anew. */
sotto_status table_check_rows(struct table *t, size_t label, int64_t *persons);

/** Is it one of the texts for no value, and no person's? */
bool table_names_nobody(const char *text);
/** Do the values of a column look like persons, with several rows each? */
sotto_status table_names_persons(bool *yes, const struct table *t, size_t column);
/** Whose row is whose, as `options` say: of each person the first rows stay, and the column is taken out unless a schema
 * leaves it out. Fills the persons of `d`. EUSAGE: a schema declares persons and nothing was stated; EINVAL: no such
 * column; EFORMAT: a row without a person. */
sotto_status table_cap_persons(struct dataset *d, struct table *t,
                               const struct sotto_import_options *options);
/** `asked`: "first", "last", a column's name, or NULL: what the file shows. EINVAL: no such column, or no way
 * to tell. */
sotto_status table_choose_label(size_t *column, const struct table *t, const char *asked);
/** Asks whether to go on, before each block of rows. ESTOPPED. */
sotto_status table_go_on(const struct table *t, size_t row);
/** Labels and class names. EFORMAT: a single class. */
sotto_status table_fill_labels(struct dataset *d, struct table *t, size_t label);
/** Warns of classes with few records. */
void table_warn_classes(const struct dataset *d, const struct table *t);
/** adult.test's dots behind the labels. */
void table_strip_dots(struct table *t, size_t label);
/** Labels and features by t->schema, whatever the cells hold. EFORMAT: other columns than the schema's. */
sotto_status table_fill_declared(struct dataset *d, struct table *t);
/** All other columns: numbers (NAN: missing), or category codes with their code book in d->columns. Warns of
 * columns that are almost numbers. EFORMAT: decimal commas, too many categories. */
sotto_status table_fill_features(struct dataset *d, const struct table *t, size_t label);

#endif
