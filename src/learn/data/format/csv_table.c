/* Tables of text as a layout: one file, or a training file and a test file. */
#include "data/format/csv_table.h"

#include "data/format/format.h"

#include <stdio.h>
#include <string.h>

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

static bool csv_table_recognise(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_table(b->entries[i].name))
            return true;
    return false;
}

size_t table_part_rows(const struct table *t, size_t part)
{
    return t->parts[part].rows - t->skip[part];
}

size_t table_locate(size_t *part_row, const struct table *t, size_t row)
{
    size_t p = row >= table_part_rows(t, 0);
    *part_row = t->skip[p] + row - (p ? table_part_rows(t, 0) : 0);
    return p;
}

const char *table_cell(const struct table *t, size_t row, size_t column)
{
    size_t r, p = table_locate(&r, t, row);
    return csv_cell(&t->parts[p], r, column);
}

void table_column_name(char *out, size_t capacity, const struct table *t, size_t column)
{
    if (t->skip[0])
        snprintf(out, capacity, "%s", csv_cell(&t->parts[0], 0, column));
    else if (t->adult && t->columns == 15)
        snprintf(out, capacity, "%s", adult_columns[column]);
    else
        snprintf(out, capacity, "column %zu", column + 1);
}

/* The caller's, else a tab in a .tsv file, else what the file shows. Under a schema no row decides about the others: its header shows it, and
 * without one it is a comma. */
static sotto_status read_separator(struct csv_style *style, const struct table *t, const char *name)
{
    const char *asked = t->options->separator;
    static const struct {
        const char *name;
        char separator;
    } known[] = {{",", ','},     {";", ';'},         {"\t", '\t'},  {"|", '|'},
                 {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"pipe", '|'}};
    for (size_t i = 0; asked && i < sizeof known / sizeof *known; i++)
        if (strcmp(asked, known[i].name) == 0)
            style->separator = known[i].separator;
    if (asked && !style->separator)
        return status_fail(SOTTO_EUSAGE, "{separator}: '%.20s'; expected comma, semicolon, tab or pipe",
                           asked);
    if (!asked && name_ends(name, ".tsv"))
        style->separator = '\t';
    if (!style->separator && t->schema && !t->schema->header)
        style->separator = ',';
    style->detect = !style->separator;
    style->by_header = t->schema != NULL;
    return SOTTO_OK;
}

static void warn_dropped(struct table *t, size_t p)
{
    char lines[400];
    const struct line_list *dropped = &t->parts[p].dropped;
    t->left_out += dropped->count;
    if (dropped->count > 0)
        context_log(t->ctx, SOTTO_LOG_WARNING,
                    "%s: %zu rows of another form than %zu cells were left out: %s", t->where[p],
                    dropped->count, t->parts[p].columns, line_list_text(lines, dropped));
}

static sotto_status parse_part(struct table *t, const struct bundle *b, size_t entry, size_t p)
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes = {0};
    char *text = NULL;
    size_t size;
    enum text_encoding from;
    const char *name = b->entries[entry].name;
    struct csv_style style = {.trim = true, .drop = t->options->drop_bad_rows, .ctx = t->ctx};
    const enum table_text_use use = t->drafting  ? TEXT_SHOWN
                                    : !t->schema ? TEXT_OF_OPTIONS
                                    : style.drop ? TEXT_OF_GOOD_ROWS
                                                 : TEXT_OF_SCHEMA;
    TRY(read_separator(&style, t, name));
    style.comment = name_ends(name, ".test") ? '|' : 0;
    bundle_where(t->where[p], sizeof t->where[p], b, entry);
    TRY(bundle_load(&bytes, b, entry));
    TRY(table_text(&text, &size, &from, (const char *)bytes.data, bytes.size, t->where[p],
                   t->options->encoding, t->schema ? t->schema->text : TEXT_UTF8, use, t->ctx));
    t->text = p == 0 ? from : t->text;
    if ((status = csv_parse(&t->parts[p], text, size, t->where[p], &style)) == SOTTO_EFORMAT && !style.drop)
        status_hint("{drop_bad_rows} leaves rows of another form out");
    TRY(status);
    t->skip[p] = t->schema ? t->schema->header : !t->options->no_header && table_has_header(t, p);
    t->adult = t->adult || strncmp(path_base(name), "adult.", 6) == 0;
    t->strip_dot[p] = name_ends(name, ".test");
    t->count++;
    warn_dropped(t, p);
    if (table_part_rows(t, p) == 0)
        FAIL(SOTTO_EFORMAT, "%s: holds a header but no rows", t->where[p]);
    if (p == 1 && t->parts[1].columns != t->parts[0].columns)
        FAIL(SOTTO_EFORMAT, "%s: %zu columns; the training table has %zu", t->where[1], t->parts[1].columns,
             t->parts[0].columns);
