/* What a table of text held, column by column, as text for the owner of the rows. */
#include "data/set/summary.h"
#include "data/encoding/encoding.h"
#include "io/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 40, MOST_VALUES = 6, NAME = 24 /* characters */ };

/* A value and how often it occurs, in a list with the most frequent first. */
struct value_count {
    const char *text;
    size_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct value_count *x = a, *y = b;
    return x->count == y->count ? strcmp(x->text, y->text) : x->count < y->count ? 1 : -1;
}

static sotto_status count_labels(struct value_count **out, const struct sotto_dataset *s)
{
    sotto_status status = SOTTO_OK;
    struct value_count *counts = NULL;
    NEW(counts, s->classes);
    for (size_t k = 0; k < s->classes; k++)
        counts[k].text = s->class_names ? s->class_names[k] : "";
    for (size_t i = 0; i < s->n; i++)
        counts[s->labels[i]].count++;
    *out = counts;
done:
    return status;
}

void summary_count_codes(size_t *counts, const struct sotto_dataset *s, size_t column)
{
    size_t codes = dataset_behind(s)->columns[column].code_count;
    for (size_t i = 0; i < s->n; i++) {
        float code = s->features[i * s->columns + column];
        if (code >= 0 && code < (float)codes)
            counts[(size_t)code]++;
    }
}

static sotto_status count_codes(struct value_count **out, const struct sotto_dataset *s, size_t j)
{
    sotto_status status = SOTTO_OK;
    const struct table_column *c = &dataset_behind(s)->columns[j];
    struct value_count *values = NULL;
    size_t *counts = NULL;
    NEW(counts, c->code_count);
    NEW(values, c->code_count);
    summary_count_codes(counts, s, j);
    for (size_t k = 0; k < c->code_count; k++)
        values[k] = (struct value_count){c->codes[k], counts[k]};
    *out = values;
done:
    base_free(counts);
    return status;
}

struct number_range summary_range(const struct sotto_dataset *s, size_t column)
{
    struct number_range r = {INFINITY, -INFINITY, 0, 0};
    for (size_t i = 0; i < s->n; i++) {
        double x = (double)s->features[i * s->columns + column];
        if (isnan(x))
            continue;
        r.low = fmin(r.low, x);
        r.high = fmax(r.high, x);
        r.n++;
        r.mean += (x - r.mean) / (double)r.n;
    }
    return r;
}

static void write_values(FILE *f, struct value_count *counts, size_t n)
{
    char shown[4 * NAME];
    qsort(counts, n, sizeof *counts, by_count);
    fprintf(f, "%zu:", n);
    for (size_t k = 0; k < n && k < MOST_VALUES; k++) {
        const char *text = counts[k].text[0] ? counts[k].text : "(empty)";
        fprintf(f, "%s %s %zu", k ? "," : "", utf8_printable(shown, NAME + 4, text, strlen(text)),
                counts[k].count);
    }
    fprintf(f, n > MOST_VALUES ? ", and %zu more\n" : "\n", n - MOST_VALUES);
}

static sotto_status write_column(FILE *f, const struct sotto_dataset *s, size_t j)
{
    sotto_status status = SOTTO_OK;
    const struct table_column *c = &dataset_behind(s)->columns[j];
    const bool filled = dataset_behind(s)->encoding && c->missing > 0;
    const char *fills = filled ? ", with the schema's fill for the missing ones" : "";
    char days[2][16];
    struct value_count *counts = NULL;
    char name[4 * NAME + 1];
    fprintf(f, "  %s  %-8s  %7zu  %10zu  ", utf8_column(name, c->name, NAME),
            c->category              ? "category"
            : c->form == NUMBER_DATE ? "date"
                                     : "number",
            c->missing, c->unforeseen);
    if (c->category) {
        TRY(count_codes(&counts, s, j));
        write_values(f, counts, c->code_count);
    } else {
        struct number_range r = summary_range(s, j);
        if (r.n > 0 && c->form == NUMBER_DATE)
            fprintf(f, "%s to %s%s\n", date_text(days[0], r.low), date_text(days[1], r.high), fills);
        else if (r.n > 0)
            fprintf(f, "%.6g to %.6g, mean %.6g%s\n", r.low, r.high, r.mean, fills);
        else
            fprintf(f, "none\n");
    }
done:
    base_free(counts);
    return status;
}

static const char *separator_name(char c)
{
    return c == ',' ? "commas" : c == ';' ? "semicolons" : c == '\t' ? "tabs" : "pipes";
}

static sotto_status write_table(FILE *f, const struct sotto_dataset *s)
{
    sotto_status status = SOTTO_OK;
    const struct dataset *d = dataset_behind(s);
    struct value_count *classes = NULL;
    char name[4 * NAME + 1];
    TRY(count_labels(&classes, s));
    fprintf(f, "%s: %zu records, cells between %s, %s; rows left out: %zu\n", s->name, s->n,
            separator_name(d->table.separator),
            d->table.header ? "names in the first row" : "no row of names", d->table.left_out);
    fprintf(f, "  %-24s  %-8s  %7s  %10s  values\n", "column", "kind", "missing", "unforeseen");
    for (size_t j = 0; j < s->columns && j < MOST_COLUMNS; j++)
        TRY(write_column(f, s, j));
    if (s->columns > MOST_COLUMNS)
        fprintf(f, "  and %zu more columns\n", s->columns - MOST_COLUMNS);
    fprintf(f, "  %s  %-8s  %7s  %10s  ", utf8_column(name, d->label_column, NAME), "label", "", "");
    write_values(f, classes, s->classes);
    fprintf(f, "This summary describes private rows: it is for their owner only.\n");
done:
    base_free(classes);
    return status;
}

sotto_status sotto_dataset_summary(char **text, const struct sotto_dataset *d)
{
    REQUIRE_GIVEN(text, d);
    sotto_status status = SOTTO_OK;
    const struct dataset *behind = dataset_behind(d);
    char *made = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&made, &size);
    if (!f)
        FAIL(SOTTO_ENOMEM, "data summary: out of memory");
    if (behind && behind->table.separator && d->features && d->labels && behind->column_count == d->columns)
        TRY(write_table(f, d));
    bool whole = fclose(f) == 0;
    f = NULL;
    if (!whole)
        FAIL(SOTTO_ENOMEM, "data summary: out of memory");
    NEW_TEXT(*text, made);
done:
    if (f)
        fclose(f);
    free(made); /* of open_memstream() */
    return status;
}
