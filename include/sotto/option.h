/* option.h - one description of every option: name, type, unit, default, range, group and help of the members of an
 * options struct. Defaults, range errors, the command line, its help, man pages and completions, and the keys of an
 * experiment's YAML file are loops over these tables. */
#ifndef SOTTO_OPTION_H
#define SOTTO_OPTION_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sotto_option_type {
    SOTTO_OPTION_FLAG,  /**< int, 0 or 1 */
    SOTTO_OPTION_TEXT,  /**< const char * */
    SOTTO_OPTION_COUNT, /**< size_t */
    SOTTO_OPTION_SEED,  /**< uint64_t */
    SOTTO_OPTION_REAL,  /**< double */
    SOTTO_OPTION_SIZES  /**< size_t[capacity] and a size_t that counts them */
};

/** One member of a struct. */
struct sotto_option {
    const char *name; /**< on the command line, without dashes: "step-size"; NULL ends a table */
    const char *key;  /**< name of the member, and of the key in a YAML file: "step_size" */
    enum sotto_option_type type;
    size_t offset;
    size_t count, capacity; /**< SIZES: offset of the member that counts, and room for so many */
    const char *unit;       /**< what stands for the value in help: "N"; NULL for flags */
    const char *value;      /**< default as text; NULL: none (0, NULL); "nan": not given */
    const char *range;      /**< numbers: an interval, "[1,inf)", "(0,1)"; NULL: any */
    const char *group;      /**< heading in help */
    const char *help;       /**< noun phrase with unit */
    const char *aliases;    /**< other names for good, "clip-norm|C"; NULL: none */
    const char *old_names;  /**< names of earlier versions, which work silently; NULL: none */
};

/** Tables of the options structs; each ends with a row of name NULL. */
SOTTO_API const struct sotto_option *sotto_head_recipe_options(void);   /**< struct sotto_head_recipe */
SOTTO_API const struct sotto_option *sotto_train_option_table(void);    /**< struct sotto_train_options */
SOTTO_API const struct sotto_option *sotto_train_privacy_options(void); /**< struct sotto_train_privacy */
SOTTO_API const struct sotto_option *sotto_pretrain_option_table(void); /**< struct sotto_pretrain_options */

/** In: table, name: its name, key, alias or old name. Returns: the row, or NULL. */
SOTTO_API const struct sotto_option *sotto_option_find(const struct sotto_option *table, const char *name);
/** Out: every member of the table gets its default; other members of *out stay as they are. */
SOTTO_API void sotto_options_defaults(void *out, const struct sotto_option *table);
/** In: row, text: a value as on the command line ("0.5", "512,128"; of a flag "1" or "0"). Texts are borrowed.
 *  Out: the row's member of *out.
 *  Returns: EINVAL: text is no value of this type. Ranges are not checked. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_option_set(void *out, const struct sotto_option *row,
                                                         const char *text);
/** In: options: a filled-in struct; table; keys: members to check, "lr|batch"; NULL: all.
 *  Returns: EINVAL "lr must be a number > 0 (got -1)" for the first member that is outside of its range. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_options_check(const void *options,
                                                            const struct sotto_option *table,
                                                            const char *keys);

#ifdef __cplusplus
}
#endif
#endif
