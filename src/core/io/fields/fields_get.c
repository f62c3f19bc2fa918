/* A document as a struct: the text may come from anywhere, so every kind, count and key is checked. */
#include "io/fields/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 160, MOST_ENTRIES = 4096 };

/* One object of the document, and where it stands, for errors; object NULL: there is none. */
struct reading {
    const struct json *object;
    const char *document;
    struct fields_memory *memory;
    char path[PATH];
};

static sotto_status take_fields(char *part, const struct field *table, const struct reading *p);
static sotto_status take_value(char *part, const struct field *f, const struct json *j,
                               const struct reading *p, const char *key);

/* NULL for null and for what is missing. */
static const struct json *fields_given(const struct json *j)
{
    return j && json_kind(j) != JSON_KIND_NULL ? j : NULL;
}

static struct reading fields_inside(const struct reading *p, const char *key, const struct json *object)
{
    struct reading q = {.object = object, .document = p->document, .memory = p->memory};
    const char *dot = p->path[0] && key[0] != '[' ? "." : "";
    snprintf(q.path, sizeof q.path, "%.100s%s%.50s", p->path, dot, key);
    return q;
}

static sotto_status fields_wrong(const struct reading *p, const char *key, const char *expected)
{
    const struct reading q = fields_inside(p, key, NULL);
    return status_fail(SOTTO_EFORMAT, "%s: '%s' is not %s", p->document, q.path, expected);
}

static sotto_status take_object(char *part, const struct field *table, const struct json *j,
                                const struct reading *p, const char *key)
{
    if (j && json_kind(j) != JSON_KIND_OBJECT)
        return fields_wrong(p, key, "an object");
    const struct reading q = fields_inside(p, key, j);
    return take_fields(part, table, &q);
}

static sotto_status take_pointer(char *part, const struct field *f, const struct json *j,
                                 const struct reading *p, const char *key)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL;
    /* a null of a field that may be left out is not the same as its absence */
    const unsigned both = FIELD_OPTIONAL | FIELD_NULLABLE;
    const bool null = j && json_kind(j) == JSON_KIND_NULL && (f->flags & both) == both;
    if (fields_given(j) || null) {
        made = fields_take(p->memory, 1, f->size);
        if (!made)
            FAIL(SOTTO_ENOMEM, "%s: out of memory for '%s'", p->document, f->key);
        TRY(take_object(made, f->inner, fields_given(j), p, key));
    }
    memcpy(part + f->at, &made, sizeof made);
done:
    return status;
}

/* Fields of the same object; the first of them says whether they are there. */
static sotto_status take_merged(char *part, const struct field *f, const struct reading *p)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL;
    if (f->kind == FIELD_MERGED)
        return take_fields(part + f->at, f->inner, p);
    if (fields_given(json_member(p->object, f->inner[0].key))) {
        made = fields_take(p->memory, 1, f->size);
        if (!made)
            FAIL(SOTTO_ENOMEM, "%s: out of memory for '%s'", p->document, f->inner[0].key);
        TRY(take_fields(made, f->inner, p));
    }
    memcpy(part + f->at, &made, sizeof made);
done:
    return status;
}

/* ---- many of a kind ---- */

static sotto_status take_entry(char *entry, const struct field *f, const struct json *array, size_t i,
                               const struct reading *p)
{
    const struct json *j = json_at(array, i);
    const char *text;
    double pair[2];
    char index[32];
    snprintf(index, sizeof index, "[%zu]", i);
    switch (f->kind) {
    case FIELD_LIST:
        return fields_given(j) ? take_object(entry, f->inner, j, p, index)
                               : fields_wrong(p, index, "an object");
    case FIELD_TEXTS:
        if (!json_text(j))
            return fields_wrong(p, index, "a text");
        text = fields_keep_text(p->memory, json_text(j));
        memcpy(entry, &text, sizeof text);
        return text ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "%s: out of memory for '%s'", p->document, f->key);
    case FIELD_PAIRS:
        pair[0] = json_number(json_at(j, 0)), pair[1] = json_number(json_at(j, 1));
        if (json_count(j) != 2 || isnan(pair[0]) || isnan(pair[1]))
            return fields_wrong(p, index, "a pair of numbers");
        memcpy(entry, pair, sizeof pair);
        return SOTTO_OK;
    default:
        if (json_kind(j) != JSON_KIND_INTEGER || json_whole(j) < 0)
            return fields_wrong(p, index, "a whole number >= 0");
        *(size_t *)(void *)entry = (size_t)json_whole(j);
        return SOTTO_OK;
    }
}

