/* A result becomes its document, and a document a result: loops over the table of audit_fields.h. */
#include "audit/audit_document.h"
#include "audit/audit_fields.h"
#include "audit/audit_memory.h"
#include "io/json/json.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 160, MOST_ENTRIES = 4096 };

/* ---- encoding ---- */

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

static const char *const finding_names[] = {"none", "auc", "tpr", "epsilon", "accuracy", "claim"};
static const char verdict_key[] = "verdict"; /* follows from the numbers: written, never read */

static struct json *verdict_json(const struct sotto_audit_result *r)
{
    struct json *j = json_make_object();
    struct sotto_audit_verdict v;
    sotto_audit_judge(&v, r);
    json_put_text(&j, "kind", sotto_verdict_name(v.kind));
    json_put_text(&j, "by", finding_names[v.by]);
    json_put_text(&j, "attack", r->attack_count ? r->attacks[v.attack].name : NULL);
    json_put_real(&j, "fpr", v.fpr);
    json_put_real(&j, "lower", v.lower);
    json_put_boolean(&j, "opposite", v.opposite);
    json_put_boolean(&j, "swapped", v.swapped);
    json_put_text(&j, "text", v.text);
    return j;
}

struct json *audit_encode(const struct sotto_audit_result *r)
{
    struct json *doc = json_make_object();
    const struct json *more = r->memory ? r->memory->more : NULL;
    json_put_text(&doc, "schema", r->pending ? "sotto.shadows/1" : "sotto.audit/1");
    if (!r->pending)
        put_fields(&doc, audit_result_fields, (const char *)r);
    if (!r->pending)
        json_put(&doc, verdict_key, verdict_json(r));
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
    r->memory->free_more = json_free;
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
    REQUIRE_GIVEN(json, r);
    struct json *doc = audit_encode(r);
    const sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}

/* ---- decoding: the text may come from anywhere, so every kind, count and key is checked ---- */

/* One object of the document, and where it stands, for errors; object NULL: there is none. */
struct place {
    const struct json *object;
    struct sotto_audit_memory **memory;
    char path[PATH];
};

static sotto_status take_fields(char *part, const struct field *table, const struct place *p);
static sotto_status take_value(char *part, const struct field *f, const struct json *j, const struct place *p,
                               const char *key);

/* NULL for null and for what is missing. */
static const struct json *audit_json_given(const struct json *j)
{
    return j && json_kind(j) != JSON_KIND_NULL ? j : NULL;
}

static struct place audit_json_inside(const struct place *p, const char *key, const struct json *object)
{
    struct place q = {.object = object, .memory = p->memory};
    const char *dot = p->path[0] && key[0] != '[' ? "." : "";
    snprintf(q.path, sizeof q.path, "%.100s%s%.50s", p->path, dot, key);
    return q;
}

static sotto_status audit_json_wrong(const struct place *p, const char *key, const char *expected)
{
    const struct place q = audit_json_inside(p, key, NULL);
    return status_fail(SOTTO_EFORMAT, "audit: '%s' is not %s", q.path, expected);
}

static sotto_status take_object(char *part, const struct field *table, const struct json *j,
                                const struct place *p, const char *key)
{
    if (j && json_kind(j) != JSON_KIND_OBJECT)
        return audit_json_wrong(p, key, "an object");
    const struct place q = audit_json_inside(p, key, j);
    return take_fields(part, table, &q);
}

static sotto_status take_pointer(char *part, const struct field *f, const struct json *j,
                                 const struct place *p, const char *key)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL;
    /* a null of a field that may be left out is not the same as its absence */
    const unsigned both = FIELD_OPTIONAL | FIELD_NULLABLE;
    const bool null = j && json_kind(j) == JSON_KIND_NULL && (f->flags & both) == both;
    if (audit_json_given(j) || null) {
        made = audit_take(p->memory, 1, f->size);
        if (!made)
            FAIL(SOTTO_ENOMEM, "audit: out of memory for '%s'", f->key);
        TRY(take_object(made, f->inner, audit_json_given(j), p, key));
    }
    memcpy(part + f->at, &made, sizeof made);
