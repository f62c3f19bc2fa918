/* A struct as a document. */
#include "io/fields/fields.h"

#include <math.h>
#include <stdio.h>

bool fields_part_is_absent(const struct field *table, const void *part)
{
    const void *at = (const char *)part + table->at;
    switch (table->kind) {
    case FIELD_REAL:
        return isnan(*(const double *)at);
    case FIELD_LIST:
        return *(const size_t *)(const void *)((const char *)part + table->count_at) == 0;
    case FIELD_PART:
    case FIELD_MERGED:
        return fields_part_is_absent(table->inner, at);
    default:
        return false;
    }
}

/* ---- one value ---- */

struct json *fields_object(const struct field *table, const void *part)
{
    struct json *j = json_make_object();
    fields_put(&j, table, part);
    return j;
}

/* Left out of its object. */
static bool is_absent(const struct field *f, const char *part)
{
    const char *at = part + f->at;
    if (!(f->flags & FIELD_OPTIONAL))
        return false;
    switch (f->kind) {
    case FIELD_COUNT:
        return *(const size_t *)(const void *)at == 0;
    case FIELD_REAL:
        return isnan(*(const double *)(const void *)at);
    case FIELD_CHARS:
        return *at == '\0';
    case FIELD_BOOLEAN:
        return !*(const bool *)(const void *)at;
    case FIELD_PART:
        return fields_part_is_absent(f->inner, at);
    default:
        return *(const void *const *)(const void *)at == NULL;
    }
}

static struct json *value_of(const struct field *f, const char *part);

static struct json *list_of(const struct field *f, const char *entries, size_t count)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < count; i++)
        json_push(&list, fields_object(f->inner, entries + i * f->size));
    return list;
}

static struct json *map_of(const struct field *f, const char *entries, size_t count)
{
    struct json *map = json_make_object();
    for (size_t i = 0; i < count; i++) {
        const char *entry = entries + i * f->size, *name = entry + f->inner[0].at;
        char rate[32];
        if (f->inner[0].kind == FIELD_REAL)
            snprintf(rate, sizeof rate, "%.12g", *(const double *)(const void *)name);
        if (!is_absent(&f->inner[1], entry))
            json_put(&map, f->inner[0].kind == FIELD_REAL ? rate : *(const char *const *)(const void *)name,
                     value_of(&f->inner[1], entry));
    }
    return map;
}

static struct json *texts_of(const char *const *texts, size_t count)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < count; i++)
        json_push(&list, json_make_text(texts[i]));
    return list;
}

static struct json *pairs_of(const double (*pairs)[2], size_t count)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < count; i++)
        json_push(&list, json_make_reals(pairs[i], 2));
    return list;
}

static struct json *many_of(const struct field *f, const char *part)
{
    const void *entries = *(const void *const *)(const void *)(part + f->at);
    const size_t count = *(const size_t *)(const void *)(part + f->count_at);
    switch (f->kind) {
    case FIELD_LIST:
        return list_of(f, entries, count);
    case FIELD_MAP:
        return map_of(f, entries, count);
    case FIELD_TEXTS:
        return texts_of(entries, count);
    case FIELD_PAIRS:
        return pairs_of(entries, count);
    default:
        return json_make_counts(entries, count);
    }
}

static struct json *part_of(const struct field *f, const void *part)
{
    const bool null = !part || ((f->flags & FIELD_NULLABLE) && fields_part_is_absent(f->inner, part));
    return null ? json_make_null() : fields_object(f->inner, part);
}

static struct json *value_of(const struct field *f, const char *part)
{
    const void *at = part + f->at;
    switch (f->kind) {
    case FIELD_TEXT:
        return json_make_text(*(const char *const *)at);
    case FIELD_CHARS:
        return json_make_text((f->flags & FIELD_NULLABLE) && !*(const char *)at ? NULL : at);
    case FIELD_CONSTANT:
        return json_make_text(f->names[0]);
    case FIELD_REAL:
        return json_make_real(*(const double *)at);
    case FIELD_COUNT:
        return (f->flags & FIELD_NULLABLE) && *(const size_t *)at == 0
                   ? json_make_null()
                   : json_make_integer((int64_t) * (const size_t *)at);
    case FIELD_SEED:
        return json_make_integer((int64_t) * (const uint64_t *)at);
    case FIELD_ROW:
        return *(const int64_t *)at < 0 ? json_make_null() : json_make_integer(*(const int64_t *)at);
    case FIELD_FLAG:
        return json_make_boolean(*(const int *)at != 0);
    case FIELD_WHOLE:
        return json_make_integer(*(const int *)at);
    case FIELD_BOOLEAN:
        return json_make_boolean(*(const bool *)at);
    case FIELD_CHOICE:
        return json_make_text(f->names[*(const unsigned *)at]);
    case FIELD_PART:
        return part_of(f, at);
    case FIELD_POINTER:
        return part_of(f, *(const void *const *)at);
    default:
        return many_of(f, part);
    }
}

void fields_put(struct json **object, const struct field *table, const void *part)
{
    for (const struct field *f = table; f->kind != FIELD_END; f++) {
        const char *at = (const char *)part + f->at;
        if (f->kind == FIELD_MERGED_POINTER)
            at = *(const char *const *)(const void *)at;
        if (f->kind == FIELD_MERGED || (f->kind == FIELD_MERGED_POINTER && at))
            fields_put(object, f->inner, at);
        else if (f->kind != FIELD_MERGED_POINTER && !is_absent(f, part))
            json_put(object, f->key, value_of(f, part));
    }
}

sotto_status fields_dump(char **text, const struct field *table, const void *part, int style)
{
    struct json *doc = fields_object(table, part);
    const sotto_status status = json_dump(text, doc, style);
    json_free(doc);
    return status;
}

sotto_status fields_write(const char *path, const struct field *table, const void *part)
{
    struct json *doc = fields_object(table, part);
    const sotto_status status = json_write_file(path, doc, JSON_PRETTY);
    json_free(doc);
    return status;
}
