/* Lookups in a resolved configuration. Values were checked when it was read, so conversions cannot fail
 * here. */
#include "io/text/number.h"
#include "io/yaml/yaml_private.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "protect[1].scale" and "attack.names[0]" against "protect[].scale" and "attack.names". */
static bool row_covers(const char *row, const char *path)
{
    while (*path) {
        if (path[0] == '[') {
            const char *close = strchr(path, ']');
            if (row[0] == '\0')
                return close && close[1] == '\0'; /* an element of a leaf list */
            if (!close || strncmp(row, "[]", 2) != 0)
                return false;
            path = close + 1;
            row += 2;
        } else if (*path++ != *row++) {
            return false;
        }
    }
    return *row == '\0' || *row == '.' || *row == '['; /* the leaf, or a section above it */
}

static bool yaml_access_described(const struct config *c, const char *path)
{
    for (const struct config_row *row = c->rows; row->path; row++)
        if (row_covers(row->path, path) || path[0] == '\0')
            return true;
    return false;
}

static const struct yaml_node *yaml_access_find(const struct config *c, const char *path)
{
    const struct yaml_node *node = c->resolved;
    assert(yaml_access_described(c, path) && "a row of the table describes every path");
    while (node && *path) {
        if (*path == '[') {
            size_t index = 0;
            for (path++; *path >= '0' && *path <= '9'; path++)
                index = index * 10 + (size_t)(*path - '0');
            path += *path == ']';
            node = yaml_item(node, index);
        } else {
            char key[64];
            size_t length = strcspn(path, ".[");
            snprintf(key, sizeof key, "%.*s", (int)length, path);
            node = yaml_member(node, key);
            path += length;
        }
        path += *path == '.';
    }
    return node;
}

static const struct yaml_node *find_formatted(const struct config *c, const char *format, va_list args)
{
    char path[CONFIG_PATH_LIMIT];
    int length = vsnprintf(path, sizeof path, format, args);
    assert(length >= 0 && (size_t)length < sizeof path);
    (void)length;
    return yaml_access_find(c, path);
}

#define FIND(node)                                                                                           \
    va_list args;                                                                                            \
    va_start(args, path);                                                                                    \
    const struct yaml_node *node = find_formatted(c, path, args);                                            \
    va_end(args)

const char *config_text(const struct config *c, const char *path, ...)
{
    FIND(node);
    return node ? node->text : NULL;
}

uint64_t config_whole(const struct config *c, const char *path, ...)
{
    FIND(node);
    int64_t value = 0;
    if (node && node->text)
        (void)number_whole(&value, node->text, strlen(node->text));
    return (uint64_t)value;
}

double config_real(const struct config *c, const char *path, ...)
{
    FIND(node);
    double value = NAN;
    if (node && node->text)
        (void)number_real(&value, node->text, strlen(node->text));
    return value;
}

bool config_flag(const struct config *c, const char *path, ...)
{
    FIND(node);
    return node && node->text && strcmp(node->text, "true") == 0;
}

size_t config_length(const struct config *c, const char *path, ...)
{
    FIND(node);
    return node && node->kind == YAML_KIND_LIST ? node->count : 0;
}

bool config_given(const struct config *c, const char *path, ...)
{
    FIND(node);
    return node && node->given;
}

const char *config_where(char out[CONFIG_WHERE], const struct yaml_node *node, const char *name)
{
    const char *origin = node && node->origin ? node->origin : name;
    if (node && node->line > 0)
        snprintf(out, CONFIG_WHERE, "%.300s:%zu:%zu", origin, node->line, node->column);
    else
        snprintf(out, CONFIG_WHERE, "%.300s", origin);
    return out;
}

sotto_status config_fail(const struct config *c, const char *path, const char *format, ...)
{
    char text[700], where[CONFIG_WHERE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return status_fail(SOTTO_ECONFIG, "%s: %s", config_where(where, yaml_access_find(c, path), c->name),
                       text);
}

sotto_status config_dump(char **yaml, const struct config *c)
{
    return yaml_dump(yaml, c->resolved);
}

static struct json *scalar_json(const struct yaml_node *node)
{
    const struct config_row *row = node->row;
    size_t length = strlen(node->text);
    int64_t whole;
    double real;
    switch (config_element(row->kind)) {
    case CONFIG_WHOLE:
        return number_whole(&whole, node->text, length) ? json_make_integer(whole) : NULL;
    case CONFIG_REAL:
        return number_real(&real, node->text, length) ? json_make_real(real) : NULL;
    case CONFIG_FLAG:
        return json_make_boolean(strcmp(node->text, "true") == 0);
    default:
        return json_make_text(node->text);
    }
}

static struct json *node_json(const struct yaml_node *node)
{
    if (node->kind == YAML_KIND_SCALAR)
        return scalar_json(node);
    struct json *j = node->kind == YAML_KIND_LIST ? json_make_array() : json_make_object();
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        if (node->kind == YAML_KIND_LIST)
            json_push(&j, node_json(child));
        else
            json_put(&j, child->key, node_json(child));
    }
    return j;
}

struct json *config_json(const struct config *c, const char *path)
{
    const struct yaml_node *node = yaml_access_find(c, path);
    return node ? node_json(node) : NULL;
}
