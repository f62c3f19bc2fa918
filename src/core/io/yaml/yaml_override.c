/* "a.b[0].c=value": walks the tree of given values, making what is not there yet; the schema check that
 * follows finds misspelt keys, so only the form of the path is checked here. The value is a small YAML
 * document of its own. */
#include "io/text/number.h"
#include "io/text/utf8.h"
#include "io/yaml/yaml_private.h"

#include <stdio.h>
#include <string.h>

static void forget_places(struct yaml_node *node, const char *origin)
{
    node->line = 0;
    node->origin = origin;
    for (struct yaml_node *child = node->first; child; child = child->next)
        forget_places(child, origin);
}

/* Turns `node` into what `value` is (consumed), keeping its key and its place among its siblings. */
static void yaml_override_assign(struct yaml_node *node, struct yaml_node *value)
{
    struct yaml_node old = *node;
    *node = *value;
    node->key = old.key;
    node->next = old.next;
    *value = old;
    value->key = NULL;
    value->next = NULL;
    yaml_free(value);
}

static sotto_status yaml_override_become(struct yaml_node *node, enum yaml_kind kind, const char *origin)
{
    sotto_status status = SOTTO_OK;
    if (node->kind == kind)
        return SOTTO_OK;
    if (!yaml_is_null(node))
        FAIL(SOTTO_ECONFIG, "%s: '%s' is not a %s", origin, node->key ? node->key : "[]",
             kind == YAML_KIND_LIST ? "list" : "section");
    struct yaml_node *empty = yaml_make(kind, NULL, NULL);
    if (!empty)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", origin);
    empty->origin = origin;
    yaml_override_assign(node, empty);
done:
    return status;
}

static sotto_status append_null(struct yaml_node **out, struct yaml_node *parent, const char *key,
                                const char *origin)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *child = yaml_make(YAML_KIND_SCALAR, key, "");
    if (!child)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", origin);
    child->origin = origin;
    yaml_append(parent, child);
    *out = child;
done:
    return status;
}

/* Steps over "name" or "[12]" at *path; *node becomes the child. */
static sotto_status yaml_override_step(struct yaml_node **node, const char **path, const char *end,
                                       const char *origin)
{
    sotto_status status = SOTTO_OK;
    char key[64];
    struct yaml_node *parent = *node, *child = NULL;
    if (**path == '[') {
        const char *close = memchr(*path, ']', (size_t)(end - *path));
        int64_t index;
        if (!close || !number_whole(&index, *path + 1, (size_t)(close - *path - 1)))
            FAIL(SOTTO_ECONFIG, "%s: expected an index such as [0]", origin);
        TRY(yaml_override_become(parent, YAML_KIND_LIST, origin));
        child = yaml_item(parent, (size_t)index);
        if (!child && (size_t)index != parent->count)
            FAIL(SOTTO_ECONFIG, "%s: index %lld is out of range; the list has %zu elements", origin,
                 (long long)index, parent->count);
        if (!child)
            TRY(append_null(&child, parent, NULL, origin));
        *path = close + 1;
    } else {
        size_t length = 0;
        while (*path + length < end && (*path)[length] != '.' && (*path)[length] != '[')
            length++;
        if (length == 0 || length >= sizeof key)
            FAIL(SOTTO_ECONFIG, "%s: expected KEY=VALUE with a key such as pretrain.epochs", origin);
        memcpy(key, *path, length);
        key[length] = '\0';
        TRY(yaml_override_become(parent, YAML_KIND_MAPPING, origin));
        child = yaml_member(parent, key);
        if (!child)
            TRY(append_null(&child, parent, key, origin));
        *path += length;
    }
    *node = child;
done:
    return status;
}

sotto_status config_override(struct yaml_node **root, const char *origin, const char *assignment)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *value = NULL, *node;
    const char *equals = strchr(assignment, '='), *path = assignment;
    if (!equals)
        FAIL(SOTTO_ECONFIG, "%s: expected KEY=VALUE", origin);
    if (!*root && !(*root = yaml_make(YAML_KIND_MAPPING, NULL, NULL)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", origin);
    TRY(yaml_parse(&value, equals + 1, strlen(equals + 1), origin));
    if (!value && !(value = yaml_make(YAML_KIND_SCALAR, NULL, "")))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", origin);
    forget_places(value, origin);
    node = *root;
    do {
        TRY(yaml_override_step(&node, &path, equals, origin));
        if (path < equals && *path == '.' && ++path == equals)
            FAIL(SOTTO_ECONFIG, "%s: expected a key after '.'", origin);
    } while (path < equals);
    yaml_override_assign(node, value);
    value = NULL;
done:
    yaml_free(value);
    return status;
}
