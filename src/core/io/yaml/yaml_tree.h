/* yaml_tree.h - one small YAML document as a tree that remembers where every node stood (libyaml behind it).
 *
 * Refused with line and column: aliases, anchors, tags, directives, a second document, keys that are not
 * plain texts, duplicate keys, more than 16 levels, 10,000 nodes or 1 MiB. */
#ifndef IO_YAML_YAML_TREE_H
#define IO_YAML_YAML_TREE_H

#include "base/memory.h"

enum yaml_kind { YAML_KIND_SCALAR, YAML_KIND_LIST, YAML_KIND_MAPPING };
struct yaml_node {
    enum yaml_kind kind;
    bool quoted;         /* scalars: written in quotes or as a block, so "null" is a text */
    char *text;          /* scalars */
    char *key;           /* members of a mapping */
    size_t line, column; /* of the key in a mapping, else of the value; from 1; 0: not from a file */
    const char *origin;  /* borrowed: the document's name, or the override that set this node */
    const void *row;     /* for yaml_config: the schema row of a leaf */
    bool given;          /* for yaml_config: not a default */
    size_t count;        /* children */
    struct yaml_node *first, *last, *next;
};

enum { YAML_SIZE_LIMIT = 1 << 20, YAML_DEPTH_LIMIT = 16, YAML_NODE_LIMIT = 10000 };

/** *out stays NULL for an empty document. `origin` is borrowed by the nodes. ECONFIG "name:LINE:COLUMN: ...";
 * ENOMEM. */
sotto_status yaml_parse(struct yaml_node **out, const char *text, size_t size, const char *origin);
void yaml_free(struct yaml_node *node);
struct yaml_node *yaml_make(enum yaml_kind kind, const char *key, const char *text);
/** Deep copy without key; NULL when out of memory. */
struct yaml_node *yaml_clone(const struct yaml_node *node);
void yaml_append(struct yaml_node *parent, struct yaml_node *child);
struct yaml_node *yaml_member(const struct yaml_node *mapping, const char *key);
struct yaml_node *yaml_item(const struct yaml_node *list, size_t i);
/** Absent, or an unquoted empty text, "~" or "null". */
bool yaml_is_null(const struct yaml_node *node);
/** Text of a tree; leaf lists in flow style. Free with sotto_text_free(). */
sotto_status yaml_dump(char **text, const struct yaml_node *node);

#endif
