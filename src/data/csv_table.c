/* Tables of text: one file, or a training file and a test file. Columns of numbers stay numbers; a column of
 * texts becomes category codes (position in the sorted list of its values), and the code book goes into
 * dataset.json. The label is the first or the last column, or a named one; where the file does not show
 * which, the user must say. */
#include "data/format.h"

#include "io/csv.h"
#include "io/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_LIMIT = 10000 }; /* distinct texts in a column; more is free text or an identifier */

struct table {
    struct csv parts[2]; /* training, test */
    size_t skip[2];      /* header rows */
    char where[2][700];
    bool strip_dot[2]; /* adult.test ends its labels with '.' */
    size_t count, rows, columns;
};

static const char *const adult_columns[] = {"age",
                                            "workclass",
                                            "fnlwgt",
                                            "education",
                                            "education-num",
                                            "marital-status",
                                            "occupation",
                                            "relationship",
                                            "race",
                                            "sex",
                                            "capital-gain",
                                            "capital-loss",
                                            "hours-per-week",
                                            "native-country",
                                            "income"};

static bool is_table(const char *name)
{
    const char *base = path_base(name);
    return name_ends(base, ".csv") || name_ends(base, ".tsv") || name_ends(base, ".data") ||
           name_ends(base, ".test");
}

static bool is_test(const char *name)
{
    return name_ends(name, ".test") || strncmp(path_base(name), "test", 4) == 0;
}

static bool recognise(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_table(b->entries[i].name))
            return true;
    return false;
}

static size_t part_rows(const struct table *t, size_t p)
{
    return t->parts[p].rows - t->skip[p];
}

/* Which part and which row of it record `row` is. */
static size_t locate(size_t *part_row, const struct table *t, size_t row)
{
    size_t p = row >= part_rows(t, 0);
    *part_row = t->skip[p] + row - (p ? part_rows(t, 0) : 0);
    return p;
}

static const char *cell(const struct table *t, size_t row, size_t column)
{
    size_t r, p = locate(&r, t, row);
    return csv_cell(&t->parts[p], r, column);
}

static void column_name(char *out, size_t capacity, const struct table *t, size_t column)
{
    if (t->skip[0])
        snprintf(out, capacity, "%s", csv_cell(&t->parts[0], 0, column));
    else if (t->columns == 15 && strncmp(path_base(t->where[0]), "adult.", 6) == 0)
        snprintf(out, capacity, "%s", adult_columns[column]);
    else
        snprintf(out, capacity, "column %zu", column + 1);
}

static sotto_status parse_part(struct table *t, const struct bundle *b, size_t entry, size_t p)
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes = {0};
    const char *name = b->entries[entry].name;
    struct csv_style style = {.separator = name_ends(name, ".tsv") ? '\t' : 0, .trim = true};
    style.comment = name_ends(name, ".test") ? '|' : 0;
    bundle_where(t->where[p], sizeof t->where[p], b, entry);
    TRY(bundle_load(&bytes, b, entry));
    TRY(csv_parse(&t->parts[p], (const char *)bytes.data, bytes.size, t->where[p], &style));
    t->skip[p] = csv_has_header(&t->parts[p]);
    t->strip_dot[p] = name_ends(name, ".test");
    t->count++;
    if (part_rows(t, p) == 0)
        FAIL(SOTTO_EFORMAT, "%s: holds a header but no rows", t->where[p]);
    if (p == 1 && t->parts[1].columns != t->parts[0].columns)
        FAIL(SOTTO_EFORMAT, "%s: %zu columns; the training table has %zu", t->where[1], t->parts[1].columns,
             t->parts[0].columns);
done:
    bytes_clear(&bytes);
    return status;
}

