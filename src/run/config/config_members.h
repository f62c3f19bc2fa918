/* config_members.h - keys of the experiment file that are members of a public options struct (sotto/option.h). */
#ifndef RUN_CONFIG_CONFIG_MEMBERS_H
#define RUN_CONFIG_CONFIG_MEMBERS_H

#include "io/yaml/yaml_config.h"
#include "options/option_tables.h"
#include "sotto/option.h"

/** These members below a section: {"pretrain.", options_pretrain, "epochs|lr"}. */
struct config_members {
    const char *section;
    const struct sotto_option *table;
    const char *keys; /* in the order of the file */
    bool optional;    /* without defaults in the file: a member whose key is absent stays as it is */
};

enum { CONFIG_ROWS = 256, CONFIG_KEY = 48, CONFIG_MEMBER_TEXT = 32 };
/** A table that is put together. */
struct config_rows {
    size_t count;
    struct config_row row[CONFIG_ROWS + 1];
    char path[CONFIG_ROWS][CONFIG_KEY], list[CONFIG_ROWS][CONFIG_KEY]; /* the latter: defaults */
};
/** Appends rows with `prefix` ("cases[].") in front of their paths. */
void config_rows_add(struct config_rows *out, const char *prefix, const struct config_row *rows);
void config_rows_add_members(struct config_rows *out, const char *prefix, const struct config_members *m);

/** Reads the members into *out, but for reals and lists, for which the caller has the room. Texts are copied to texts[0], texts[1], ...; ECONFIG: too long, or too many widths. */
sotto_status config_members_read(void *out, char (*texts)[CONFIG_MEMBER_TEXT], const struct config *c,
                                 const char *prefix, const struct config_members *m);

#endif
