/* sotto.schema/1: what its writer knows about a table without looking at the rows. */
#include "data/encoding/encoding.h"

#include "data/files/bundle.h"
#include "io/yaml/yaml_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct config_row rows[] = {
    {"schema", CONFIG_TEXT, .required = true, .names = "sotto.schema/1", .help = "what this file is"},
    {"header", CONFIG_FLAG, "true", .help = "tables begin with a row of names; false: columns in this order"},
    {"missing", CONFIG_TEXTS, "['', '?']", .help = "cells of number columns that hold no number"},
    {"encoding", CONFIG_TEXT, "utf-8", .names = "utf-8|latin-1|windows-1252",
     .help = "of a table that is not UTF-8"},
    {"from_rows", CONFIG_TEXTS, "[]",
     .help = "columns that were taken from the rows and not stated yet: what is encoded counts as fitted"},
    {"columns[].name", CONFIG_TEXT, .required = true, .help = "as in the row of names"},
    {"columns[].type", CONFIG_TEXT, .required = true, .names = "number|date|category|label|person|ignore",
     .help = "what the column holds"},
    {"columns[].bounds", CONFIG_REALS, NULL, .range = "[-1e30,1e30]",
     .help = "number: [low, high]; others are moved into them"},
    {"columns[].between", CONFIG_TEXTS, NULL, .help = "date: [first, last]; others are moved into them"},
    {"columns[].decimal", CONFIG_TEXT, "point", .names = "point|comma", .help = "number: 12.5 or 12,5"},
    {"columns[].fill", CONFIG_REAL, NULL, .help = "number: stands for a missing one; default: the middle"},
    {"columns[].was_missing", CONFIG_FLAG, "false",
     .help = "number, date: one more input, which is 1 where the cell holds none"},
    {"columns[].categories", CONFIG_TEXTS, NULL, .help = "category: its values"},
    {"columns[].prefix", CONFIG_WHOLE, "0", .range = "[0,64]",
     .help = "category: so many characters of a cell count, as of codes; 0: all"},
    {"columns[].rows", CONFIG_WHOLE, "0", .range = "[0,1048576]",
     .help = "person: rows to keep of each; 0: the import asks"},
    {"columns[].classes", CONFIG_TEXTS, NULL, .help = "label: its values"},
    {"columns[].other", CONFIG_TEXT, NULL, .help = "category, label: value that unknown ones count as"},
    {.path = NULL}};

/* A key that says nothing about a column of this type is a mistake. */
static sotto_status check_keys(const struct config *c, size_t i, const char *type)
{
    static const struct {
        const char *key, *types;
    } belongs[] = {{"bounds", "number"},
                   {"between", "date"},
                   {"decimal", "number"},
                   {"fill", "number"},
                   {"was_missing", "number, date"},
                   {"categories", "category"},
                   {"prefix", "category"},
                   {"rows", "person"},
                   {"classes", "label"},
                   {"other", "category, label"}};
    char path[64];
    for (size_t k = 0; k < sizeof belongs / sizeof *belongs; k++) {
        snprintf(path, sizeof path, "columns[%zu].%s", i, belongs[k].key);
        if (config_given(c, "%s", path) && !strstr(belongs[k].types, type))
            return config_fail(c, path, "'%s' is only a key of columns of type %s, not of type %s",
                               belongs[k].key, belongs[k].types, type);
    }
    return SOTTO_OK;
}

static sotto_status read_bounds(struct encoding_column *column, const struct config *c, size_t i)
{
    char path[64];
    snprintf(path, sizeof path, "columns[%zu].bounds", i);
    size_t given = config_length(c, "%s", path);
    column->low = config_real(c, "%s[0]", path);
    column->high = config_real(c, "%s[1]", path);
    if (given != 2 || !(column->low < column->high)) {
        if (!config_given(c, "%s", path))
            snprintf(path, sizeof path, "columns[%zu].name", i);
        return config_fail(c, path,
                           "number column '%.80s' has no bounds; expected 'bounds: [low, high]' with low < "
                           "high, chosen without looking at private rows",
                           column->name);
    }
    encoding_scale_by_bounds(column);
    column->fills = config_given(c, "columns[%zu].fill", i);
    column->missing =
        config_given(c, "columns[%zu].fill", i) ? config_real(c, "columns[%zu].fill", i) : column->centre;
    if (column->missing >= column->low && column->missing <= column->high)
        return SOTTO_OK;
    snprintf(path, sizeof path, "columns[%zu].fill", i);
    return config_fail(c, path, "fill %.9g of column '%.80s' is outside of its bounds", column->missing,
                       column->name);
}