done:
    return status;
}

/* Fields of the same object; the first of them says whether they are there. */
static sotto_status take_merged(char *part, const struct field *f, const struct place *p)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL;
    if (f->kind == FIELD_MERGED)
        return take_fields(part + f->at, f->inner, p);
    if (audit_json_given(json_member(p->object, f->inner[0].key))) {
        made = audit_take(p->memory, 1, f->size);
        if (!made)
            FAIL(SOTTO_ENOMEM, "audit: out of memory for '%s'", f->inner[0].key);
        TRY(take_fields(made, f->inner, p));
    }
    memcpy(part + f->at, &made, sizeof made);
done:
    return status;
}

/* ---- many of a kind ---- */

static sotto_status take_entry(char *entry, const struct field *f, const struct json *array, size_t i,
                               const struct place *p)
{
    const struct json *j = json_at(array, i);
    const char *text;
    double pair[2];
    char index[32];
    snprintf(index, sizeof index, "[%zu]", i);
    switch (f->kind) {
    case FIELD_LIST:
        return audit_json_given(j) ? take_object(entry, f->inner, j, p, index)
                                   : audit_json_wrong(p, index, "an object");
    case FIELD_TEXTS:
        if (!json_text(j))
            return audit_json_wrong(p, index, "a text");
        text = audit_keep_text(p->memory, json_text(j));
        memcpy(entry, &text, sizeof text);
        return text ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "audit: out of memory for '%s'", f->key);
    case FIELD_POINTS:
        pair[0] = json_number(json_at(j, 0)), pair[1] = json_number(json_at(j, 1));
        if (json_count(j) != 2 || isnan(pair[0]) || isnan(pair[1]))
            return audit_json_wrong(p, index, "a pair of numbers");
        *(struct sotto_audit_point *)(void *)entry = (struct sotto_audit_point){pair[0], pair[1]};
        return SOTTO_OK;
    default:
        if (json_kind(j) != JSON_KIND_INTEGER || json_whole(j) < 0)
            return audit_json_wrong(p, index, "a whole number >= 0");
        *(size_t *)(void *)entry = (size_t)json_whole(j);
        return SOTTO_OK;
    }
}

static sotto_status take_array(char *part, const struct field *f, const struct json *j, const struct place *p)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL;
    size_t *count = (size_t *)(void *)(part + f->count_at), n = json_count(j);
    if (!j) {
        if (!(f->flags & FIELD_OPTIONAL) && !(f->flags & FIELD_SAME_COUNT))
            *count = 0;
        /* two arrays share a number: without the second, there is none */
        if ((f->flags & FIELD_SAME_COUNT) && !(f->flags & FIELD_OPTIONAL) && *count > 0)
            return audit_json_wrong(p, f->key, "an array");
        memcpy(part + f->at, &made, sizeof made);
        return SOTTO_OK;
    }
    if (json_kind(j) != JSON_KIND_ARRAY)
        return audit_json_wrong(p, f->key, "an array");
    if (f->kind == FIELD_LIST && n > MOST_ENTRIES)
        FAIL(SOTTO_EFORMAT, "audit: '%s' has %zu entries; expected at most %d", f->key, n, MOST_ENTRIES);
    if ((f->flags & FIELD_SAME_COUNT) && *count != n)
        FAIL(SOTTO_EFORMAT, "audit: '%s' has %zu entries; expected %zu", f->key, n, *count);
    made = audit_take(p->memory, n, f->size);
    if (!made)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for '%s'", f->key);
    const struct place list = audit_json_inside(p, f->key, NULL);
    for (size_t i = 0; i < n; i++)
        TRY(take_entry(made + i * f->size, f, j, i, &list));
    memcpy(part + f->at, &made, sizeof made);
    *count = n;
done:
    return status;
}

