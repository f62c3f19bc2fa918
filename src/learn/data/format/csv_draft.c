/* A draft of a schema: what an import would read off the rows, as a file in which the owner states it instead. */
#include "base/file.h"
#include "data/encoding/date.h"
#include "data/files/bundle.h"
#include "data/format/csv_table.h"
#include "data/format/format.h"
#include "io/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next of 1, 2, 5, 10, 20, ... that is not below x > 0. */
static double round_up(double x)
{
    double unit = pow(10, floor(log10(x)));
    static const double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * unit >= x)
            return steps[i] * unit;
    return 20 * unit;
}

static void write_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            fprintf(f, "\\x%02x", c);
        else
            fprintf(f, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    fputc('"', f);
}

static void write_list(FILE *f, const char *key, char *const *texts, size_t count,
                       const struct text_list *but)
{
    bool first = true;
    fprintf(f, "%s: [", key);
    for (size_t k = 0; k < count; k++) {
        if (but && text_list_find(but, cell_of_text(texts[k])) < but->count)
            continue;
        fputs(first ? "" : ", ", f);
        write_quoted(f, texts[k]);
        first = false;
    }
    fputc(']', f);
}

/* A number of three digits that says as much as the mean of a column has to. */
static double round_mean(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", x);
    return strtod(text, NULL);
}

/* Bounds rounded outwards, and for missing cells the mean of the others. */
static void write_numbers(FILE *f, const struct dataset *d, size_t column)
{
    const struct table_column *c = &d->columns[column];
    double low = 0, high = 0, mean = 0, n = 0;
    for (size_t i = 0; i < d->set.n; i++) {
        double x = (double)d->features[i * d->set.columns + column];
        low = x < low ? x : low; /* neither for NAN */
        high = x > high ? x : high;
        n += !isnan(x);
        mean += isnan(x) ? 0 : (x - mean) / n;
    }
    low = low < 0 ? -round_up(-low) : 0;
    high = high > 0 ? round_up(high) : low < 0 ? 0 : 1;
    fprintf(f, "type: number, bounds: [%.15g, %.15g]%s", low, high,
            c->form == NUMBER_COMMA ? ", decimal: comma" : "");
    if (c->missing > 0)
        fprintf(f, ", fill: %.15g, was_missing: true", fmin(fmax(round_mean(mean), low), high));
}

/* Whole years around them. */
static void write_dates(FILE *f, const struct dataset *d, size_t column)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < d->set.n; i++) {
        double x = (double)d->features[i * d->set.columns + column];
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    fprintf(f, "type: date, between: [\"%04d-01-01\", \"%04d-12-31\"]%s", date_of_days(low).year,
            date_of_days(high).year, d->columns[column].missing > 0 ? ", was_missing: true" : "");
}

static bool all_missing(const struct table *t, const struct table_column *c)
{
    for (size_t k = 0; k < c->code_count; k++)
        if (!table_missing(t, c->codes[k]))
            return false;
    return true;
}

/* The first characters of codes; these are sorted, so that equal ones follow each other. */
static void write_prefixes(FILE *f, const struct table *t, const struct table_column *c, size_t prefix)
{
    char last[64] = "", text[64];
    fprintf(f, "type: category, prefix: %zu, categories: [", prefix);
    for (size_t k = 0; k < c->code_count; k++) {
        size_t length = 0;
        if (table_missing(t, c->codes[k]))
            continue;
        for (size_t i = 0; i < prefix && c->codes[k][length]; i++)
            length += utf8_next(c->codes[k] + length, strlen(c->codes[k] + length));
        snprintf(text, sizeof text, "%.*s", (int)length, c->codes[k]);
        if (strcmp(text, last) == 0)
            continue;
        fputs(last[0] ? ", " : "", f);
        write_quoted(f, text);
        snprintf(last, sizeof last, "%s", text);
    }
    fputc(']', f);
}

static void write_found(FILE *f, const struct table *t, const struct dataset *d, size_t column, size_t at)
{
    const struct table_column *c = &d->columns[at];
    if (t->kinds[column] == TABLE_DROPPED || (c->category && all_missing(t, c)))
        fputs("type: ignore", f);
    else if (c->form == NUMBER_DATE)
        write_dates(f, d, at);
    else if (!c->category)
        write_numbers(f, d, at);
    else if (t->prefixes[column])
        write_prefixes(f, t, c, t->prefixes[column]);
    else
        write_list(f, "type: category, categories", c->codes, c->code_count, &t->missing);
}

/* ---- what the owner states ---- */