static sotto_status parse_tables(struct table *t, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    size_t found[2] = {b->count, b->count}, tables = 0;
    for (size_t i = 0; i < b->count; i++)
        tables += is_table(b->entries[i].name);
    for (size_t i = 0; i < b->count; i++) {
        const char *name = b->entries[i].name;
        if (!is_table(name))
            continue;
        size_t p = tables > 1 && is_test(name);
        if (found[p] < b->count)
            FAIL(SOTTO_EFORMAT, "%s: %s and %s are both %s tables; import one at a time", b->origin,
                 b->entries[found[p]].name, name, p ? "test" : "training");
        found[p] = i;
    }
    if (found[0] == b->count)
        FAIL(SOTTO_EFORMAT, "%s: only test tables found", b->origin);
    TRY(parse_part(t, b, found[0], 0));
    if (found[1] < b->count)
        TRY(parse_part(t, b, found[1], 1));
    t->columns = t->parts[0].columns;
    t->rows = part_rows(t, 0) + (t->count > 1 ? part_rows(t, 1) : 0);
    if (t->columns < 2)
        FAIL(SOTTO_EFORMAT, "%s: has one column; expected a label and at least one feature", t->where[0]);
done:
    return status;
}

static bool is_missing(const char *text)
{
    return text[0] == '\0' || strcmp(text, "?") == 0;
}

/* A column is one of numbers when all its values are; the missing ones among them are counted. */
static bool all_numbers(const struct table *t, size_t column)
{
    size_t numbers = 0;
    double x;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = cell(t, i, column);
        if (is_missing(text))
            continue;
        if (!number_real(&x, text, strlen(text)))
            return false;
        numbers++;
    }
    return numbers > 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whole numbers by value, before all other texts. */
static int by_value(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int64_t p, q;
    bool whole_x = number_whole(&p, x, strlen(x)), whole_y = number_whole(&q, y, strlen(y));
    if (whole_x != whole_y)
        return whole_x ? -1 : 1;
    if (whole_x && p != q)
        return p < q ? -1 : 1;
    return strcmp(x, y);
}

typedef int (*order)(const void *, const void *);

/* Sorted distinct values of a column; pointers into the table. */
static sotto_status distinct(const char ***values, size_t *count, const struct table *t, size_t column,
                             order less)
{
    sotto_status status = SOTTO_OK;
    const char **list = base_alloc(t->rows, sizeof *list);
    size_t kept = 0;
    if (!list)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", t->where[0]);
    for (size_t i = 0; i < t->rows; i++)
        list[i] = cell(t, i, column);
    qsort((void *)list, t->rows, sizeof *list, less);
    for (size_t i = 0; i < t->rows; i++)
        if (i == 0 || less(&list[kept - 1], &list[i]) != 0)
            list[kept++] = list[i];
    if (kept > VALUE_LIMIT) {
        char name[128];
        column_name(name, sizeof name, t, column);
        FAIL(SOTTO_EFORMAT, "%s: '%s' has %zu different values; categories may have %d", t->where[0], name,
             kept, VALUE_LIMIT);
    }
    *values = list;
    *count = kept;
    list = NULL;
done:
    base_free((void *)list);
    return status;
}

static size_t code_of(const char *text, const char *const *values, size_t count, order less)
{
    const char *const *hit = bsearch(&text, values, count, sizeof *values, less);
    return (size_t)(hit - values);
}

/* 0 and 1 everywhere but in the first column: Location, Purchase and their kind put the label first. */
static bool rest_is_binary(const struct table *t)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 1; j < t->columns; j++) {
            const char *text = cell(t, i, j);
            if ((text[0] != '0' && text[0] != '1') || text[1] != '\0')
                return false;
        }
    return true;
}