/* Days since 1970-01-01; the middle stands for a missing one. */
static sotto_status read_between(struct encoding_column *column, const struct config *c, size_t i)
{
    char path[64];
    double ends[2] = {0, 0};
    snprintf(path, sizeof path, "columns[%zu].between", i);
    size_t given = config_length(c, "%s", path), read = 0;
    for (size_t k = 0; given == 2 && k < 2; k++)
        read += number_of_form(&ends[k], config_text(c, "%s[%zu]", path, k), NUMBER_DATE);
    if (read != 2 || !(ends[0] < ends[1])) {
        if (!config_given(c, "%s", path))
            snprintf(path, sizeof path, "columns[%zu].name", i);
        return config_fail(c, path,
                           "date column '%.80s' has no first and last day; expected for example 'between: "
                           "[2015-01-01, 2024-12-31]', chosen without looking at private rows",
                           column->name);
    }
    column->form = NUMBER_DATE;
    column->low = ends[0];
    column->high = ends[1];
    encoding_scale_by_bounds(column);
    column->missing = column->centre;
    return SOTTO_OK;
}

/* The values of a category or label, and which of them represents unknown ones (list->count: none does). */
static sotto_status read_values(struct text_list *list, size_t *other, const struct config *c, size_t i,
                                const char *key)
{
    sotto_status status = SOTTO_OK;
    char path[64];
    const char *name = config_text(c, "columns[%zu].name", i),
               *text = config_text(c, "columns[%zu].other", i);
    size_t count = config_length(c, "columns[%zu].%s", i, key);
    for (size_t k = 0; k < count; k++)
        TRY(text_list_add(list, config_text(c, "columns[%zu].%s[%zu]", i, key, k)));
    if (count == 0) {
        snprintf(path, sizeof path, "columns[%zu].name", i);
        status = config_fail(c, path, "column '%.80s' has no %s; expected %s: [value, ...]", name, key, key);
        goto done;
    }
    *other = text ? text_list_find(list, (struct cell){text, NAN, 0}) : count;
    if (text && *other == count) {
        snprintf(path, sizeof path, "columns[%zu].other", i);
        status = config_fail(c, path, "'%.40s' is not among the %s of column '%.80s'", text, key, name);
    }
done:
    return status;
}

static sotto_status read_label(struct sotto_table_encoding *e, const struct config *c, size_t i)
{
    sotto_status status = SOTTO_OK;
    char path[64];
    if (e->label) {
        snprintf(path, sizeof path, "columns[%zu].type", i);
        status = config_fail(c, path, "column '%.80s' is a second label; expected one", e->label);
        goto done;
    }
    NEW_TEXT(e->label, config_text(c, "columns[%zu].name", i));
    TRY(read_values(&e->classes, &e->other_class, c, i, "classes"));
    e->other_declared = e->other_class < e->classes.count;
    if (!e->other_declared)
        e->other_class = 0;
done:
    return status;
}

static sotto_status read_column(struct encoding_column *column, const struct config *c, size_t i,
                                const char *type)
{
    sotto_status status = SOTTO_OK;
    NEW_TEXT(column->name, config_text(c, "columns[%zu].name", i));
    const bool date = strcmp(type, "date") == 0;
    while (!date && strcmp(column_kinds[column->kind], type) != 0)
        column->kind++;
    if (column->kind == COLUMN_NUMBER) {
        TRY(date ? read_between(column, c, i) : read_bounds(column, c, i));
        if (strcmp(config_text(c, "columns[%zu].decimal", i), "comma") == 0)
            column->form = NUMBER_COMMA;
        column->was_missing = config_flag(c, "columns[%zu].was_missing", i);
    }
    column->prefix = config_whole(c, "columns[%zu].prefix", i);
    if (column->kind == COLUMN_CATEGORY)
        TRY(read_values(&column->categories, &column->other, c, i, "categories"));
done:
    return status;
}

