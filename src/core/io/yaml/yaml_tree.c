/* libyaml gives events; a recursive descent (depth-limited) makes nodes of them. One event is current at a
 * time. */
#include "io/yaml/yaml_tree.h"

#include "io/text/utf8.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    const char *origin;
    size_t nodes;
};

static sotto_status fail_at(const struct reader *r, yaml_mark_t mark, const char *what)
{
    return status_fail(SOTTO_ECONFIG, "%s:%zu:%zu: %s", r->origin, mark.line + 1, mark.column + 1, what);
}

static sotto_status fail_here(const struct reader *r, const char *what)
{
    return fail_at(r, r->event.start_mark, what);
}

static sotto_status yaml_tree_advance(struct reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = false;
    if (yaml_parser_parse(&r->parser, &r->event)) {
        r->has_event = true;
        return SOTTO_OK;
    }
    if (r->parser.error == YAML_MEMORY_ERROR)
        return status_fail(SOTTO_ENOMEM, "%s: out of memory", r->origin);
    if (r->parser.error == YAML_READER_ERROR) /* its mark is not set: bytes, not characters */
        return status_fail(SOTTO_ECONFIG, "%s: not valid YAML: %s (byte %zu)", r->origin,
                           r->parser.problem ? r->parser.problem : "unreadable", r->parser.problem_offset);
    char what[200];
    snprintf(what, sizeof what, "not valid YAML: %s", r->parser.problem ? r->parser.problem : "unreadable");
    return fail_at(r, r->parser.problem_mark, what);
}

static sotto_status refuse_decorations(const struct reader *r)
{
    const yaml_event_t *e = &r->event;
    const unsigned char *anchor = NULL, *tag = NULL;
    if (e->type == YAML_ALIAS_EVENT)
        return fail_here(r, "aliases (*name) are not supported; write the value out");
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
    }
    if (anchor)
        return fail_here(r, "anchors (&name) are not supported; write the value out");
    return tag ? fail_here(r, "tags (!name) are not supported; write a plain value") : SOTTO_OK;
}

static sotto_status read_node(struct yaml_node **out, struct reader *r, size_t depth);

static sotto_status read_key(char **out, struct reader *r, const struct yaml_node *mapping)
{
    sotto_status status = SOTTO_OK;
    char shown[80], what[120];
    if (r->event.type != YAML_SCALAR_EVENT)
        return fail_here(r, "a key must be a plain text");
    TRY(refuse_decorations(r));
    const char *text = (const char *)r->event.data.scalar.value;
    size_t length = r->event.data.scalar.length;
    if (strlen(text) != length)
        return fail_here(r, "a key must be a plain text");
    if (yaml_member(mapping, text)) {
        snprintf(what, sizeof what, "duplicate key '%s'", utf8_printable(shown, sizeof shown, text, length));
        return fail_here(r, what);
    }
    NEW_TEXT(*out, text);
done:
    return status;
}

static sotto_status read_children(struct yaml_node *node, struct reader *r, size_t depth)
{
    sotto_status status = SOTTO_OK;
    bool mapping = node->kind == YAML_KIND_MAPPING;
    char *key = NULL;
    for (;;) {
        TRY(yaml_tree_advance(r));
        if (r->event.type == (mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT))
            break;
        yaml_mark_t mark = r->event.start_mark;
        if (mapping) {
            TRY(read_key(&key, r, node));
            TRY(yaml_tree_advance(r));
        }
        struct yaml_node *child = NULL;
        TRY(read_node(&child, r, depth + 1));
        child->key = key;
        key = NULL;
        child->line = mark.line + 1;
        child->column = mark.column + 1;
        yaml_append(node, child);
    }
done:
    base_free(key);
    return status;
}

/* Consumes the node that starts at the current event; its last event is current afterwards. */
static sotto_status read_node(struct yaml_node **out, struct reader *r, size_t depth)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *node = NULL;
    TRY(refuse_decorations(r));
    if (depth > YAML_DEPTH_LIMIT)
        return fail_here(r, "too many nested levels; expected at most 16");
    if (++r->nodes > YAML_NODE_LIMIT)
        return fail_here(r, "too many values; expected at most 10000");
    const yaml_event_t *e = &r->event;
    bool scalar = e->type == YAML_SCALAR_EVENT;
    const char *text = scalar ? (const char *)e->data.scalar.value : NULL;
    if (scalar && strlen(text) != e->data.scalar.length)
        return fail_here(r, "a text must not contain a zero byte");
    node = yaml_make(scalar                                ? YAML_KIND_SCALAR
                     : e->type == YAML_MAPPING_START_EVENT ? YAML_KIND_MAPPING
                                                           : YAML_KIND_LIST,
                     NULL, text);
    if (!node)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", r->origin);
    node->quoted = scalar && e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->line = e->start_mark.line + 1;
    node->column = e->start_mark.column + 1;
    node->origin = r->origin;
    if (!scalar)
        TRY(read_children(node, r, depth));
    *out = node;
    node = NULL;
