/* Two passes over the text. The first checks the form and counts rows and cells; the second cuts the text in
 * place: a cell without its quotes is never longer than with them, so every cell becomes a C string inside
 * one block. */
#include "io/table/csv.h"

#include "io/text/number.h"
#include "io/text/source.h"
#include "io/text/utf8.h"

#include <string.h>

struct scanner {
    char *p, *end; /* rest of the text; *end == '\0' */
    size_t line;   /* of p */
    struct csv_style style;
    const char *name;
};

static sotto_status fail_line(const struct scanner *s, size_t line, const char *what)
{
    return status_fail(SOTTO_EFORMAT, "%s:%zu: %s", s->name, line, what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Is this a blank that the style removes? */
static bool at_padding(const struct scanner *s)
{
    return s->style.trim && s->p < s->end && is_blank(*s->p) && *s->p != s->style.separator;
}

static bool at_line_end(const struct scanner *s)
{
    return s->p == s->end || *s->p == '\n' || (*s->p == '\r' && s->p + 1 < s->end && s->p[1] == '\n');
}

static void skip_line_end(struct scanner *s)
{
    if (s->p < s->end && *s->p == '\r')
        s->p++;
    if (s->p < s->end) {
        s->p++;
        s->line++;
    }
}

/* Stands at the opening quote. Moves the contents to *out (never ahead of the scanner). */
static sotto_status take_quoted(struct scanner *s, char **out)
{
    size_t opened = s->line;
    for (s->p++; s->p < s->end; s->p++) {
        if (*s->p == '"' && s->p[1] != '"')
            break;
        if (*s->p == '"')
            s->p++; /* "" means one quote */
        s->line += *s->p == '\n';
        *(*out)++ = *s->p;
    }
    if (s->p == s->end)
        return fail_line(s, opened, "a quoted cell is never closed");
    s->p++;
    while (at_padding(s))
        s->p++;
    if (!at_line_end(s) && *s->p != s->style.separator)
        return fail_line(s, s->line, "text after a closing quote; expected a separator");
    return SOTTO_OK;
}

/* One cell; *out receives its text and a terminating zero is the caller's business. */
static sotto_status take_cell(struct scanner *s, char **out)
{
    while (at_padding(s))
        s->p++;
    if (s->p < s->end && *s->p == '"')
        return take_quoted(s, out);
    char *start = *out;
    for (; !at_line_end(s) && *s->p != s->style.separator; s->p++) {
        if (*s->p == '"')
            return fail_line(s, s->line, "a quote inside a cell; quote the whole cell and double the quote");
        if (*s->p == '\r')
            return fail_line(s, s->line, "a carriage return inside a line; expected LF or CRLF line ends");
        *(*out)++ = *s->p;
    }
    while (s->style.trim && *out > start && is_blank((*out)[-1]))
        (*out)--;
    return SOTTO_OK;
}

/* Steps over empty and comment lines; false at the end of the text. */
static bool next_row(struct scanner *s)
{
    while (s->p < s->end) {
        char *start = s->p;
        while (at_padding(s))
            s->p++;
        if (at_line_end(s)) {
            skip_line_end(s);
            continue;
        }
        s->p = start;
        if (!s->style.comment || *s->p != s->style.comment)
            return true;
        while (!at_line_end(s))
            s->p++;
        skip_line_end(s);
    }
    return false;
}

/* Reads everything into `out` (cells NULL: only measures and leaves the text as it is). */
static sotto_status scan(struct csv *out, struct scanner s, char *scratch)
{
    sotto_status status = SOTTO_OK;
    enum { BLOCK = 4096 };
    size_t rows = 0, columns = 0;
    while (next_row(&s)) {
        if (rows % BLOCK == 0)
            TRY(context_check(s.style.ctx, "%s: stopped while it was read", s.name));
        size_t line = s.line, cells = 0;
        for (bool more = true; more; cells++) {
            char *cell = scratch ? scratch : s.p, *stop = cell;
            TRY(take_cell(&s, &stop));
            bool separated = s.p < s.end && *s.p == s.style.separator;
            if (!separated)
                skip_line_end(&s);
            else
                s.p++;
            more = separated;
            if (out->cells) {
                out->cells[rows * out->columns + cells] = cell;
                *stop = '\0'; /* at the latest on the separator that was just stepped over, or on the final
                                 zero */
            }
        }
        if (rows == 0)
            columns = cells;
        if (cells != columns)
            FAIL(SOTTO_EFORMAT, "%s:%zu: has %zu cells; expected %zu as in the first row", s.name, line,
                 cells, columns);
        if (out->cells)
            out->lines[rows] = line;
        rows++;
    }
    if (rows == 0)
        FAIL(SOTTO_EFORMAT, "%s: contains no rows; expected at least one", s.name);
    out->rows = rows;
    out->columns = columns;
done:
    return status;
}

/* The first line that is not text; 0: none. */
static size_t first_bad_line(const char *text, size_t size)
{
    size_t line = 1;
    while (size > 0) {
        size_t step = utf8_next(text, size);
        if (step == 0 || *text == '\0')
            return line;
        line += *text == '\n';
        text += step;
        size -= step;
    }
    return 0;
}

/* Takes ownership of `text` (a base block, zero-terminated). */
static sotto_status parse_owned(struct csv *out, char *text, size_t size, const char *name,
                                const struct csv_style *style)
{
    sotto_status status = SOTTO_OK;
    struct csv c = {.name = name, .text = text};
    char *scratch = NULL;
    size_t bad = first_bad_line(text, size);
    struct scanner s = {text, text + size, 1, style ? *style : (struct csv_style){0}, name};
    if (!s.style.separator)
        s.style.separator = ',';
    if (bad)
        FAIL(SOTTO_EFORMAT, "%s:%zu: is not UTF-8 text", name, bad);
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        s.p += 3; /* byte-order mark, as spreadsheets write */
    NEW(scratch, size + 1);
    TRY(scan(&c, s, scratch));
    NEW_ROWS(c.cells, c.rows, c.columns);
    NEW(c.lines, c.rows);
    TRY(scan(&c, s, NULL));
    *out = c;
    c = (struct csv){0};
done:
    base_free(scratch);
    csv_clear(&c);
    return status;
}

sotto_status csv_parse(struct csv *out, const char *text, size_t size, const char *name,
                       const struct csv_style *style)
{
    char *copy = base_alloc(size + 1, 1);
    if (!copy)
        return status_fail(SOTTO_ENOMEM, "%s: out of memory", name);
    if (size > 0)
        memcpy(copy, text, size);
    return parse_owned(out, copy, size, name, style);
}

sotto_status csv_read_file(struct csv *out, const char *path, const struct csv_style *style)
{
    sotto_status status = SOTTO_OK;
    unsigned char *text;
    size_t size;
    TRY(file_read(&text, &size, path, (size_t)1 << 30));
    TRY(parse_owned(out, (char *)text, size, path, style));
done:
    return status;
}

void csv_clear(struct csv *c)
{
    if (!c)
        return;
    base_free(c->cells);
    base_free(c->lines);
    base_free(c->text);
    *c = (struct csv){0};
}

static sotto_status wrong_cell(const struct csv *c, size_t row, size_t column, const char *expected)
{
    char shown[60];
    const char *text = csv_cell(c, row, column);
    return status_fail(SOTTO_EFORMAT, "%s:%zu: cell %zu is '%s'; expected %s", c->name, c->lines[row],
                       column + 1, utf8_printable(shown, sizeof shown, text, strlen(text)), expected);
}

sotto_status csv_real(double *out, const struct csv *c, size_t row, size_t column)
{
    const char *text = csv_cell(c, row, column);
    return number_real(out, text, strlen(text)) ? SOTTO_OK : wrong_cell(c, row, column, "a number");
}

sotto_status csv_whole(int64_t *out, const struct csv *c, size_t row, size_t column)
{
    const char *text = csv_cell(c, row, column);
    bool negative = text[0] == '-';
    int64_t value;
    if (!number_whole(&value, text + (negative || text[0] == '+'),
                      strlen(text) - (negative || text[0] == '+')))
        return wrong_cell(c, row, column, "a whole number");
    *out = negative ? -value : value;
    return SOTTO_OK;
}

static bool any_number(const struct csv *c, size_t row)
{
    double x;
    for (size_t i = 0; i < c->columns; i++)
        if (number_real(&x, csv_cell(c, row, i), strlen(csv_cell(c, row, i))))
            return true;
    return false;
}

bool csv_has_header(const struct csv *c)
{
    return c->rows > 1 && !any_number(c, 0) && any_number(c, 1);
}

sotto_status csv_to_array(struct sotto_array *out, const struct csv *c, size_t first_row)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    const size_t shape[] = {c->rows - first_row, c->columns};
    REQUIRE(first_row < c->rows, "%s: contains no rows of numbers; expected at least one", c->name);
    TRY(sotto_array_make(&a, SOTTO_F8, 2, shape));
    for (size_t r = 0; r < shape[0]; r++)
        for (size_t i = 0; i < shape[1]; i++)
            TRY(csv_real((double *)a.data + r * shape[1] + i, c, first_row + r, i));
    *out = a;
    a = (struct sotto_array){0};
done:
    sotto_array_clear(&a);
    return status;
}

void csv_write_text(struct atomic_file *f, const char *text)
{
    size_t length = strlen(text);
    bool quote =
        strpbrk(text, ",\"\r\n") || (length > 0 && (is_blank(text[0]) || is_blank(text[length - 1])));
    if (!quote) {
        atomic_write(f, text, length);
        return;
    }
    atomic_write(f, "\"", 1);
    for (; *text; text++)
        atomic_write(f, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    atomic_write(f, "\"", 1);
}

void csv_write_real(struct atomic_file *f, double x)
{
    char text[NUMBER_TEXT];
    if (x == x)
        atomic_write(f, text, strlen(number_text(text, x)));
}
