/* A draft of a schema: what an import would read off the rows, as a file in which the owner states it instead. */
#include "base/file.h"
#include "data/files/bundle.h"
#include "data/format/csv_table.h"
#include "data/format/format.h"

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

static void write_bounds(FILE *f, const struct dataset *d, size_t column)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < d->set.n; i++) {
        double x = (double)d->features[i * d->set.columns + column];
        low = x < low ? x : low; /* neither for NAN */
        high = x > high ? x : high;
    }
    low = low < 0 ? -round_up(-low) : 0;
    high = high > 0 ? round_up(high) : low < 0 ? 0 : 1;
    fprintf(f, "type: number, bounds: [%.15g, %.15g]", low, high);
}

static bool all_missing(const struct table *t, const struct table_column *c)
{
    for (size_t k = 0; k < c->code_count; k++)
        if (!table_missing(t, c->codes[k]))
            return false;
    return true;
}

static void write_column(FILE *f, const struct table *t, const struct dataset *d, size_t column, bool label,
                         size_t *at)
{
    char name[128];
    table_column_name(name, sizeof name, t, column);
    fputs("  - {name: ", f);
    write_quoted(f, name);
    fputs(", ", f);
    if (label) {
        write_list(f, "type: label, classes", d->class_names, d->set.classes, NULL);
    } else if (t->kinds[column] == TABLE_DROPPED) {
        fputs("type: ignore", f);
    } else {
        const struct table_column *c = &d->columns[*at];
        if (!c->category)
            write_bounds(f, d, *at);
        else if (all_missing(t, c))
            fputs("type: ignore", f);
        else
            write_list(f, "type: category, categories", c->codes, c->code_count, &t->missing);
        ++*at;
    }
    fputs("} # taken from these rows: check and state it\n", f);
}

static void write_draft(FILE *f, const struct table *t, const struct dataset *d, size_t label)
{
    size_t at = 0;
    fprintf(
        f,
        "# A draft: all of it was taken from the rows of %s, and a bound, a category or a class may tell of "
        "one "
        "person.\n"
        "# State each column from what is known without these rows, then take its name off from_rows. Until\n"
        "# that list is empty, every epsilon on what is encoded by this file is conditional.\n"
        "schema: sotto.schema/1\nheader: %s\n",
        path_base(t->where[0]), t->skip[0] ? "true" : "false");
    write_list(f, "missing", t->missing.texts, t->missing.count, NULL);
    fputs("\nfrom_rows: [", f);
    for (size_t j = 0; j < t->columns; j++) {
        char name[128];
        table_column_name(name, sizeof name, t, j);
        fputs(j ? ", " : "", f);
        write_quoted(f, name);
    }
    fputs("]\ncolumns:\n", f);
    for (size_t j = 0; j < t->columns; j++)
        write_column(f, t, d, j, j == label, &at);
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
    struct table t = {.ctx = ctx, .options = options ? options : &none};
    struct dataset *d = NULL;
    struct bundle b = {0};
    size_t label;
    if (t.options->schema)
        FAIL(SOTTO_EUSAGE, "data schema: a schema is what it drafts; omit {schema}");
    TRY(dataset_create(&d));
    TRY(format_open_bundle(&b, table, ctx));
    if (!format_csv.recognise(&b))
        FAIL(SOTTO_EINVAL, "%s: is no table; expected a file .csv, .tsv or .data", table);
    TRY(table_read(&t, d, &label, &b));
    TRY(save_draft(path, &t, d, label));
done:
    table_clear(&t);
    dataset_discard(d);
    bundle_clear(&b);
    return status;
}