done:
    yaml_free(node);
    return status;
}

static sotto_status read_document(struct yaml_node **out, struct reader *r)
{
    sotto_status status = SOTTO_OK;
    TRY(yaml_tree_advance(r)); /* stream start */
    TRY(yaml_tree_advance(r));
    if (r->event.type == YAML_STREAM_END_EVENT)
        return SOTTO_OK;
    if (r->event.data.document_start.version_directive ||
        r->event.data.document_start.tag_directives.start != r->event.data.document_start.tag_directives.end)
        return fail_here(r, "directives (%NAME) are not supported; remove the line");
    TRY(yaml_tree_advance(r));
    TRY(read_node(out, r, 1));
    TRY(yaml_tree_advance(r)); /* document end */
    TRY(yaml_tree_advance(r));
    if (r->event.type != YAML_STREAM_END_EVENT)
        return fail_here(r, "a second document starts here; expected only one");
done:
    return status;
}

sotto_status yaml_parse(struct yaml_node **out, const char *text, size_t size, const char *origin)
{
    sotto_status status = SOTTO_OK;
    struct reader r = {.origin = origin};
    struct yaml_node *root = NULL;
    if (size > YAML_SIZE_LIMIT)
        return status_fail(SOTTO_ECONFIG, "%s: has %zu bytes; expected at most 1 MiB", origin, size);
    if (!yaml_parser_initialize(&r.parser))
        return status_fail(SOTTO_ENOMEM, "%s: out of memory", origin);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    TRY(read_document(&root, &r));
    *out = root;
    root = NULL;
done:
    yaml_free(root);
    if (r.has_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return status;
}

void yaml_free(struct yaml_node *node)
{
    if (!node)
        return;
    for (struct yaml_node *child = node->first, *next; child; child = next) {
        next = child->next;
        yaml_free(child);
    }
    base_free(node->text);
    base_free(node->key);
    base_free(node);
}

struct yaml_node *yaml_make(enum yaml_kind kind, const char *key, const char *text)
{
    struct yaml_node *node = base_alloc(1, sizeof *node);
    if (!node)
        return NULL;
    node->kind = kind;
    node->key = key ? base_strdup(key) : NULL;
    node->text = text ? base_strdup(text) : NULL;
    if ((key && !node->key) || (text && !node->text)) {
        yaml_free(node);
        return NULL;
    }
    return node;
}

struct yaml_node *yaml_clone(const struct yaml_node *node)
{
    struct yaml_node *copy = yaml_make(node->kind, NULL, node->text);
    if (!copy)
        return NULL;
    copy->quoted = node->quoted;
    copy->line = node->line;
    copy->column = node->column;
    copy->origin = node->origin;
    for (const struct yaml_node *child = node->first; child; child = child->next) {
        struct yaml_node *twin = yaml_clone(child);
        if (twin && child->key)
            twin->key = base_strdup(child->key);
        if (!twin || (child->key && !twin->key)) {
            yaml_free(twin);
            yaml_free(copy);
            return NULL;
        }
        yaml_append(copy, twin);
    }
    return copy;
}

void yaml_append(struct yaml_node *parent, struct yaml_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

struct yaml_node *yaml_member(const struct yaml_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != YAML_KIND_MAPPING)
        return NULL;
    for (struct yaml_node *child = mapping->first; child; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

struct yaml_node *yaml_item(const struct yaml_node *list, size_t i)
{
    if (!list || list->kind != YAML_KIND_LIST)
        return NULL;
    struct yaml_node *child = list->first;
    while (child && i-- > 0)
        child = child->next;
    return child;
}

bool yaml_is_null(const struct yaml_node *node)
{
    return !node ||
           (node->kind == YAML_KIND_SCALAR && !node->quoted &&
            (node->text[0] == '\0' || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0));
}