done:
    base_free(text);
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
            FAIL(SOTTO_EFORMAT, "%s: %s and %s are both %s tables; import them one at a time", b->origin,
                 b->entries[found[p]].name, name, p ? "test" : "training");
        found[p] = i;
    }
    if (found[0] == b->count)
        FAIL(SOTTO_EFORMAT, "%s: contains only test tables; expected a training table", b->origin);
    TRY(parse_part(t, b, found[0], 0));
    if (found[1] < b->count)
        TRY(parse_part(t, b, found[1], 1));
    t->columns = t->parts[0].columns;
    t->rows = table_part_rows(t, 0) + (t->count > 1 ? table_part_rows(t, 1) : 0);
    if (t->columns < 2)
        FAIL(SOTTO_EFORMAT, "%s: has one column; expected a label and at least one feature", t->where[0]);
done:
    return status;
}

/* From the file that the user names, or as another table was imported (dataset_open_like). */
static sotto_status read_schema(struct sotto_table_encoding **out, struct dataset *d,
                                const struct sotto_import_options *options)
{
    sotto_status status = SOTTO_OK;
    if (options->schema && options->label)
        FAIL(SOTTO_EUSAGE, "%s already names the label column; omit {label}", options->schema);
    if (options->schema && (options->missing || options->types || options->drop || options->no_header ||
                            options->decimal || options->encoding))
        FAIL(SOTTO_EUSAGE,
             "%s already states missing cells, types, ignored columns, header, decimal marks and text; omit "
             "{missing}, {types}, {drop}, {no_header}, {decimal} and {encoding}",
             options->schema);
    if (options->state)
        FAIL(SOTTO_EUSAGE, "{state} is for a draft of a schema; omit it here");
    if (options->schema)
        TRY(encoding_read_schema(out, options->schema));
    else if (d->encoding)
        TRY(sotto_table_encoding_parse(out, d->encoding, "the schema of the set"));
done:
    return status;
}

static sotto_status describe_table(struct dataset *d, const struct table *t)
{
    sotto_status status = SOTTO_OK;
    d->table = (struct table_facts){t->parts[0].separator, t->skip[0] > 0, t->left_out, NULL, t->text};
    if (t->options->missing)
        NEW_TEXT(d->table.missing, t->options->missing);
done:
    return status;
}

void table_clear(struct table *t)
{
    text_list_clear(&t->missing);
    base_free(t->kinds);
    base_free(t->forms);
    base_free(t->prefixes);
    csv_clear(&t->parts[0]);
    csv_clear(&t->parts[1]);
}

sotto_status table_read(struct table *t, struct dataset *d, size_t *label, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    TRY(text_list_missing(&t->missing, t->options->missing));
    TRY(parse_tables(t, b));
    TRY(table_cap_persons(d, t, t->options));
    if (t->schema) {
        TRY(table_fill_declared(d, t));
    } else {
        TRY(table_read_choices(t));
        TRY(table_choose_label(label, t, t->options->label));
        table_strip_dots(t, *label);
        TRY(table_check_rows(t, *label, d->persons));
        TRY(t->drafting ? table_propose(t, *label) : SOTTO_OK);
        TRY(table_fill_features(d, t, *label));
        TRY(table_fill_labels(d, t, *label));
    }
    d->set.n_train = table_part_rows(t, 0);
    table_warn_classes(d, t);
    TRY(describe_table(d, t));
done:
    return status;
}

static sotto_status read_table(struct dataset *d, const struct bundle *b,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct table t = {.ctx = ctx, .options = options};
    struct sotto_table_encoding *schema = NULL;
    size_t label;
    TRY(read_schema(&schema, d, options));
    t.schema = schema;
    TRY(table_read(&t, d, &label, b));
done:
    table_clear(&t);
    sotto_table_encoding_free(schema);
    return status;
}

const struct dataset_format format_csv = {
    .name = "csv",
    .layout = "FILE.csv, .tsv or .data: the label first, last or named by "
              "label; texts become category codes ('?' is one), or as a schema says; "
              "with a test table test*.csv or .test beside it",
    .takes_label = true,
    .takes_schema = true,
    .takes_person = true,
    .recognise = csv_table_recognise,
    .read = read_table};