static sotto_status take_key(char *entry, const struct field *f, const char *key, const struct place *p)
{
    char *end;
    const struct field *name = &f->inner[0];
    if (name->kind == FIELD_TEXT) {
        const char *copy = audit_keep_text(p->memory, key);
        memcpy(entry + name->at, &copy, sizeof copy);
        return copy ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "audit: out of memory for '%s'", f->key);
    }
    const double rate = strtod(key, &end);
    if (end == key || *end || !(rate >= 0 && rate <= 1))
        return audit_json_wrong(p, key, "a rate between 0 and 1");
    memcpy(entry + name->at, &rate, sizeof rate);
    return SOTTO_OK;
}

static char *entry_of(const struct field *f, char *entries, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        double rate;
        memcpy(&rate, entries + i * f->size + f->inner[0].at, sizeof rate);
        if (rate == strtod(key, NULL))
            return entries + i * f->size;
    }
    return NULL;
}

/* The first map of its entries makes them; further ones fill in what else is said of the same keys. */
static sotto_status take_map(char *part, const struct field *f, const struct json *j, const struct place *p)
{
    sotto_status status = SOTTO_OK;
    char *entries = NULL;
    size_t *count = (size_t *)(void *)(part + f->count_at), n = json_count(j), i = 0;
    const bool first = !(f->flags & FIELD_SAME_COUNT);
    if (j && json_kind(j) != JSON_KIND_OBJECT)
        return audit_json_wrong(p, f->key, "an object");
    if (n > MOST_ENTRIES)
        FAIL(SOTTO_EFORMAT, "audit: '%s' has %zu entries; expected at most %d", f->key, n, MOST_ENTRIES);
    if (!first)
        memcpy(&entries, part + f->at, sizeof entries);
    else if (j && !(entries = audit_take(p->memory, n, f->size)))
        FAIL(SOTTO_ENOMEM, "audit: out of memory for '%s'", f->key);
    const struct place map = audit_json_inside(p, f->key, j);
    for (size_t k = 0; !first && k < *count; k++) /* what no key says anything about */
        TRY(take_value(entries + k * f->size, &f->inner[1], NULL, &map, ""));
    for (const char *key = json_first_key(j); key; key = json_next_key(j, key), i++) {
        char *entry = first ? entries + i * f->size : entry_of(f, entries, *count, key);
        if (!entry)
            FAIL(SOTTO_EFORMAT, "audit: '%s' has a rate %.20s that other members do not have", map.path, key);
        if (first)
            TRY(take_key(entry, f, key, &map));
        TRY(take_value(entry, &f->inner[1], json_member(j, key), &map, key));
    }
    if (first) {
        memcpy(part + f->at, &entries, sizeof entries);
        *count = n;
    }
done:
    return status;
}

/* ---- one value ---- */

static sotto_status take_text(char *at, const struct json *j, const struct place *p, const char *key)
{
    const char *copy = NULL;
    if (j && !json_text(j))
        return audit_json_wrong(p, key, "a text");
    if (j && !(copy = audit_keep_text(p->memory, json_text(j))))
        return status_fail(SOTTO_ENOMEM, "audit: out of memory for '%s'", key);
    memcpy(at, &copy, sizeof copy);
    return SOTTO_OK;
}

static sotto_status take_level(char *at, const struct json *j, const struct place *p, const char *key)
{
    const char *name = json_text(j);
    for (int i = 0; name && audit_level_names[i]; i++)
        if (strcmp(name, audit_level_names[i]) == 0) {
            *(enum sotto_check_level *)(void *)at = (enum sotto_check_level)i;
            return SOTTO_OK;
        }
    return audit_json_wrong(p, key, "ok, warning or unknown");
}

