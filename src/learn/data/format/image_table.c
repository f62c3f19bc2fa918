/* Images with a label or two, from anywhere: labels.csv beside them, with a header and the columns path, label,
 * perhaps attribute, perhaps split (train, val or test); other columns are taken by --label and --attribute. */
#include "data/format/image_facts.h"

#include "io/table/csv.h"

#include <stdio.h>
#include <string.h>

static sotto_status split_of(int *out, const struct csv *c, size_t row, size_t column)
{
    static const char *const names[] = {"train", "val", "test"};
    const char *cell = csv_cell(c, row, column);
    for (*out = 0; *out < 3; ++*out)
        if (strcmp(cell, names[*out]) == 0)
            return SOTTO_OK;
    return status_fail(SOTTO_EFORMAT, "%s:%zu: split '%.40s'; expected train, val or test", c->name,
                       c->lines[row], cell);
}

sotto_status image_table_from_memory(struct image_facts *out, const char *text, size_t size, const char *name,
                                     const char *label, const char *attribute)
{
    sotto_status status = SOTTO_OK;
    struct csv c = {0};
    size_t path, first, second = 0, split;
    TRY(csv_parse(&c, text, size, name, NULL));
    TRY(csv_column(&path, &c, "path"));
    TRY(csv_column(&first, &c, label ? label : "label"));
    if (attribute)
        TRY(csv_column(&second, &c, attribute));
    else if (csv_column(&second, &c, "attribute") == SOTTO_OK)
        attribute = "attribute";
    bool splits = csv_column(&split, &c, "split") == SOTTO_OK;
    for (size_t row = 1; row < c.rows; row++) {
        const char *at = csv_cell(&c, row, path);
        int part = 0;
        if (splits)
            TRY(split_of(&part, &c, row, split));
        status = image_facts_add(out, at, strlen(at), part, csv_cell(&c, row, first),
                                 attribute ? csv_cell(&c, row, second) : NULL);
        if (status != SOTTO_OK) {
            status_prefix(name);
            goto done;
        }
    }
    snprintf(out->attribute_name, sizeof out->attribute_name, "%s", attribute ? attribute : "");
done:
    csv_clear(&c);
    return status;
}

static size_t find_table(const struct bundle *b)
{
    size_t i = 0;
    while (i < b->count && strcmp(path_base(b->entries[i].name), "labels.csv") != 0)
        i++;
    return i;
}

static bool image_table_recognise(const struct bundle *b)
{
    return find_table(b) < b->count && images_any(b);
}

static sotto_status read_table(struct dataset *d, const struct bundle *b,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct image_facts facts = {0};
    struct bytes text = {0};
    char where[700];
    bundle_where(where, sizeof where, b, find_table(b));
    TRY(bundle_load(&text, b, find_table(b)));
    TRY(image_table_from_memory(&facts, (const char *)text.data, text.size, where, options->label,
                                options->attribute));
    TRY(image_facts_read(d, &facts, b, options, ctx));
done:
    bytes_clear(&text);
    image_facts_clear(&facts);
    return status;
}

const struct dataset_format format_image_table = {
    .name = "picture-table",
    .layout = "labels.csv (path,label[,attribute][,split]) with pictures (label, attribute: other columns)",
    .takes_size = true,
    .drops_images = true,
    .takes_label = true,
    .takes_attribute = true,
    .recognise = image_table_recognise,
    .read = read_table};
