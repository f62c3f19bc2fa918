/* encoding.h - how the cells of a table become numbers, and its labels classes.
 *
 * An encoding is a function of one row: once it is made, no row changes how another one is encoded.
 * The stamp of an encoding (enum sotto_encoding) says from which rows it was made: only a fitted one
 * saw private rows.
 *
 *     encoding_read_schema()   declared in a YAML file                 encoding_schema.c
 *     encoding_fit()           from rows of a set                      encoding_fit.c
 *     encoding_release()       bounds by private releases              encoding_private.c
 *     sotto_table_encoding_parse()   sotto.encoding/1                        encoding_file.c */
#ifndef DATA_ENCODING_ENCODING_H
#define DATA_ENCODING_ENCODING_H

#include "data/dataset.h"
#include "io/table/csv.h"
#include "io/text/text_encoding.h"

/** One cell. Sets keep numbers as floats, so a number is rounded to one wherever it comes from. */
struct cell {
    const char *text; /* NULL: known as a number only */
    double number;    /* NAN: none */
    size_t length;    /* so many bytes of the text count; 0: all */
};
struct cell cell_of_text(const char *text);

/** Texts that cells are compared with: equal are the same bytes, or the same number ("1", "1.0"). */
struct text_list {
    size_t count;
    char **texts;
    double *numbers; /* NAN: the text is none */
};
/** Appends a copy. ENOMEM. */
sotto_status text_list_add(struct text_list *list, const char *text);
/** Position, or list->count. */
size_t text_list_find(const struct text_list *list, struct cell c);
void text_list_clear(struct text_list *list);
/** The next word of "a,b,c", cut to 255 bytes; *list NULL: there is none. */
bool text_next_word(char out[256], const char **list);
/** Cells without a value: the empty one and those of "NA,?" (NULL: the usual ones). ENOMEM. */
sotto_status text_list_missing(struct text_list *out, const char *texts);

enum column_kind { COLUMN_NUMBER, COLUMN_CATEGORY, COLUMN_IGNORED, COLUMN_KINDS };
extern const char *const column_kinds[COLUMN_KINDS]; /* "number", "category", "ignore" */
extern const char *const number_forms[NUMBER_FORMS]; /* "point", "comma", "date" */
/** A finite number as a float holds it, written in that form. */
bool number_of_form(double *out, const char *text, enum number_form form);
/** "2020-08-14"; returns out. */
const char *date_text(char out[16], double days);

struct encoding_column {
    char *name;
    enum column_kind kind;
    enum number_form form;
    size_t prefix;        /* of a category's text so many characters count; 0: all */
    bool was_missing;     /* a number has a bit beside it: 1 where the cell holds none */
    double low, high;     /* a number is moved into these first; -INFINITY and INFINITY: it is not */
    double centre, scale; /* and becomes (x - centre) * scale */
    double missing;       /* represents a cell without a number */
    bool fills;           /* a schema states that number; not saved */
    struct text_list categories;
    size_t other; /* category that all unknown ones count as; categories.count: none, all bits are 0 */
};
struct sotto_table_encoding {
    enum sotto_encoding how;
    char by[256]; /* what made it, one line */
    bool header;  /* files begin with a row of names; false: columns come in this order */
    size_t count;
    struct encoding_column *columns;
    enum text_encoding text;  /* of its tables, unless they are UTF-8 */
    struct text_list missing; /* cells of number columns that mean: no number */
    char *label;              /* name of the label column */
    size_t label_at;          /* where it stands among all columns, without a header */
    char *person;             /* name of the person column, which is ignored; not saved; NULL: none */
    size_t person_at;         /* where it stands among all columns */
    size_t rows_per_person;   /* as a schema states it; 0: it does not; not saved */
    struct text_list classes;
    size_t other_class;    /* class that unknown labels count as */
    bool other_declared;   /* that class is stated by a schema; not saved */
    bool declared_classes; /* by a schema, whatever set the scales; not saved */
    size_t unstated;       /* columns that a schema took from rows; not saved */
    /* Its shaped_by: the rows it was fitted on, if these count as public; not saved. */
    struct sotto_provenance shaped;
};

/** Columns without names, of kind COLUMN_NUMBER, unscaled. ENOMEM. */
sotto_status encoding_create(struct sotto_table_encoding **out, size_t count);
/** The last step of every reader. Fails with `code`, texts start with `where`: names that are missing or
 * double, fewer than 2 classes, bounds or scales that are not finite, a category that occurs twice. */
sotto_status encoding_check(const struct sotto_table_encoding *e, sotto_status code, const char *where);
/** The same of an encoding that may have no label. */
sotto_status encoding_check_columns(const struct sotto_table_encoding *e, sotto_status code,
                                    const char *where);
/** Position of a column by name, or e->count. */
size_t encoding_find(const struct sotto_table_encoding *e, const char *name);
/** Columns that are not ignored. */
size_t encoding_used(const struct sotto_table_encoding *e);
/** Numbers scaled from their bounds to [-1, 1]. */
void encoding_scale_by_bounds(struct encoding_column *c);
/** The number that represents a cell: within the bounds, or c->missing. */
double encoding_number(const struct sotto_table_encoding *e, const struct encoding_column *c,
                       struct cell cell);
