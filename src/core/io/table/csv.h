/* csv.h - tables as text: a strict reader (RFC 4180) and a quoting writer. */
#ifndef IO_TABLE_CSV_H
#define IO_TABLE_CSV_H

#include "base/file.h"
#include "sotto/lab/array.h"

/** Rows that something is wrong with: how many, and the lines of the first of them. */
enum { LINES_SHOWN = 20 };
struct line_list {
    size_t count, lines[LINES_SHOWN];
};
void line_list_add(struct line_list *list, size_t line);
/** "line 3", "lines 3, 7 and 9", "lines 1, 2, ... and 31 more". Returns out. */
const char *line_list_text(char out[400], const struct line_list *list);

struct csv_style {
    char separator; /* 0: comma */
    bool detect;    /* instead: comma, semicolon, tab or bar, whichever the first lines show */
    bool by_header; /* that the first line alone shows, so that no row decides */
    bool drop;      /* rows that are not of the table's form are left out, not refused */
    bool keep;      /* instead: they have empty cells, `columns` each; no row is refused or lost */
    /* an empty line is a row, not skipped: for tables of one column, whose cell may be empty */
    bool empty_row;
    bool trim;                       /* blanks around cells are not part of them (Adult: ", ") */
    const struct sotto_context *ctx; /* NULL, or asked every few thousand rows */
    char comment; /* lines that start with it are skipped; 0: none (adult.test starts with "|1x3 ...") */
    /* of a text that goes on where another one ended: its first line, and the cells of a row; it may hold no rows. 0: it begins a file */
    size_t line, columns;
};
/** Every row has the same number of cells; empty lines are skipped unless the style says otherwise. Free with csv_clear(). */
struct csv {
    const char *name; /* borrowed, for errors */
    char separator;
    struct line_list dropped;
    size_t rows, columns;
    char **cells;  /* (rows, columns) texts, unquoted */
    size_t *lines; /* (rows) where each row starts, from 1 */
    char *text;
};

/** style NULL: comma, no trimming, no comments. `name` is borrowed. EFORMAT "name:LINE: what; the same or
 * another fault in lines ...": a row of another length, an open quote, a quote inside a cell, bytes that are no UTF-8.
 * A bad row ends with its first line. EFORMAT: an empty file, or with `drop` more bad rows than good ones. ENOMEM,
 * ESTOPPED. */
sotto_status csv_parse(struct csv *out, const char *text, size_t size, const char *name,
                       const struct csv_style *style);
/** At most 1 GiB. ENOENT, EIO, and as above. */
sotto_status csv_read_file(struct csv *out, const char *path, const struct csv_style *style);
void csv_clear(struct csv *c);
/** Leaves out the rows that are marked; bad (rows). */
void csv_remove_rows(struct csv *c, const bool *bad);

static inline const char *csv_cell(const struct csv *c, size_t row, size_t column)
{
    return c->cells[row * c->columns + column];
}
/** The column of that name, in the first row. EINVAL "x.csv has no column 'age'". */
sotto_status csv_column(size_t *out, const struct csv *c, const char *name);
/** A decimal number (nan and inf included). EFORMAT "x.csv:17: cell 3 is 'abc'; expected a number". */
sotto_status csv_real(double *out, const struct csv *c, size_t row, size_t column);
/** A whole number, maybe with a sign. */
sotto_status csv_whole(int64_t *out, const struct csv *c, size_t row, size_t column);
/** True when no cell of the first row is a number but some cell of the second is: the first row holds
 * names. */
bool csv_has_header(const struct csv *c);
/** Rows from first_row on as an f8 array (rows, columns); every cell must be a number. */
sotto_status csv_to_array(struct sotto_array *out, const struct csv *c, size_t first_row);

/** One cell: quoted when it must be. The caller writes separators and line ends ("\n") between cells. */
void csv_write_text(struct atomic_file *f, const char *text);
/** The shortest decimal that reads back as x; NaN gives an empty cell. */
void csv_write_real(struct atomic_file *f, double x);

#endif