/* The value of a key in "age=0:110,sex=f|m". */
const char *table_stated(char out[4096], const struct table *t, const char *name)
{
    const size_t length = strlen(name);
    const char *list = t->options->state;
    while (list) {
        const char *end = strchr(list, ',');
        const size_t size = end ? (size_t)(end - list) : strlen(list);
        if (size > length && strncmp(list, name, length) == 0 && list[length] == '=') {
            snprintf(out, 4096, "%.*s", (int)(size - length - 1 < 4095 ? size - length - 1 : 4095),
                     list + length + 1);
            return out;
        }
        list = end ? end + 1 : NULL;
    }
    return NULL;
}

/* "0:110", perhaps with a number for missing cells, or two days. Returns how many; 0: it is neither. */
static size_t read_range(double ends[3], char text[3][64], const char *value, enum number_form form)
{
    size_t n = 0;
    for (const char *at = value; at && n < 3; n++) {
        const size_t length = strcspn(at, ":");
        snprintf(text[n], 64, "%.*s", (int)(length < 63 ? length : 63), at);
        if (!number_of_form(&ends[n], text[n], form))
            return 0;
        at = at[length] ? at + length + 1 : NULL;
    }
    return n > 1 ? n : 0;
}

/* Codes of three characters: cells may have more. */
static bool are_codes(const char *values)
{
    for (const char *at = values; *at; at += at[3] ? 4 : 3)
        if (strcspn(at, "|") != 3 || at[0] < 'A' || at[0] > 'Z' || at[1] < '0' || at[1] > '9')
            return false;
    return true;
}

static void write_values(FILE *f, const char *key, const char *values)
{
    fprintf(f, "%s: [", key);
    for (const char *at = values; at;) {
        char one[256];
        const size_t length = strcspn(at, "|");
        snprintf(one, sizeof one, "%.*s", (int)(length < 255 ? length : 255), at);
        fputs(at == values ? "" : ", ", f);
        write_quoted(f, one);
        at = at[length] ? at + length + 1 : NULL;
    }
    fputc(']', f);
}

static void write_stated(FILE *f, const struct table *t, const struct dataset *d, const char *value,
                         size_t at, bool label)
{
    double ends[3];
    char text[3][64];
    const bool comma =
        table_decimal_comma(t); /* stated too: one cell of another form decides what the others show */
    size_t n = label ? 0 : read_range(ends, text, value, NUMBER_POINT);
    if (label) {
        write_values(f, "type: label, classes", value);
    } else if (n > 0) {
        fprintf(f, "type: number, bounds: [%.15g, %.15g]%s", ends[0], ends[1],
                comma ? ", decimal: comma" : "");
        if (!comma && d->columns[at].form == NUMBER_COMMA)
            context_log(
                t->ctx, SOTTO_LOG_WARNING,
                "%s: column '%s' has decimal commas, which the schema does not state; {decimal=comma} does",
                t->where[0], d->columns[at].name);
        if (n == 3)
            fprintf(f, ", fill: %.15g, was_missing: true", ends[2]);
    } else if (read_range(ends, text, value, NUMBER_DATE)) {
        fprintf(f, "type: date, between: [\"%s\", \"%s\"]", text[0], text[1]);
    } else {
        write_values(
            f, are_codes(value) ? "type: category, prefix: 3, categories" : "type: category, categories",
            value);
    }
}

/* ---- the file ---- */

/* A column that --drop names is the owner's choice; one that looks like an identifier is the rows'. */
static bool is_dropped_by_owner(const struct table *t, const char *name)
{
    const char *list = t->options->drop;
    char word[256];
    while (text_next_word(word, &list))
        if (strcmp(word, name) == 0)
            return true;
    return false;
}

static bool is_from_rows(const struct table *t, const char *name)
{
    char value[4096];
    return !table_stated(value, t, name) && !is_dropped_by_owner(t, name);
}

static void write_column(FILE *f, const struct table *t, const struct dataset *d, size_t column, bool label,
                         size_t *at)
{
    char name[128], value[4096];
    table_column_name(name, sizeof name, t, column);
    fputs("  - {name: ", f);
    write_quoted(f, name);
    fputs(", ", f);
    if (t->kinds[column] == TABLE_DROPPED && !label)
        fputs("type: ignore", f);
    else if (table_stated(value, t, name))
        write_stated(f, t, d, value, *at, label);
    else if (label)
        write_list(f, "type: label, classes", d->class_names, d->set.classes, NULL);
    else
        write_found(f, t, d, column, *at);
    *at += !label && t->kinds[column] != TABLE_DROPPED;
    fputs(is_from_rows(t, name) ? "} # taken from these rows: check and state it\n" : "}\n", f);
}

