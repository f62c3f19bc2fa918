/* Two passes over the text. The first checks the form and counts rows and cells; the second cuts the text in
 * place: a cell without its quotes is never longer than with them, so every cell becomes a C string inside
 * one block. */
#include "io/table/csv.h"
#include "sotto/private/io.h"

#include "io/text/number.h"
#include "io/text/source.h"
#include "io/text/utf8.h"

#include <stdio.h>
#include <string.h>

void line_list_add(struct line_list *list, size_t line)
{
    if (list->count < LINES_SHOWN)
        list->lines[list->count] = line;
    list->count++;
}

const char *line_list_text(char out[400], const struct line_list *list)
{
    size_t shown = list->count < LINES_SHOWN ? list->count : LINES_SHOWN, more = list->count - shown, at = 0;
    at += (size_t)snprintf(out, 400, list->count == 1 ? "line" : "lines");
    for (size_t i = 0; i < shown && at < 380; i++)
        at += (size_t)snprintf(out + at, 400 - at, "%s %zu",
                               i == 0                        ? ""
                               : i + 1 == shown && more == 0 ? " and"
                                                             : ",",
                               list->lines[i]);
    if (more > 0 && at < 380)
        snprintf(out + at, 400 - at, " and %zu more", more);
    return out;
}

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
        if (at_line_end(s) && !s->style.empty_row) {
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

/* Every byte of a row is text. */
static bool is_text(const char *text, const char *end)
{
    while (text < end) {
        size_t step = utf8_next(text, (size_t)(end - text));
        if (step == 0 || *text == '\0')
            return false;
        text += step;
    }
    return true;
}

/* Bad rows as the first pass found them: the second steps over them. */
struct bad_rows {
    struct line_list shown;
    size_t *lines;
    struct status_record first;
};

static sotto_status note_bad_row(struct bad_rows *bad, size_t line)
{
    sotto_status status = SOTTO_OK;
    size_t n = bad->shown.count;
    if (n == 0)
        status_get(&bad->first);
    if ((n & (n - 1)) == 0)
        REGROW(bad->lines, n, n ? 2 * n : 1);
    bad->lines[n] = line;
    line_list_add(&bad->shown, line);
done:
    return status;
}

/* A bad row ends with its first line, whatever quotes it opens. */
static void skip_line(struct scanner *s)
{
    while (s->p < s->end && *s->p != '\n')
        s->p++;
    skip_line_end(s);
}

/* One row: its cells go to `cells` (room for `columns`), or (NULL) are only counted, with their text in scratch. */
static sotto_status take_row(size_t *count, struct scanner *s, char **cells, char *scratch)
{
    sotto_status status = SOTTO_OK;
    *count = 0;
    for (bool more = true; more; ++*count) {
        char *cell = scratch ? scratch : s->p, *stop = cell;
        TRY(take_cell(s, &stop));
        more = s->p < s->end && *s->p == s->style.separator;
        if (more)
            s->p++;
        else
            skip_line_end(s);
        if (cells) {
            cells[*count] = cell;
            *stop =
                '\0'; /* at the latest on the separator that was just stepped over, or on the final zero */
        }
    }
done:
    return status;
}

static sotto_status check_row(size_t *cells, struct scanner *s, size_t columns, char *scratch)
{
    const char *start = s->p;
    size_t line = s->line;
    sotto_status status = take_row(cells, s, NULL, scratch);
    if (status == SOTTO_OK && !is_text(start, s->p))
        return fail_line(s, line, "is not UTF-8 text");
    if (status == SOTTO_OK && columns > 0 && *cells != columns)
        return status_fail(SOTTO_EFORMAT, "%s:%zu: has %zu cells; expected %zu as in the first row", s->name,
                           line, *cells, columns);
    return status;
}

static sotto_status csv_ask(const struct scanner *s, size_t rows)
{
    enum { BLOCK = 4096 };
    return rows % BLOCK ? SOTTO_OK : context_check(s->style.ctx, "%s: stopped while it was read", s->name);
}

/* Counts rows and columns, and finds the rows that are bad. */
static sotto_status csv_measure(struct csv *out, struct bad_rows *bad, struct scanner s, char *scratch)
{
    sotto_status status = SOTTO_OK;
    out->rows = 0;
    out->columns = s.style.columns;
    while (next_row(&s)) {
        struct scanner start = s;
        size_t cells;
        TRY(csv_ask(&s, out->rows + bad->shown.count));
        if (check_row(&cells, &s, out->columns, scratch) == SOTTO_OK) {
            out->columns = cells;
            out->rows++;
            continue;
        }
        TRY(note_bad_row(bad, start.line));
        out->rows += s.style.keep;
        s = start;
        skip_line(&s);
    }
    if (out->rows + bad->shown.count == 0 && !s.style.line)
        FAIL(SOTTO_EFORMAT, "%s: contains no rows; expected at least one", s.name);
done:
    return status;
}

static sotto_status csv_judge(const struct csv *c, const struct bad_rows *bad, const struct csv_style *style)
{
    char lines[400];
    size_t n = bad->shown.count;
    if (n == 0 || style->keep || (style->drop && n <= c->rows))
        return SOTTO_OK;
    line_list_text(lines, &bad->shown);
    if (n == 1)
        return status_fail(SOTTO_EFORMAT, "%s", bad->first.text);
    return status_fail(SOTTO_EFORMAT, "%.500s; %zu rows of another form in all: %s", bad->first.text, n,
                       lines);
}

/* Fills cells and lines; the text is cut where it stands. */
static sotto_status csv_cut(struct csv *out, const struct bad_rows *bad, struct scanner s)
{
    sotto_status status = SOTTO_OK;
    size_t rows = 0, skipped = 0, cells;
    while (next_row(&s)) {
        TRY(csv_ask(&s, rows + skipped));
        const bool is_bad = skipped < bad->shown.count && bad->lines[skipped] == s.line;
        if (!is_bad || s.style.keep)
            out->lines[rows] = s.line;
        if (is_bad) {
            for (cells = 0; s.style.keep && cells < out->columns; cells++)
                out->cells[rows * out->columns + cells] = s.end; /* it is empty */
            skip_line(&s);
            skipped++;
            rows += s.style.keep;
            continue;
        }
        TRY(take_row(&cells, &s, out->cells + rows * out->columns, NULL));
        rows++;
    }
done:
    return status;
}

/* How often each candidate stands outside of quotes in the next row's first line. */
static void count_separators(size_t counts[], const char *candidates, struct scanner *s)
{
    bool quoted = false;
    for (; s->p < s->end && *s->p != '\n'; s->p++) {
        const char *at = *s->p ? strchr(candidates, *s->p) : NULL;
        quoted = quoted != (*s->p == '"');
        if (at && !quoted)
            counts[at - candidates]++;
    }
    skip_line_end(s);
}

/* What most of the first lines hold as often as the first one does. Commas come last, as they also stand in numbers;
 * where the lines agree on nothing, the first one decides. */
static char find_separator(struct scanner s)
{
    enum { CANDIDATES = 4, LINES = 20 };
    static const char candidates[CANDIDATES + 1] = "\t;|,";
    size_t first[CANDIDATES] = {0}, equal[CANDIDATES] = {0}, lines = 0, most = CANDIDATES - 1;
    for (; lines < (s.style.by_header ? 1 : LINES) && next_row(&s); lines++) {
        size_t counts[CANDIDATES] = {0};
        count_separators(counts, candidates, &s);
        for (size_t i = 0; i < CANDIDATES; i++) {
            first[i] = lines ? first[i] : counts[i];
            equal[i] += counts[i] == first[i];
        }
    }
    for (size_t i = 0; i < CANDIDATES; i++)
        if (first[i] > 0 && 2 * equal[i] > lines)
            return candidates[i];
    for (size_t i = CANDIDATES; i-- > 0;)
        most = first[i] > first[most] ? i : most;
    return candidates[most];
}

static struct scanner scanner_of(char *text, size_t size, const char *name, const struct csv_style *style)
{
    struct scanner s = {text, text + size, 1, style ? *style : (struct csv_style){0}, name};
    if (s.style.line)
        s.line = s.style.line;
    else if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        s.p += 3; /* byte-order mark, as spreadsheets write */
    if (s.style.detect)
        s.style.separator = find_separator(s);
    else if (!s.style.separator)
        s.style.separator = ',';
    return s;
}

/* Takes ownership of `text` (a base block, zero-terminated). */
static sotto_status parse_owned(struct csv *out, char *text, size_t size, const char *name,
                                const struct csv_style *style)
{
    sotto_status status = SOTTO_OK;
    struct bad_rows bad = {0};
    char *scratch = NULL;
    struct scanner s = scanner_of(text, size, name, style);
    struct csv c = {.name = name, .text = text, .separator = s.style.separator};
    NEW(scratch, size + 1);
    TRY(csv_measure(&c, &bad, s, scratch));
    TRY(csv_judge(&c, &bad, &s.style));
    NEW_ROWS(c.cells, c.rows, c.columns);
    NEW(c.lines, c.rows);
    TRY(csv_cut(&c, &bad, s));
    c.dropped = bad.shown;
    *out = c;
    c = (struct csv){0};
done:
    base_free(scratch);
    base_free(bad.lines);
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
    const struct source s = source_memory(text, size, path);
    if ((status = source_check_text(&s)) != SOTTO_OK)
        base_free(text);
    else
        status = parse_owned(out, (char *)text, size, path, style);
done:
    return status;
}

void csv_remove_rows(struct csv *c, const bool *bad)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->rows; i++) {
        if (bad[i])
            continue;
        memmove(c->cells + kept * c->columns, c->cells + i * c->columns, c->columns * sizeof *c->cells);
        c->lines[kept++] = c->lines[i];
    }
    c->rows = kept;
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

sotto_status csv_column(size_t *out, const struct csv *c, const char *name)
{
    for (*out = 0; *out < c->columns; ++*out)
        if (strcmp(csv_cell(c, 0, *out), name) == 0)
            return SOTTO_OK;
    return status_fail(SOTTO_EINVAL, "%s has no column '%.60s'", c->name, name);
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
