/* A depth scan goes first: jansson recurses up to 2048 levels, which is more stack than a thread of ours may
 * have. */
#include "io/json/json.h"
#include "io/json/json_quick.h"
#include "io/text/source.h"
#include "io/text/utf8.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_LIMIT = 64, FILE_LIMIT = 64 << 20 };

static json_t *json_read_unwrap(const struct json *j)
{
    return (json_t *)j;
}

static sotto_status check_depth(const char *text, size_t size, const char *name)
{
    size_t depth = 0, line = 1, line_start = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\n') {
            line++;
            line_start = i + 1;
        }
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > DEPTH_LIMIT)
                return status_fail(SOTTO_EFORMAT, "%s:%zu:%zu: too many nested levels; expected at most %d",
                                   name, line, i - line_start + 1, DEPTH_LIMIT);
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return SOTTO_OK;
}

sotto_status json_parse(struct json **out, const char *text, size_t size, const char *name)
{
    sotto_status status = SOTTO_OK;
    json_error_t error;
    char shown[JSON_ERROR_TEXT_LENGTH];
    TRY(check_depth(text, size, name));
    locale_t before = uselocale(c_locale()); /* jansson knows decimal points of one byte only */
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    uselocale(before);
    if (value) {
        *out = (struct json *)value;
        return SOTTO_OK;
    }
    /* jansson leaves the text empty when its very first allocations fail. */
    if (json_error_code(&error) == json_error_out_of_memory || error.text[0] == '\0')
        FAIL(SOTTO_ENOMEM, "%s: out of memory", name);
    utf8_printable(shown, sizeof shown, error.text, strlen(error.text));
    FAIL(SOTTO_EFORMAT, "%s:%d:%d: not valid JSON: %s", name, error.line > 0 ? error.line : 1,
         error.column > 0 ? error.column : 1, shown);
done:
    return status;
}

sotto_status json_parse_line(struct json **out, const char *text, size_t size, const char *name)
{
    if (!json_quick(*out)) { /* only a quick document lends its block to the next one */
        json_free(*out);
        *out = NULL;
    }
    locale_t before = uselocale(c_locale());
    const sotto_status status = json_quick_read(out, text, size, name);
    uselocale(before);
    return status != SOTTO_OK || *out ? status : json_parse(out, text, size, name);
}

sotto_status json_read_file(struct json **out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    char *text = NULL, shown[SOURCE_BYTES];
    TRY(source_open(&s, path, NULL));
    if (s.size > FILE_LIMIT)
        FAIL(SOTTO_EFORMAT, "%s: has %s; expected at most 64 MiB of JSON", path, source_bytes(shown, s.size));
    NEW(text, s.size + 1);
    TRY(source_read(&s, text, 0, s.size));
    TRY(json_parse(out, text, s.size, path));
done:
    base_free(text);
    source_close(&s);
    return status;
}

static json_type type_of(const struct json *j)
{
    const struct json_quick *q = json_quick(j);
    return q ? q->type - QUICK : j ? json_typeof(json_read_unwrap(j)) : JSON_NULL;
}

enum json_kind json_kind(const struct json *j)
{
    switch (type_of(j)) {
    case JSON_OBJECT:
        return JSON_KIND_OBJECT;
    case JSON_ARRAY:
        return JSON_KIND_ARRAY;
    case JSON_STRING:
        return JSON_KIND_TEXT;
    case JSON_INTEGER:
        return JSON_KIND_INTEGER;
    case JSON_REAL:
        return JSON_KIND_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return JSON_KIND_BOOLEAN;
    default:
        return JSON_KIND_NULL;
    }
}

size_t json_count(const struct json *j)
{
    const struct json_quick *q = json_quick(j);
    return q                                     ? q->count
           : json_is_object(json_read_unwrap(j)) ? json_object_size(json_read_unwrap(j))
                                                 : json_array_size(json_read_unwrap(j));
}

