/* The given tree is walked along the table, which yields the resolved tree: every row that is given or has a
 * default, in the order of the table, every node remembering its row and where it stood. */
#include "base/file.h"
#include "io/text/source.h"
#include "io/text/utf8.h"
#include "io/yaml/yaml_private.h"

#include <stdio.h>
#include <string.h>

/* A place in the table and in the file: "protect[]." and "protect[1]". */
struct level {
    char prefix[CONFIG_PATH_LIMIT], shown[CONFIG_PATH_LIMIT];
};

static const char *yaml_config_below(const struct config_row *row, const struct level *at)
{
    size_t length = strlen(at->prefix);
    return strncmp(row->path, at->prefix, length) == 0 ? row->path + length : NULL;
}

static void shown_child(char out[CONFIG_PATH_LIMIT], const struct level *at, const char *segment,
                        size_t length)
{
    snprintf(out, CONFIG_PATH_LIMIT, "%.100s%s%.*s", at->shown, at->shown[0] ? "." : "", (int)length,
             segment);
}

static sotto_status check_keys(const struct config *c, const struct yaml_node *given, const struct level *at)
{
    for (const struct yaml_node *child = given->first; child; child = child->next) {
        struct config_guess guess = {0};
        bool known = false;
        for (const struct config_row *row = c->rows; row->path && !known; row++) {
            const char *segment = yaml_config_below(row, at);
            if (!segment)
                continue;
            size_t length = strcspn(segment, ".[");
            known = strlen(child->key) == length && memcmp(child->key, segment, length) == 0;
            config_guess_consider(&guess, child->key, segment, length);
        }
        if (known)
            continue;
        char where[CONFIG_WHERE], key[80];
        return status_fail(
            SOTTO_ECONFIG, "%s: unknown key '%s'%s%s%s%s%s", config_where(where, child, c->name),
            utf8_printable(key, sizeof key, child->key, strlen(child->key)), at->shown[0] ? " under " : "",
            at->shown, guess.name[0] ? "; did you mean '" : "", guess.name, guess.name[0] ? "'?" : "");
    }
    return SOTTO_OK;
}

static sotto_status resolve_leaf(struct yaml_node **out, const struct config *c, const struct config_row *row,
                                 const struct yaml_node *given, const struct yaml_node *section,
                                 const char *shown)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *node = NULL;
    if (yaml_is_null(given)) {
        if (!row->fallback && row->required) {
            char where[CONFIG_WHERE], expected[CONFIG_PATH_LIMIT];
            FAIL(SOTTO_ECONFIG, "%s: '%s' is missing; expected %s%s", config_where(where, section, c->name),
                 shown, config_is_list(row->kind) ? "a list, each " : "", config_expected(expected, row));
        }
        if (!row->fallback)
            return SOTTO_OK;
        TRY(yaml_parse(&node, row->fallback, strlen(row->fallback), c->name));
        node->line = 0;
    } else {
        node = yaml_clone(given);
        if (!node)
            FAIL(SOTTO_ENOMEM, "%s: out of memory", c->name);
        node->given = true;
    }
    TRY(config_check(node, row, shown, c->name));
    node->row = row;
    for (struct yaml_node *child = node->first; child; child = child->next)
        child->row = row;
    *out = node;
    node = NULL;
done:
    yaml_free(node);
    return status;
}

static sotto_status resolve_mapping(struct yaml_node **out, const struct config *c,
                                    const struct yaml_node *given, const struct level *at);

static sotto_status expect_kind(const struct config *c, const struct yaml_node *given, enum yaml_kind kind,
                                const char *shown)
{
    char where[CONFIG_WHERE];
    if (!given || given->kind == kind)
        return SOTTO_OK;
    return status_fail(SOTTO_ECONFIG, "%s: %s must be %s", config_where(where, given, c->name),
                       shown[0] ? shown : "a configuration",
                       kind == YAML_KIND_LIST ? "a list of sections" : "a section of keys");
}

static sotto_status resolve_list(struct yaml_node **out, const struct config *c,
                                 const struct yaml_node *given, const struct level *at, const char *shown)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *list = NULL;
    struct level inner = *at;
    size_t i = 0;
    TRY(expect_kind(c, given, YAML_KIND_LIST, shown));
    list = yaml_make(YAML_KIND_LIST, NULL, NULL);
    if (!list)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", c->name);
    for (const struct yaml_node *item = given ? given->first : NULL; item; item = item->next, i++) {
        struct yaml_node *child = NULL;
        snprintf(inner.shown, sizeof inner.shown, "%.200s[%zu]", shown, i);
        TRY(resolve_mapping(&child, c, item, &inner));
        yaml_append(list, child);
    }
    *out = list;
    list = NULL;
done:
    yaml_free(list);
    return status;
}

