/* struct json is jansson's json_t under another name, so that no other folder can reach past this
 * interface. */
#include "io/json/json.h"
#include "io/json/json_quick.h"
#include "io/text/utf8.h"

#include <math.h>
#include <string.h>

static struct json *json_build_wrap(json_t *value)
{
    return (struct json *)value;
}

static json_t *json_build_unwrap(const struct json *j)
{
    return (json_t *)j;
}

struct json *json_make_object(void)
{
    return json_build_wrap(json_object());
}

struct json *json_make_array(void)
{
    return json_build_wrap(json_array());
}

static struct json *repaired_text(const char *text, size_t length)
{
    char *copy = base_alloc(length * 3 + 1, 1); /* U+FFFD has three bytes */
    if (!copy)
        return NULL;
    json_t *value = json_stringn(copy, utf8_repair(copy, text, length));
    base_free(copy);
    return json_build_wrap(value);
}

struct json *json_make_text(const char *text)
{
    if (!text)
        return json_make_null();
    size_t length = strlen(text);
    return utf8_valid(text, length) ? json_build_wrap(json_stringn(text, length))
                                    : repaired_text(text, length);
}

struct json *json_make_real(double x)
{
    return isfinite(x) ? json_build_wrap(json_real(x)) : json_make_null();
}

struct json *json_make_integer(int64_t x)
{
    return json_build_wrap(json_integer(x));
}

struct json *json_make_boolean(bool x)
{
    return json_build_wrap(json_boolean(x));
}

struct json *json_make_null(void)
{
    return json_build_wrap(json_null());
}

struct json *json_clone(const struct json *j)
{
    const struct json_quick *q = json_quick(j);
    return json_build_wrap(q ? json_quick_copy(q) : json_deep_copy(json_build_unwrap(j)));
}

void json_free(struct json *j)
{
    if (json_quick(j))
        json_quick_free(json_quick(j));
    else
        json_decref(json_build_unwrap(j));
}

static void json_build_poison(struct json **container)
{
    json_free(*container);
    *container = NULL;
}

void json_put(struct json **object, const char *key, struct json *value)
{
    size_t length = strlen(key);
    struct json *repaired = utf8_valid(key, length) ? NULL : repaired_text(key, length);
    if (repaired)
        key = json_string_value(json_build_unwrap(repaired));
    if (!*object || !value) {
        json_free(value);
        json_build_poison(object);
    } else if (json_object_set_new(json_build_unwrap(*object), key, json_build_unwrap(value)) != 0) {
        json_build_poison(object); /* jansson has released the value */
    }
    json_free(repaired);
}

void json_put_text(struct json **object, const char *key, const char *text)
{
    json_put(object, key, json_make_text(text));
}

void json_put_real(struct json **object, const char *key, double x)
{
    json_put(object, key, json_make_real(x));
}

void json_put_integer(struct json **object, const char *key, int64_t x)
{
    json_put(object, key, json_make_integer(x));
}

void json_put_boolean(struct json **object, const char *key, bool x)
{
    json_put(object, key, json_make_boolean(x));
}

void json_push(struct json **array, struct json *value)
{
    if (!*array || !value) {
        json_free(value);
        json_build_poison(array);
    } else if (json_array_append_new(json_build_unwrap(*array), json_build_unwrap(value)) != 0) {
        json_build_poison(array);
    }
}

struct json *json_make_reals(const double *x, size_t n)
{
    struct json *array = json_make_array();
    for (size_t i = 0; i < n; i++)
        json_push(&array, json_make_real(x[i]));
    return array;
}

struct json *json_make_counts(const size_t *x, size_t n)
{
    struct json *array = json_make_array();
    for (size_t i = 0; i < n; i++)
        json_push(&array, json_make_integer((int64_t)x[i]));
    return array;
}
