/* Places20, 50, 100, 365 as "Quantifying and Mitigating Privacy Risks of Contrastive Learning" uses them: one
 * JSON list of [path, category, indoor or outdoor] beside the images. The task is to tell indoor from
 * outdoor, the category is the attribute. */
#include "data/format/image_facts.h"

#include "io/json/json.h"

#include <stdio.h>
#include <string.h>

static sotto_status text_of(char out[PICTURE_TEXT], const struct json *j, size_t row, const char *name)
{
    const char *text = json_text(j);
    if (json_kind(j) == JSON_KIND_INTEGER && json_whole(j) >= 0)
        snprintf(out, PICTURE_TEXT, "%lld", (long long)json_whole(j));
    else if (text && text[0] && strlen(text) < PICTURE_TEXT)
        strcpy(out, text);
    else
        return status_fail(
            SOTTO_EFORMAT,
            "%s: entry %zu: expected a list [path, category, indoor or outdoor] of texts or numbers", name,
            row);
    return SOTTO_OK;
}

sotto_status places_from_memory(struct image_facts *out, const char *text, size_t size, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    char category[PICTURE_TEXT], inside[PICTURE_TEXT];
    TRY(json_parse(&doc, text, size, name));
    if (json_kind(doc) != JSON_KIND_ARRAY)
        FAIL(SOTTO_EFORMAT, "%s: expected a list of lists [path, category, indoor or outdoor]", name);
    for (size_t i = 0; i < json_count(doc); i++) {
        const struct json *row = json_at(doc, i);
        const char *path = json_text(json_at(row, 0));
        if (json_kind(row) != JSON_KIND_ARRAY || json_count(row) != 3 || !path)
            FAIL(SOTTO_EFORMAT, "%s: entry %zu: expected a list [path, category, indoor or outdoor]", name,
                 i);
        TRY(text_of(category, json_at(row, 1), i, name));
        TRY(text_of(inside, json_at(row, 2), i, name));
        TRY(image_facts_add(out, path, strlen(path), 0, inside, category));
    }
    strcpy(out->attribute_name, "category");
done:
    json_free(doc);
    return status;
}

/* The only list there is. */
static bool find_list(size_t *entry, const struct bundle *b)
{
    size_t lists = 0;
    for (size_t i = 0; i < b->count; i++)
        if (name_ends(b->entries[i].name, ".json") &&
            strcmp(path_base(b->entries[i].name), "dataset.json") != 0) {
            *entry = i;
            lists++;
        }
    return lists == 1;
}

static bool places_recognise(const struct bundle *b)
{
    size_t entry;
    return find_list(&entry, b) && images_any(b);
}

static sotto_status read_places(struct dataset *d, const struct bundle *b,
                                const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct image_facts facts = {0};
    struct bytes text = {0};
    size_t entry = 0;
    char where[700];
    (void)find_list(&entry, b);
    bundle_where(where, sizeof where, b, entry);
    TRY(bundle_load(&text, b, entry));
    TRY(places_from_memory(&facts, (const char *)text.data, text.size, where));
    TRY(image_facts_read(d, &facts, b, options, ctx));
done:
    bytes_clear(&text);
    image_facts_clear(&facts);
    return status;
}

const struct dataset_format format_places = {
    .name = "places",
    .layout =
        "one *.json, a list of [path, category, indoor or outdoor], with pictures; attribute: the category",
    .takes_size = true,
    .recognise = places_recognise,
    .read = read_places};