static sotto_status take_array(char *part, const struct field *f, const struct json *j,
                               const struct reading *p)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL;
    size_t *count = (size_t *)(void *)(part + f->count_at), n = json_count(j);
    if (!j) {
        if (!(f->flags & FIELD_OPTIONAL) && !(f->flags & FIELD_SAME_COUNT))
            *count = 0;
        /* two arrays share a number: without the second, there is none */
        if ((f->flags & FIELD_SAME_COUNT) && !(f->flags & FIELD_OPTIONAL) && *count > 0)
            return fields_wrong(p, f->key, "an array");
        memcpy(part + f->at, &made, sizeof made);
        return SOTTO_OK;
    }
    if (json_kind(j) != JSON_KIND_ARRAY)
        return fields_wrong(p, f->key, "an array");
    if (f->kind == FIELD_LIST && n > MOST_ENTRIES)
        FAIL(SOTTO_EFORMAT, "%s: '%s' has %zu entries; expected at most %d", p->document, f->key, n,
             MOST_ENTRIES);
    if ((f->flags & FIELD_SAME_COUNT) && *count != n)
        FAIL(SOTTO_EFORMAT, "%s: '%s' has %zu entries; expected %zu", p->document, f->key, n, *count);
    made = fields_take(p->memory, n, f->size);
    if (!made)
        FAIL(SOTTO_ENOMEM, "%s: out of memory for '%s'", p->document, f->key);
    const struct reading list = fields_inside(p, f->key, NULL);
    for (size_t i = 0; i < n; i++)
        TRY(take_entry(made + i * f->size, f, j, i, &list));
    memcpy(part + f->at, &made, sizeof made);
    *count = n;
done:
    return status;
}

