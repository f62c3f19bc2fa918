/* ChestX-ray8 and -14: Data_Entry_2017.csv (or _v2020) beside the images, one row an image; several findings are joined
 * by '|', and the first is the label. test_list.txt, where it is there, names the images of the test part. */
#include "data/format/image_facts.h"

#include "io/table/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lines of a text, cut and sorted in place; free *names. */
static sotto_status sorted_lines(const char ***names, size_t *count, char *text, size_t size)
{
    sotto_status status = SOTTO_OK;
    size_t most = 1;
    for (size_t i = 0; i < size; i++)
        most += text[i] == '\n';
    NEW(*names, most);
    *count = 0;
    for (char *at = text, *end = text + size; at < end; at++) {
        char *first = at;
        at += strcspn(at, "\r\n");
        *at = '\0';
        if (at > first)
            (*names)[(*count)++] = first;
    }
    qsort(*names, *count, sizeof **names, by_name);
done:
    return status;
}

sotto_status chest_xray_from_memory(struct image_facts *out, const char *text, size_t size, char *tests,
                                    size_t tests_size, const char *name, const char *label,
                                    const char *attribute)
{
    sotto_status status = SOTTO_OK;
    struct csv c = {0};
    const char **held = NULL;
    size_t count = 0, image, finding, second;
    attribute = attribute ? attribute : "Patient Gender";
    TRY(csv_parse(&c, text, size, name, NULL));
    TRY(csv_column(&image, &c, "Image Index"));
    TRY(csv_column(&finding, &c, label ? label : "Finding Labels"));
    TRY(csv_column(&second, &c, attribute));
    if (tests)
        TRY(sorted_lines(&held, &count, tests, tests_size));
    for (size_t row = 1; row < c.rows; row++) {
        const char *path = csv_cell(&c, row, image), *findings = csv_cell(&c, row, finding);
        char first[PICTURE_TEXT];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(findings, "|"), findings);
        bool test = count > 0 && bsearch(&path, held, count, sizeof *held, by_name) != NULL;
        status = image_facts_add(out, path, strlen(path), test ? 2 : 0, first, csv_cell(&c, row, second));
        if (status != SOTTO_OK) {
            status_prefix(name);
            goto done;
        }
    }
    snprintf(out->attribute_name, sizeof out->attribute_name, "%s", attribute);
done:
    base_free((void *)held);
    csv_clear(&c);
    return status;
}

static bool chest_xray_find(size_t *entry, const struct bundle *b, const char *start, const char *ending)
{
    for (*entry = 0; *entry < b->count; ++*entry) {
        const char *base = path_base(b->entries[*entry].name);
        if (strncmp(base, start, strlen(start)) == 0 && name_ends(base, ending))
            return true;
    }
    return false;
}

static bool chest_xray_recognise(const struct bundle *b)
{
    size_t entry;
    return chest_xray_find(&entry, b, "Data_Entry_", ".csv") && images_any(b);
}

static sotto_status read_chests(struct dataset *d, const struct bundle *b,
                                const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct image_facts facts = {0};
    struct bytes text = {0}, list = {0};
    char where[700], *tests = NULL;
    size_t table, held;
    (void)chest_xray_find(&table, b, "Data_Entry_", ".csv");
    bundle_where(where, sizeof where, b, table);
    TRY(bundle_load(&text, b, table));
    if (chest_xray_find(&held, b, "test_list", ".txt")) {
        TRY(bundle_load(&list, b, held));
        NEW(tests, list.size + 1);
        memcpy(tests, list.data, list.size);
    }
    TRY(chest_xray_from_memory(&facts, (const char *)text.data, text.size, tests, list.size, where,
                               options->label, options->attribute));
    TRY(image_facts_read(d, &facts, b, options, ctx));
done:
    base_free(tests);
    bytes_clear(&text);
    bytes_clear(&list);
    image_facts_clear(&facts);
    return status;
}

const struct dataset_format format_chest_xray = {
    .name = "chest-xray",
    .layout = "ChestX-ray8: Data_Entry_2017.csv with pictures, perhaps test_list.txt: label the first "
              "finding, attribute "
              "Patient Gender (label, attribute)",
    .takes_size = true,
    .takes_label = true,
    .takes_attribute = true,
    .recognise = chest_xray_recognise,
    .read = read_chests};