static bool find_named(size_t *column, const struct table *t, const char *wanted)
{
    char name[128];
    for (*column = 0; *column < t->columns; ++*column) {
        column_name(name, sizeof name, t, *column);
        if (strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

static sotto_status choose_label(size_t *column, const struct table *t, const char *asked)
{
    sotto_status status = SOTTO_OK;
    size_t last = t->columns - 1;
    if (asked) {
        if (find_named(column, t, asked))
            goto done;
        if (strcmp(asked, "first") != 0 && strcmp(asked, "last") != 0)
            FAIL(SOTTO_EINVAL, "%s: no column is called '%.80s'", t->where[0], asked);
        *column = strcmp(asked, "first") == 0 ? 0 : last;
        goto done;
    }
    if (find_named(column, t, "label") || find_named(column, t, "class") || find_named(column, t, "target"))
        goto done;
    bool first_text = !all_numbers(t, 0), last_text = !all_numbers(t, last);
    if (last_text && !first_text) {
        *column = last;
    } else if ((first_text && !last_text) || (!last_text && rest_is_binary(t))) {
        *column = 0;
    } else {
        status = status_fail(SOTTO_EINVAL, "%s: cannot tell which of %zu columns is the label", t->where[0],
                             t->columns);
        status_hint("say so: --label first, --label last or --label COLUMN");
    }
done:
    return status;
}

static sotto_status fill_labels(struct dataset *d, struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    const char **values = NULL;
    size_t count;
    for (size_t i = 0; i < t->rows; i++) {
        size_t r, p = locate(&r, t, i);
        char *text = t->parts[p].cells[r * t->columns + column];
        size_t length = strlen(text);
        if (t->strip_dot[p] && length > 1 && text[length - 1] == '.')
            text[length - 1] = '\0';
        if (is_missing(text))
            FAIL(SOTTO_EFORMAT, "%s:%zu: the label is missing", t->where[p], t->parts[p].lines[r]);
    }
    TRY(distinct(&values, &count, t, column, by_value));
    if (count < 2)
        FAIL(SOTTO_EFORMAT, "%s: every label is '%.40s'; expected at least two classes", t->where[0],
             values[0]);
    for (size_t i = 0; i < t->rows; i++)
        d->labels[i] = (int64_t)code_of(cell(t, i, column), values, count, by_value);
    TRY(dataset_set_classes(d, count, values));
done:
    base_free((void *)values);
    return status;
}

static sotto_status fill_number(float *out, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < t->rows; i++) {
        const char *text = cell(t, i, column);
        double x;
        if (is_missing(text) || !number_real(&x, text, strlen(text))) {
            char name[128];
            size_t r, p = locate(&r, t, i);
            column_name(name, sizeof name, t, column);
            FAIL(SOTTO_EFORMAT, "%s:%zu: '%s' has no value ('%.20s'); missing numbers are not filled in",
                 t->where[p], t->parts[p].lines[r], name, text);
        }
        out[i * (t->columns - 1)] = (float)x;
    }
done:
    return status;
}

static sotto_status fill_codes(float *out, struct json **codes, const struct table *t, size_t column)
{
    sotto_status status = SOTTO_OK;
    const char **values = NULL;
    size_t count;
    TRY(distinct(&values, &count, t, column, by_bytes));
    for (size_t i = 0; i < t->rows; i++)
        out[i * (t->columns - 1)] = (float)code_of(cell(t, i, column), values, count, by_bytes);
    *codes = json_make_array();
    for (size_t v = 0; v < count; v++)
        json_push(codes, json_make_text(values[v]));
done:
    base_free((void *)values);
    return status;
}

static sotto_status fill_features(struct dataset *d, const struct table *t, size_t label)
{
    sotto_status status = SOTTO_OK;
    d->columns = json_make_array();
    for (size_t j = 0, at = 0; j < t->columns; j++) {
        struct json *column, *codes = NULL;
        char name[128];
        if (j == label)
            continue;
        bool number = all_numbers(t, j);
        TRY(number ? fill_number(d->features + at, t, j) : fill_codes(d->features + at, &codes, t, j));
        column_name(name, sizeof name, t, j);
        column = json_make_object();
        json_put_text(&column, "name", name);
        json_put_text(&column, "kind", number ? "number" : "category");
        if (!number)
            json_put(&column, "codes", codes);
        json_push(&d->columns, column);
        at++;
    }
    if (!d->columns)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", t->where[0]);
done:
    return status;
}

static sotto_status read_table(struct dataset *d, const struct bundle *b,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct table t = {0};
    size_t label;
    (void)ctx;
    TRY(parse_tables(&t, b));
    TRY(choose_label(&label, &t, options->label));
    TRY(dataset_reserve_features(d, t.rows, t.columns - 1, true));
    d->set.n_train = part_rows(&t, 0);
    TRY(fill_labels(d, &t, label));
    TRY(fill_features(d, &t, label));
done:
    csv_clear(&t.parts[0]);
    csv_clear(&t.parts[1]);
    return status;
}

const struct dataset_format format_csv = {.name = "csv",
                                          .layout = "FILE.csv or .data: the label first, last or named by "
                                                    "--label; texts become category codes ('?' is one); "
                                                    "with a test table test*.csv or .test beside it",
                                          .takes_label = true,
                                          .recognise = recognise,
                                          .read = read_table};