/** A cell of a column, read as its form or its prefix says. */
struct cell encoding_cell(const struct encoding_column *c, const char *text);
/** Does the text mean: no value? */
bool encoding_missing(const struct sotto_table_encoding *e, const char *text);
/** Its category, c->other for unknown ones. */
size_t encoding_category(const struct encoding_column *c, struct cell cell);
size_t encoding_class(const struct sotto_table_encoding *e, struct cell label);
size_t encoding_width(const struct encoding_column *c);
/** One cell as encoding_width() values; returns what follows them. */
float *encoding_write(float *out, const struct sotto_table_encoding *e, const struct encoding_column *c,
                      struct cell cell);

/** Declared encodings. ECONFIG "schema.yaml:7:5: ...", ENOENT, EIO, ENOMEM. */
sotto_status encoding_read_schema(struct sotto_table_encoding **out, const char *path);
/** The same; where no column is the label, label is NULL and there are no classes: for statistics. */
sotto_status encoding_read_columns(struct sotto_table_encoding **out, const char *path);
sotto_status encoding_parse_schema(struct sotto_table_encoding **out, const char *text, size_t size,
                                   const char *name);

/** sotto.encoding/1 as a file for people, beside encoding_text(). ECREATE, EIO, ENOMEM. */
sotto_status encoding_save(const char *path, const struct sotto_table_encoding *e);

/** The rows of a set as cells of an encoding. */
struct encoding_rows;
/** EINVAL: the set lacks a column of the encoding, or has one more. */
sotto_status encoding_rows_open(struct encoding_rows **out, const struct sotto_table_encoding *e,
                                const struct sotto_dataset *s);
void encoding_rows_close(struct encoding_rows *r);
struct cell encoding_rows_cell(const struct encoding_rows *r, size_t row, size_t column);
/** out: as wide as the encoding. */
void encoding_rows_write(float *out, const struct encoding_rows *r, size_t row);
int64_t encoding_rows_label(const struct encoding_rows *r, size_t row);

/** Kinds, categories and classes as they occur in these rows of a set (NULL: all of them), in the order of
 * its code book. EINVAL: it is no table, or they hold fewer than 2 classes. */
sotto_status encoding_fit(struct sotto_table_encoding **out, const struct sotto_dataset *s,
                          const int64_t *rows, size_t n);
/** Numbers centred, and scaled to unit variance over these rows. */
sotto_status encoding_fit_scales(struct sotto_table_encoding *e, const struct sotto_dataset *s,
                                 const int64_t *rows, size_t n);

/** Narrower bounds for every number column, from the rows of a set: two ledger entries a column. */
struct encoding_release {
    double epsilon; /* of all of them together, pure */
    const char *dataset_id, *ledger;
    const struct sotto_source_records *source; /* the rows of the set, once they were hashed */
    const struct sotto_provenance *whose;      /* their unit of privacy, with these */
    size_t *charged;                           /* entries so far, with these */
};
/** What can be refused before anything is charged. EINVAL: no number column, or an encoding that is not
 * declared; EBUDGET: the ledger has not that much left. */
sotto_status encoding_release_check(const struct sotto_table_encoding *e, const struct sotto_dataset *s,
                                    const struct encoding_release *request);
/** After that check. Errors of sotto_dp_select(), with the hint of encoding_name_charge() once something was charged. */
sotto_status encoding_release(struct sotto_table_encoding *e, const struct sotto_dataset *s,
                              const struct encoding_release *request, const struct sotto_context *ctx);

/** Adds to the failure just recorded that so much was charged for bounds that are lost. */
void encoding_name_charge(double epsilon);

/** Its scores: -|#{values < edge} - rank| for ascending edges and values; 1 is the most by which replacing
 * one value changes any of them. */
void encoding_score_edges(double *scores, const double *edges, size_t count, const double *sorted, size_t n,
                          double rank);

/** Where the encoding's columns stand in a table of texts: where[e->count], and of the label (columns: no
 * label). `header`: the names, or NULL: by position. EFORMAT: a name is missing or double. */
sotto_status encoding_place(size_t *where, size_t *label, const struct sotto_table_encoding *e,
                            const char *const *header, size_t columns, const char *file);
/** The same. EFORMAT also: the table has a column that is not in the encoding. */
sotto_status encoding_place_all(size_t *where, size_t *label, const struct sotto_table_encoding *e,
                                const char *const *header, size_t columns, const char *file);
/** Reads encoding.json in the folder of a features file, if the file's provenance says that the encoding depends on no private
 *  row; only such an encoding may go into what is released.
 *  Out:     *out: unchanged where there is no such encoding
 *  Returns: as sotto_table_encoding_load() and sotto_provenance_load() */
sotto_status encoding_beside(struct sotto_table_encoding **out, const char *features);
/** Out:     *json: one line
 *  Returns: ENOMEM */
sotto_status encoding_text(char **json, const struct sotto_table_encoding *e);

#endif