const struct json *json_at(const struct json *array, size_t i)
{
    const struct json_quick *q = json_quick(array);
    return q ? (const struct json *)json_quick_at(q, i)
             : (const struct json *)json_array_get(json_read_unwrap(array), i);
}

const char *json_first_key(const struct json *object)
{
    const struct json_quick *q = json_quick(object), *first = q ? json_quick_first(q) : NULL;
    return q ? first ? first->key : NULL : json_object_iter_key(json_object_iter(json_read_unwrap(object)));
}

const char *json_next_key(const struct json *object, const char *key)
{
    const struct json_quick *q = json_quick(object), *next = NULL;
    if (q && (next = json_quick_member(q, key, strlen(key))))
        next = json_quick_next(next);
    if (q)
        return next ? next->key : NULL;
    return json_object_iter_key(
        json_object_iter_next(json_read_unwrap(object), json_object_key_to_iter(key)));
}

const struct json *json_member_of(const struct json *object, const char *key, size_t length)
{
    const struct json_quick *q = json_quick(object);
    return q ? (const struct json *)json_quick_member(q, key, length)
             : (const struct json *)json_object_getn(json_read_unwrap(object), key, length);
}

static bool is_number(const struct json *j)
{
    return j && (type_of(j) == JSON_REAL || type_of(j) == JSON_INTEGER);
}

double json_number(const struct json *j)
{
    const struct json_quick *q = json_quick(j);
    if (q)
        return q->type == QUICK + JSON_REAL      ? q->real
               : q->type == QUICK + JSON_INTEGER ? (double)q->whole
                                                 : NAN;
    return is_number(j) ? json_number_value(json_read_unwrap(j)) : NAN;
}

int64_t json_whole(const struct json *j)
{
    const struct json_quick *q = json_quick(j);
    return !q ? json_integer_value(json_read_unwrap(j)) : type_of(j) == JSON_INTEGER ? q->whole : 0;
}

const char *json_text(const struct json *j)
{
    const struct json_quick *q = json_quick(j);
    return !q ? json_string_value(json_read_unwrap(j)) : type_of(j) == JSON_STRING ? q->text : NULL;
}

/* Steps over "[12]"; returns the rest of the path, or NULL when it is not an index. */
static const char *parse_index(const char *path, size_t *index)
{
    size_t value = 0;
    const char *p = path + 1;
    if (*path != '[' || *p < '0' || *p > '9')
        return NULL;
    for (; *p >= '0' && *p <= '9'; p++)
        if (!size_multiply(&value, value, 10) || !size_add(&value, value, (size_t)(*p - '0')))
            return NULL;
    *index = value;
    return *p == ']' ? p + 1 : NULL;
}

const struct json *json_find(const struct json *j, const char *path)
{
    const struct json_quick *q = json_quick(j), *whole = q ? json_quick_member(q, path, strlen(path)) : NULL;
    if (whole)
        return (const struct json *)whole;
    while (j && *path) {
        size_t index;
        if (*path == '[') {
            path = parse_index(path, &index);
            if (!path)
                return NULL;
            j = json_at(j, index);
        } else {
            size_t length = strlen(path);
            const struct json *next = NULL;
            for (; length > 0; length--)
                if ((path[length] == '\0' || path[length] == '.' || path[length] == '[') &&
                    (next = json_member_of(j, path, length)))
                    break;
            j = next;
            path += length;
        }
        if (j && *path == '.')
            path++;
    }
    return j;
}