static sotto_status take_key(char *entry, const struct field *f, const char *key, const struct reading *p)
{
    char *end;
    const struct field *name = &f->inner[0];
    if (name->kind == FIELD_TEXT) {
        const char *copy = fields_keep_text(p->memory, key);
        memcpy(entry + name->at, &copy, sizeof copy);
        return copy ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "%s: out of memory for '%s'", p->document, f->key);
    }
    const double rate = strtod(key, &end);
    if (end == key || *end || !(rate >= 0 && rate <= 1))
        return fields_wrong(p, key, "a rate between 0 and 1");
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
static sotto_status take_map(char *part, const struct field *f, const struct json *j, const struct reading *p)
{
    sotto_status status = SOTTO_OK;
    char *entries = NULL;
    size_t *count = (size_t *)(void *)(part + f->count_at), n = json_count(j), i = 0;
    const bool first = !(f->flags & FIELD_SAME_COUNT);
    if (j && json_kind(j) != JSON_KIND_OBJECT)
        return fields_wrong(p, f->key, "an object");
    if (n > MOST_ENTRIES)
        FAIL(SOTTO_EFORMAT, "%s: '%s' has %zu entries; expected at most %d", p->document, f->key, n,
             MOST_ENTRIES);
    if (!first)
        memcpy(&entries, part + f->at, sizeof entries);
    else if (j && !(entries = fields_take(p->memory, n, f->size)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory for '%s'", p->document, f->key);
    const struct reading map = fields_inside(p, f->key, j);
    for (size_t k = 0; !first && k < *count; k++) /* what no key says anything about */
        TRY(take_value(entries + k * f->size, &f->inner[1], NULL, &map, ""));
    for (const char *key = json_first_key(j); key; key = json_next_key(j, key), i++) {
        char *entry = first ? entries + i * f->size : entry_of(f, entries, *count, key);
        if (!entry)
            FAIL(SOTTO_EFORMAT, "%s: '%s' has a rate %.20s that other members do not have", p->document,
                 map.path, key);
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

static sotto_status take_text(char *at, const struct json *j, const struct reading *p, const char *key)
{
    const char *copy = NULL;
    if (j && !json_text(j))
        return fields_wrong(p, key, "a text");
    if (j && !(copy = fields_keep_text(p->memory, json_text(j))))
        return status_fail(SOTTO_ENOMEM, "%s: out of memory for '%s'", p->document, key);
    memcpy(at, &copy, sizeof copy);
    return SOTTO_OK;
}

/* "ok, warning or unknown" */
static void list_choices(char *out, size_t capacity, const char *const *names)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; names[i] && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s",
                                 !i             ? ""
                                 : names[i + 1] ? ", "
                                                : " or ",
                                 names[i]);
}

static sotto_status take_choice(char *at, const struct field *f, const struct json *j,
                                const struct reading *p, const char *key)
{
    const char *name = json_text(j);
    char choices[160];
    for (int i = 0; name && f->names[i]; i++)
        if (strcmp(name, f->names[i]) == 0) {
            *(unsigned *)(void *)at = (unsigned)i;
            return SOTTO_OK;
        }
    list_choices(choices, sizeof choices, f->names);
    return fields_wrong(p, key, choices);
}

/* A text that fits, or a constant that is the same. */
static sotto_status take_chars(char *at, const struct field *f, const struct json *j, const struct reading *p,
                               const char *key)
{
    char expected[96];
    const char *text = json_text(j);
    if (f->kind == FIELD_CONSTANT && (!text || strcmp(text, f->names[0]) != 0))
        return fields_wrong(p, key, f->names[0]);
    if (f->kind == FIELD_CONSTANT)
        return SOTTO_OK;
    snprintf(expected, sizeof expected, "a text of at most %zu bytes", f->size - 1);
    if (j && (!text || strlen(text) >= f->size))
        return fields_wrong(p, key, expected);
    snprintf(at, f->size, "%s", text ? text : "");
    return SOTTO_OK;
}

static sotto_status take_number(char *at, const struct field *f, const struct json *j,
                                const struct reading *p, const char *key)
{
    const bool whole = json_kind(j) == JSON_KIND_INTEGER;
    switch (f->kind) {
    case FIELD_REAL:
        if (j && !whole && json_kind(j) != JSON_KIND_REAL)
            return fields_wrong(p, key, "a number");
        *(double *)(void *)at = j ? json_number(j) : f->flags & FIELD_INFINITE ? INFINITY : NAN;
        return SOTTO_OK;
    case FIELD_FLAG:
        if (j && json_kind(j) != JSON_KIND_BOOLEAN)
            return fields_wrong(p, key, "true or false");
        *(int *)(void *)at = j && json_says_true(j);
        return SOTTO_OK;
    case FIELD_BOOLEAN:
        if (j && json_kind(j) != JSON_KIND_BOOLEAN)
            return fields_wrong(p, key, "true or false");
        *(bool *)(void *)at = j && json_says_true(j);
        return SOTTO_OK;
    case FIELD_WHOLE:
        if (!whole || json_whole(j) < INT32_MIN || json_whole(j) > INT32_MAX)
            return fields_wrong(p, key, "a whole number");
        *(int *)(void *)at = (int)json_whole(j);
        return SOTTO_OK;
    case FIELD_SEED:
        if (j && !whole)
            return fields_wrong(p, key, "a whole number");
        *(uint64_t *)(void *)at = j ? (uint64_t)json_whole(j) : 0;
        return SOTTO_OK;
    default:
        if (j && (!whole || json_whole(j) < 0))
            return fields_wrong(p, key, "a whole number >= 0");
        if (f->kind == FIELD_ROW)
            *(int64_t *)(void *)at = j ? json_whole(j) : -1;
        else
            *(size_t *)(void *)at = j ? (size_t)json_whole(j) : 0;
        return SOTTO_OK;
    }
}

static sotto_status take_value(char *part, const struct field *f, const struct json *j,
                               const struct reading *p, const char *key)
{
    switch (f->kind) {
    case FIELD_TEXT:
        return take_text(part + f->at, fields_given(j), p, key);
    case FIELD_CHARS:
    case FIELD_CONSTANT:
        return take_chars(part + f->at, f, fields_given(j), p, key);
    case FIELD_CHOICE:
        return take_choice(part + f->at, f, j, p, key);
    case FIELD_PART:
        return take_object(part + f->at, f->inner, fields_given(j), p, key);
    case FIELD_POINTER:
        return take_pointer(part, f, j, p, key);
    case FIELD_MAP:
        return take_map(part, f, fields_given(j), p);
    case FIELD_LIST:
    case FIELD_TEXTS:
    case FIELD_PAIRS:
    case FIELD_COUNTS:
        return take_array(part, f, fields_given(j), p);
    default:
        return take_number(part + f->at, f, fields_given(j), p, key);
    }
}

static sotto_status take_fields(char *part, const struct field *table, const struct reading *p)
{
    sotto_status status = SOTTO_OK;
    for (const struct field *f = table; f->kind != FIELD_END; f++) {
        if (f->kind == FIELD_MERGED || f->kind == FIELD_MERGED_POINTER) {
            TRY(take_merged(part, f, p));
            continue;
        }
        const struct json *j = json_member(p->object, f->key);
        if (!fields_given(j) && (f->flags & FIELD_REQUIRED)) {
            const struct reading missing = fields_inside(p, f->key, NULL);
            FAIL(SOTTO_EFORMAT, "%s: '%s' is missing", p->document, missing.path);
        }
        TRY(take_value(part, f, j, p, f->key));
    }
done:
    return status;
}

sotto_status fields_get(void *part, const struct field *table, const struct json *object, const char *name,
                        struct fields_memory *memory)
{
    const struct reading top = {.object = object, .document = name, .memory = memory};
    return take_fields(part, table, &top);
}