/* One child of a mapping; *out stays NULL when there is nothing to say. */
static sotto_status resolve_child(struct yaml_node **out, const struct config *c,
                                  const struct config_row *row, const char *segment, size_t length,
                                  const struct yaml_node *section, const struct level *at)
{
    sotto_status status = SOTTO_OK;
    struct level inner;
    char key[64];
    snprintf(key, sizeof key, "%.*s", (int)length, segment);
    shown_child(inner.shown, at, segment, length);
    const struct yaml_node *given = yaml_member(section, key);
    if (segment[length] == '\0') {
        TRY(resolve_leaf(out, c, row, given, section, inner.shown));
    } else {
        bool list = segment[length] == '[';
        snprintf(inner.prefix, sizeof inner.prefix, "%.150s%.*s%s", at->prefix, (int)length, segment,
                 list ? "[]." : ".");
        given = yaml_is_null(given) ? NULL : given;
        TRY(list ? resolve_list(out, c, given, &inner, inner.shown) : resolve_mapping(out, c, given, &inner));
    }
    if (!*out)
        return SOTTO_OK;
    if (segment[length] != '\0') { /* leaves carry their own place */
        (*out)->given = given != NULL;
        (*out)->line = given ? given->line : 0;
        (*out)->column = given ? given->column : 0;
        (*out)->origin = given ? given->origin : c->name;
    }
    (*out)->key = base_strdup(key);
    if (!(*out)->key)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", c->name);
done:
    return status;
}

static sotto_status resolve_mapping(struct yaml_node **out, const struct config *c,
                                    const struct yaml_node *given, const struct level *at)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *mapping = NULL, *child = NULL;
    const char *last = "";
    size_t last_length = 0;
    TRY(expect_kind(c, given, YAML_KIND_MAPPING, at->shown));
    if (given)
        TRY(check_keys(c, given, at));
    mapping = yaml_make(YAML_KIND_MAPPING, NULL, NULL);
    if (!mapping)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", c->name);
    if (given) {
        mapping->line = given->line;
        mapping->column = given->column;
        mapping->origin = given->origin;
    }
    for (const struct config_row *row = c->rows; row->path; row++) {
        const char *segment = yaml_config_below(row, at);
        size_t length = segment ? strcspn(segment, ".[") : 0;
        if (!segment || (length == last_length && memcmp(segment, last, length) == 0))
            continue; /* another row of the section just done */
        last = segment;
        last_length = length;
        TRY(resolve_child(&child, c, row, segment, length, given, at));
        if (child)
            yaml_append(mapping, child);
        child = NULL;
    }
    *out = mapping;
    mapping = NULL;
done:
    yaml_free(child);
    yaml_free(mapping);
    return status;
}

static sotto_status apply_overrides(struct config *c, struct yaml_node **given, const char *const *overrides)
{
    sotto_status status = SOTTO_OK;
    size_t count = 0;
    while (overrides && overrides[count])
        count++;
    NEW(c->origins, count + 1);
    for (size_t i = 0; i < count; i++) {
        char shown[200], origin[208];
        utf8_printable(shown, sizeof shown, overrides[i], strlen(overrides[i]));
        snprintf(origin, sizeof origin, "-s %s", shown);
        c->origin_count = i + 1;
        NEW_TEXT(c->origins[i], origin);
        TRY(config_override(given, c->origins[i], overrides[i]));
    }
done:
    return status;
}

sotto_status config_read(struct config **out, const char *text, size_t size, const char *name,
                         const struct config_row *rows, const char *const *overrides)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *given = NULL;
    const struct level top = {"", ""};
    struct config *c = NULL;
    NEW(c, 1);
    NEW_TEXT(c->name, name);
    c->rows = rows;
    TRY(yaml_parse(&given, text, size, c->name));
    TRY(apply_overrides(c, &given, overrides));
    TRY(resolve_mapping(&c->resolved, c, yaml_is_null(given) ? NULL : given, &top));
    *out = c;
    c = NULL;
done:
    yaml_free(given);
    config_free(c);
    return status;
}

sotto_status config_read_file(struct config **out, const char *path, const struct config_row *rows,
                              const char *const *overrides)
{
    sotto_status status = SOTTO_OK;
    unsigned char *text = NULL;
    size_t size = 0;
    TRY(file_read(&text, &size, path, YAML_SIZE_LIMIT));
    TRY(config_read(out, (const char *)text, size, path, rows, overrides));
done:
    base_free(text);
    return status;
}

void config_free(struct config *c)
{
    if (!c)
        return;
    yaml_free(c->resolved);
    for (size_t i = 0; i < c->origin_count; i++)
        base_free(c->origins[i]);
    base_free(c->origins);
    base_free(c->name);
    base_free(c);
}