/* It says whose row it is, and is no feature. */
static sotto_status read_person(struct sotto_table_encoding *e, const struct config *c, size_t i)
{
    sotto_status status = SOTTO_OK;
    char path[64];
    if (e->person) {
        snprintf(path, sizeof path, "columns[%zu].type", i);
        status = config_fail(c, path, "column '%.80s' is a second person; expected one", e->person);
        goto done;
    }
    NEW_TEXT(e->person, config_text(c, "columns[%zu].name", i));
    e->rows_per_person = config_whole(c, "columns[%zu].rows", i);
    TRY(read_column(&e->columns[e->count++], c, i, "ignore"));
done:
    return status;
}

static sotto_status read_columns(struct sotto_table_encoding *e, const struct config *c)
{
    sotto_status status = SOTTO_OK;
    size_t count = config_length(c, "columns");
    e->count = 0; /* the label is none of them */
    for (size_t i = 0; i < count; i++) {
        const char *type = config_text(c, "columns[%zu].type", i);
        TRY(check_keys(c, i, type));
        if (strcmp(type, "label") == 0) {
            e->label_at = i;
            TRY(read_label(e, c, i));
        } else if (strcmp(type, "person") == 0) {
            e->person_at = i;
            TRY(read_person(e, c, i));
        } else {
            TRY(read_column(&e->columns[e->count++], c, i, type));
        }
    }
done:
    return status;
}

/* A schema that was drafted from rows declares nothing until its owner has stated every column. */
static sotto_status read_from_rows(struct sotto_table_encoding *e, const struct config *c)
{
    size_t count = config_length(c, "from_rows");
    char path[64];
    for (size_t k = 0; k < count; k++) {
        const char *column = config_text(c, "from_rows[%zu]", k);
        snprintf(path, sizeof path, "from_rows[%zu]", k);
        if (encoding_find(e, column) == e->count && (!e->label || strcmp(column, e->label) != 0))
            return config_fail(c, path, "'%.80s' is not a column of this schema", column);
    }
    e->unstated = count;
    if (count > 0) {
        e->how = SOTTO_ENCODING_FITTED;
        e->declared_classes = false;
    }
    return SOTTO_OK;
}

static sotto_status from_config(struct sotto_table_encoding **out, const struct config *c, const char *name,
                                bool labelled)
{
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    size_t count = config_length(c, "columns"), markers = config_length(c, "missing");
    const char *base = path_base(name);
    if (labelled && count < 2)
        FAIL(SOTTO_ECONFIG, "%s: describes %zu columns; expected a label and at least one other", name,
             count);
    TRY(encoding_create(&e, count));
    e->how = SOTTO_ENCODING_DECLARED;
    e->declared_classes = true;
    e->header = config_flag(c, "header");
    text_encoding_named(&e->text, config_text(c, "encoding"));
    snprintf(e->by, sizeof e->by, "the schema %.200s", base);
    for (size_t k = 0; k < markers; k++)
        TRY(text_list_add(&e->missing, config_text(c, "missing[%zu]", k)));
    TRY(read_columns(e, c));
    TRY(labelled || e->label ? encoding_check(e, SOTTO_ECONFIG, name)
                             : encoding_check_columns(e, SOTTO_ECONFIG, name));
    TRY(read_from_rows(e, c));
    *out = e;
    e = NULL;
done:
    sotto_table_encoding_free(e);
    return status;
}

sotto_status encoding_parse_schema(struct sotto_table_encoding **out, const char *text, size_t size,
                                   const char *name)
{
    sotto_status status = SOTTO_OK;
    struct config *c = NULL;
    TRY(config_read(&c, text, size, name, rows, NULL));
    TRY(from_config(out, c, name, true));
done:
    config_free(c);
    return status;
}

static sotto_status read_schema(struct sotto_table_encoding **out, const char *path, bool labelled)
{
    sotto_status status = SOTTO_OK;
    struct config *c = NULL;
    TRY(config_read_file(&c, path, rows, NULL));
    TRY(from_config(out, c, path, labelled));
done:
    config_free(c);
    return status;
}

sotto_status encoding_read_schema(struct sotto_table_encoding **out, const char *path)
{
    return read_schema(out, path, true);
}

sotto_status encoding_read_columns(struct sotto_table_encoding **out, const char *path)
{
    return read_schema(out, path, false);
}

sotto_status sotto_data_schema_unstated(size_t *columns, const char *path)
{
    REQUIRE_GIVEN(columns, path);
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    TRY(encoding_read_columns(&e, path));
    *columns = e->unstated;
done:
    sotto_table_encoding_free(e);
    return status;
}