static sotto_status take_number(char *at, const struct field *f, const struct json *j, const struct place *p,
                                const char *key)
{
    const bool whole = json_kind(j) == JSON_KIND_INTEGER;
    switch (f->kind) {
    case FIELD_REAL:
        if (j && !whole && json_kind(j) != JSON_KIND_REAL)
            return audit_json_wrong(p, key, "a number");
        *(double *)(void *)at = j ? json_number(j) : f->flags & FIELD_INFINITE ? INFINITY : NAN;
        return SOTTO_OK;
    case FIELD_FLAG:
        if (j && json_kind(j) != JSON_KIND_BOOLEAN)
            return audit_json_wrong(p, key, "true or false");
        *(int *)(void *)at = 0;
        if (j) {
            bool flag = false;
            const sotto_status status = json_get_boolean(&flag, p->object, "audit", key);
            *(int *)(void *)at = flag;
            return status;
        }
        return SOTTO_OK;
    case FIELD_SEED:
        if (j && !whole)
            return audit_json_wrong(p, key, "a whole number");
        *(uint64_t *)(void *)at = j ? (uint64_t)json_whole(j) : 0;
        return SOTTO_OK;
    default:
        if (j && (!whole || json_whole(j) < 0))
            return audit_json_wrong(p, key, "a whole number >= 0");
        if (f->kind == FIELD_ROW)
            *(int64_t *)(void *)at = j ? json_whole(j) : -1;
        else
            *(size_t *)(void *)at = j ? (size_t)json_whole(j) : 0;
        return SOTTO_OK;
    }
}

static sotto_status take_value(char *part, const struct field *f, const struct json *j, const struct place *p,
                               const char *key)
{
    switch (f->kind) {
    case FIELD_TEXT:
        return take_text(part + f->at, audit_json_given(j), p, key);
    case FIELD_LEVEL:
        return take_level(part + f->at, j, p, key);
    case FIELD_PART:
        return take_object(part + f->at, f->inner, audit_json_given(j), p, key);
    case FIELD_POINTER:
        return take_pointer(part, f, j, p, key);
    case FIELD_MAP:
        return take_map(part, f, audit_json_given(j), p);
    case FIELD_LIST:
    case FIELD_TEXTS:
    case FIELD_POINTS:
    case FIELD_COUNTS:
        return take_array(part, f, audit_json_given(j), p);
    default:
        return take_number(part + f->at, f, audit_json_given(j), p, key);
    }
}

static sotto_status take_fields(char *part, const struct field *table, const struct place *p)
{
    sotto_status status = SOTTO_OK;
    for (const struct field *f = table; f->kind != FIELD_END; f++) {
        if (f->kind == FIELD_MERGED || f->kind == FIELD_MERGED_POINTER) {
            TRY(take_merged(part, f, p));
            continue;
        }
        const struct json *j = json_member(p->object, f->key);
        if (!audit_json_given(j) && (f->flags & FIELD_REQUIRED)) {
            const struct place missing = audit_json_inside(p, f->key, NULL);
            FAIL(SOTTO_EFORMAT, "audit: '%s' is missing", missing.path);
        }
        TRY(take_value(part, f, j, p, f->key));
    }
done:
    return status;
}

/* Members without a struct are kept as they are. */
static sotto_status keep_more(struct sotto_audit_result *r, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    for (const char *key = json_first_key(doc); key; key = json_next_key(doc, key)) {
        const struct field *f = audit_result_fields;
        while (f->kind != FIELD_END && strcmp(f->key, key) != 0)
            f++;
        if (f->kind == FIELD_END && strcmp(key, "schema") != 0 && strcmp(key, verdict_key) != 0)
            TRY(audit_put_more(r, key, json_clone(json_member(doc, key))));
    }
done:
    return status;
}

sotto_status audit_decode(struct sotto_audit_result *out, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_result r = {0};
    const struct place top = {.object = doc, .memory = &r.memory};
    const char *schema = json_text(json_member(doc, "schema"));
    if (!schema || strcmp(schema, "sotto.audit/1") != 0)
        FAIL(SOTTO_EFORMAT, "audit: 'schema' is not sotto.audit/1");
    TRY(take_fields((char *)&r, audit_result_fields, &top));
    TRY(keep_more(&r, doc));
    *out = r;
done:
    if (status != SOTTO_OK)
        sotto_audit_result_free(&r);
    return status;
}

sotto_status sotto_audit_decode(struct sotto_audit_result *out, const char *json)
{
    REQUIRE_GIVEN(out, json);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_parse(&doc, json, strlen(json), "audit"));
    TRY(audit_decode(out, doc));
done:
    json_free(doc);
    return status;
}
