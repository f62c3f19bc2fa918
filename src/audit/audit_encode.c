/* A result becomes its document. */
#include <math.h>
#include <stdio.h>

#include "audit/audit_document.h"
#include "audit/audit_fields.h"
#include "audit/audit_memory.h"

static void put_fields(struct json **object, const struct field *table, const char *part);

static struct json *object_of(const struct field *table, const char *part)
{
    struct json *j = json_make_object();
    put_fields(&j, table, part);
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
        return *(const size_t *)at == 0;
    case FIELD_PART:
        return audit_part_is_absent(f->inner, at);
    default:
        return *(const void *const *)at == NULL;
    }
}

static struct json *value_of(const struct field *f, const char *part);

static struct json *list_of(const struct field *f, const char *entries, size_t count)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < count; i++)
        json_push(&list, object_of(f->inner, entries + i * f->size));
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

static struct json *points_of(const struct sotto_audit_point *points, size_t count)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < count; i++) {
        const double pair[] = {points[i].fpr, points[i].tpr};
        json_push(&list, json_make_reals(pair, 2));
    }
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
    case FIELD_POINTS:
        return points_of(entries, count);
    default:
        return json_make_counts(entries, count);
    }
}

static struct json *part_of(const struct field *f, const void *part)
{
    const bool null = !part || ((f->flags & FIELD_NULLABLE) && audit_part_is_absent(f->inner, part));
    return null ? json_make_null() : object_of(f->inner, part);
}

static struct json *value_of(const struct field *f, const char *part)
{
    const void *at = part + f->at;
    switch (f->kind) {
    case FIELD_TEXT:
        return json_make_text(*(const char *const *)at);
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
    case FIELD_LEVEL:
        return json_make_text(audit_level_names[*(const enum sotto_check_level *)at]);
    case FIELD_PART:
        return part_of(f, at);
    case FIELD_POINTER:
        return part_of(f, *(const void *const *)at);
    default:
        return many_of(f, part);
    }
}

static void put_fields(struct json **object, const struct field *table, const char *part)
{
    for (const struct field *f = table; f->kind != FIELD_END; f++) {
        const char *at = part + f->at;
        if (f->kind == FIELD_MERGED_POINTER)
            at = *(const char *const *)(const void *)at;
        if (f->kind == FIELD_MERGED || (f->kind == FIELD_MERGED_POINTER && at))
            put_fields(object, f->inner, at);
        else if (f->kind != FIELD_MERGED_POINTER && !is_absent(f, part))
            json_put(object, f->key, value_of(f, part));
    }
}

struct json *audit_estimate(struct sotto_estimate e)
{
    return object_of(audit_estimate_fields, (const char *)&e);
}

struct json *audit_encode(const struct sotto_audit_result *r)
{
    struct json *doc = json_make_object();
    const struct json *more = r->memory ? r->memory->more : NULL;
    json_put_text(&doc, "schema", r->pending ? "sotto.shadows/1" : "sotto.audit/1");
    if (!r->pending)
        put_fields(&doc, audit_result_fields, (const char *)r);
    for (const char *key = json_first_key(more); key; key = json_next_key(more, key))
        json_put(&doc, key, json_clone(json_member(more, key)));
    return doc;
}

sotto_status audit_put_more(struct sotto_audit_result *r, const char *key, struct json *value)
{
    sotto_status status = SOTTO_OK;
    if (!r->memory)
        NEW(r->memory, 1);
    if (!r->memory->more)
        r->memory->more = json_make_object();
    json_put(&r->memory->more, key, value);
    value = NULL;
    if (!r->memory->more)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for '%s'", key);
done:
    json_free(value);
    return status;
}

sotto_status sotto_audit_encode(char **json, const struct sotto_audit_result *r)
{
    struct json *doc = audit_encode(r);
    const sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}