static sotto_status json_read_wrong(const struct json *found, const char *name, const char *path,
                                    const char *expected)
{
    if (!found)
        return status_fail(SOTTO_EFORMAT, "%s: '%s' is missing; expected %s", name, path, expected);
    char shown[80];
    if (json_kind(found) == JSON_KIND_OBJECT || json_kind(found) == JSON_KIND_ARRAY) {
        snprintf(shown, sizeof shown, "%s", json_kind(found) == JSON_KIND_OBJECT ? "an object" : "a list");
    } else {
        char text[60];
        json_t *value =
            json_quick(found) ? json_quick_copy(json_quick(found)) : json_incref(json_read_unwrap(found));
        locale_t before = uselocale(c_locale());
        size_t length = json_dumpb(value, text, sizeof text, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        uselocale(before);
        json_decref(value);
        utf8_printable(shown, sizeof shown, text, length < sizeof text ? length : sizeof text);
    }
    return status_fail(SOTTO_EFORMAT, "%s: '%s' is %s; expected %s", name, path, shown, expected);
}

sotto_status json_get_real(double *out, const struct json *j, const char *name, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!is_number(found))
        return json_read_wrong(found, name, path, "a number");
    *out = json_number(found);
    return SOTTO_OK;
}

sotto_status json_get_real_or_null(double *out, const struct json *j, const char *name, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!is_number(found) && (!found || type_of(found) != JSON_NULL))
        return json_read_wrong(found, name, path, "a number or null");
    *out = json_number(found);
    return SOTTO_OK;
}

sotto_status json_get_integer(int64_t *out, const struct json *j, const char *name, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!found || type_of(found) != JSON_INTEGER)
        return json_read_wrong(found, name, path, "a whole number");
    *out = json_whole(found);
    return SOTTO_OK;
}

sotto_status json_get_size(size_t *out, const struct json *j, const char *name, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!found || type_of(found) != JSON_INTEGER || json_whole(found) < 0)
        return json_read_wrong(found, name, path, "a whole number >= 0");
    *out = (size_t)json_whole(found);
    return SOTTO_OK;
}

bool json_says_true(const struct json *j)
{
    return j && type_of(j) == JSON_TRUE;
}

sotto_status json_get_boolean(bool *out, const struct json *j, const char *name, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!found || json_kind(found) != JSON_KIND_BOOLEAN)
        return json_read_wrong(found, name, path, "true or false");
    *out = type_of(found) == JSON_TRUE;
    return SOTTO_OK;
}

sotto_status json_get_text(const char **out, const struct json *j, const char *name, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!found || type_of(found) != JSON_STRING)
        return json_read_wrong(found, name, path, "a text");
    *out = json_text(found);
    return SOTTO_OK;
}

sotto_status json_get_text_into(char *out, size_t capacity, const struct json *j, const char *name,
                                const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *text = NULL;
    TRY(json_get_text(&text, j, name, path));
    size_t length = strlen(text);
    if (length >= capacity)
        FAIL(SOTTO_EFORMAT, "%s: '%s' has %zu bytes; expected at most %zu", name, path, length, capacity - 1);
    memcpy(out, text, length + 1);
done:
    return status;
}

sotto_status json_get_object(const struct json **out, const struct json *j, const char *name,
                             const char *path)
{
    const struct json *found = json_find(j, path);
    if (!found || type_of(found) != JSON_OBJECT)
        return json_read_wrong(found, name, path, "an object");
    *out = found;
    return SOTTO_OK;
}

sotto_status json_get_array(const struct json **out, const struct json *j, const char *name, const char *path)
{
    const struct json *found = json_find(j, path);
    if (!found || type_of(found) != JSON_ARRAY)
        return json_read_wrong(found, name, path, "a list");
    *out = found;
    return SOTTO_OK;
}

sotto_status json_get_sizes(size_t *out, size_t *count, size_t capacity, const struct json *j,
                            const char *name, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *list = NULL;
    *count = 0;
    TRY(json_get_array(&list, j, name, path));
    if (json_count(list) > capacity)
        FAIL(SOTTO_EFORMAT, "%s: '%s' lists %zu numbers; expected at most %zu", name, path, json_count(list),
             capacity);
    for (; *count < json_count(list); ++*count) {
        const struct json *size = json_at(list, *count);
        char place[64];
        snprintf(place, sizeof place, "%.40s[%zu]", path, *count);
        if (json_whole(size) < 1)
            TRY(json_read_wrong(size, name, place, "a whole number of at least 1"));
        out[*count] = (size_t)json_whole(size);
    }
done:
    return status;
}
