/* yaml_private.h - what the parts of the configuration reader share. */
#ifndef IO_YAML_YAML_PRIVATE_H
#define IO_YAML_YAML_PRIVATE_H

#include "io/yaml/yaml_config.h"
#include "io/yaml/yaml_tree.h"

struct config {
    const struct config_row *rows;
    char *name;
    size_t origin_count;
    char **origins; /* texts of the overrides; nodes point to them */
    struct yaml_node *resolved;
};

enum { CONFIG_PATH_LIMIT = 256, CONFIG_WHERE = 400 };

/** "run.yaml:14:5", "-s key=value", or the bare name when the node has no place. */
const char *config_where(char out[CONFIG_WHERE], const struct yaml_node *node, const char *name);
/** Sets what `origin` ("-s key=value") says in the tree of given values. */
sotto_status config_override(struct yaml_node **root, const char *origin, const char *assignment);
/** Checks a leaf against its row; `shown` is its full path for errors. */
sotto_status config_check(const struct yaml_node *node, const struct config_row *row, const char *shown,
                          const char *name);
/** "a whole number >= 1": what the row accepts. */
const char *config_expected(char out[CONFIG_PATH_LIMIT], const struct config_row *row);
/** "; did you mean 'x'?" when `nearest` is close to `wanted`, else "". */
struct config_guess {
    size_t distance;
    char name[64];
};
void config_guess_consider(struct config_guess *best, const char *wanted, const char *candidate,
                           size_t length);

static inline bool config_is_list(enum config_kind kind)
{
    return kind >= CONFIG_TEXTS;
}

static inline enum config_kind config_element(enum config_kind kind)
{
    return kind == CONFIG_TEXTS    ? CONFIG_TEXT
           : kind == CONFIG_WHOLES ? CONFIG_WHOLE
           : kind == CONFIG_REALS  ? CONFIG_REAL
                                   : kind;
}

#endif