static void write_from_rows(FILE *f, const struct table *t)
{
    bool first = true;
    char name[128];
    fputs("from_rows: [", f);
    for (size_t j = 0; j < t->columns; j++) {
        table_column_name(name, sizeof name, t, j);
        if (!is_from_rows(t, name))
            continue;
        fputs(first ? "" : ", ", f);
        write_quoted(f, name);
        first = false;
    }
    fputs("]\n", f);
}

static void write_draft(FILE *f, const struct table *t, const struct dataset *d, size_t label)
{
    size_t at = 0;
    fprintf(
        f,
        "# A draft: what from_rows lists was taken from the rows of %s, and a bound, a category or a class "
        "may "
        "tell of one person.\n"
        "# State each column from what is known without these rows, then take its name off from_rows. Until\n"
        "# that list is empty, every epsilon on what is encoded by this file is conditional.\n"
        "schema: sotto.schema/1\nheader: %s\n",
        path_base(t->where[0]), t->skip[0] ? "true" : "false");
    if (t->options->encoding && t->text != TEXT_UTF8)
        fprintf(f, "encoding: %s\n", text_encodings[t->text]);
    else if (t->text != TEXT_UTF8)
        context_log(t->ctx, SOTTO_LOG_WARNING,
                    "%s: is no UTF-8 text, which the schema does not state; {encoding=%s} does", t->where[0],
                    text_encodings[t->text]);
    write_list(f, "missing", t->missing.texts, t->missing.count, NULL);
    fputc('\n', f);
    write_from_rows(f, t);
    fputs("columns:\n", f);
    if (d->rows_per_person) {
        fputs("  - {name: ", f);
        write_quoted(f, d->person);
        fprintf(f, ", type: person, rows: %zu}\n", d->rows_per_person);
    }
    for (size_t j = 0; j < t->columns; j++)
        write_column(f, t, d, j, j == label, &at);
}

/* A name that the table does not have would be stated in vain. */
static sotto_status check_stated(const struct table *t)
{
    sotto_status status = SOTTO_OK;
    const char *list = t->options->state;
    char word[256];
    size_t column;
    while (text_next_word(word, &list)) {
        char *sign = strchr(word, '=');
        if (!sign || sign == word || !sign[1])
            FAIL(SOTTO_EUSAGE,
                 "{state}: '%.80s' states nothing; expected for example age=0:110, "
                 "since=2015-01-01:2024-12-31 "
                 "or sex=f|m",
                 word);
        *sign = '\0';
        if (!table_find_column(&column, t, word))
            FAIL(SOTTO_EINVAL, "%s: {state} names the column '%.80s', which the table does not have",
                 t->where[0], word);
    }
done:
    return status;
}

static sotto_status save_draft(const char *path, const struct table *t, const struct dataset *d, size_t label)
{
    sotto_status status = SOTTO_OK;
    struct atomic_file out = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    write_draft(f, t, d, label);
    if (fclose(f) != 0)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    TRY(atomic_open(&out, path));
    atomic_write(&out, text, size);
    TRY(atomic_commit(&out));
done:
    atomic_discard(&out);
    free(text); /* of open_memstream() */
    return status;
}

sotto_status sotto_data_schema(const char *path, const char *table,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(path, table);
    static const struct sotto_import_options none = {0};
    sotto_status status = SOTTO_OK;
    struct table t = {.ctx = ctx, .options = options ? options : &none, .drafting = true};
    struct dataset *d = NULL;
    struct bundle b = {0};
    size_t label;
    if (t.options->schema)
        FAIL(SOTTO_EUSAGE, "data schema: a schema is what it drafts; omit {schema}");
    TRY(dataset_create(&d));
    d->asks_persons = true;
    TRY(format_open_bundle(&b, table, ctx));
    if (!format_csv.recognise(&b))
        FAIL(SOTTO_EINVAL, "%s: is no table; expected a file .csv, .tsv or .data", table);
    TRY(table_read(&t, d, &label, &b));
    if (d->rows_per_person && !t.skip[0])
        FAIL(SOTTO_EUSAGE, "%s: has no row of names, by which a schema could name the person", t.where[0]);
    TRY(check_stated(&t));
    TRY(save_draft(path, &t, d, label));
done:
    table_clear(&t);
    dataset_discard(d);
    bundle_clear(&b);
    return status;
}
