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
    const char *value;   /**< default as text; NULL: none (0, NULL); "auto" of a number: the call finds it */
    const char *range;   /**< numbers: an interval, "[1,inf)", "(0,1)"; NULL: any */
    const char *group;   /**< heading in help */
    const char *help;    /**< noun phrase with unit */
    const char *aliases; /**< other names for good, "clip-norm|C"; NULL: none */
    const char *old_names; /**< names of earlier versions, which work silently; NULL: none */
};

/** Tables of the options structs; each ends with a row of name NULL, its offset that of the struct's member
 * `reserved`, its capacity the size of the struct. */
SOTTO_API const struct sotto_option *sotto_head_recipe_options(void);   /**< struct sotto_head_recipe */
SOTTO_API const struct sotto_option *sotto_train_option_table(void);    /**< struct sotto_train_options */
SOTTO_API const struct sotto_option *sotto_train_privacy_options(void); /**< struct sotto_train_privacy */
SOTTO_API const struct sotto_option *sotto_pretrain_option_table(void); /**< struct sotto_pretrain_options */
SOTTO_API const struct sotto_option *
sotto_fine_tune_option_table(void);                                 /**< struct sotto_fine_tune_options */
SOTTO_API const struct sotto_option *sotto_view_option_table(void); /**< struct sotto_view_options */
SOTTO_API const struct sotto_option *sotto_scattering_option_table(void); /**< struct sotto_scattering */
SOTTO_API const struct sotto_option *sotto_talos_option_table(void);      /**< struct sotto_talos */
SOTTO_API const struct sotto_option *sotto_audit_option_table(void);      /**< struct sotto_audit_options */
SOTTO_API const struct sotto_option *sotto_attack_option_table(void);     /**< struct sotto_attack_options */
SOTTO_API const struct sotto_option *
sotto_encoder_attack_option_table(void); /**< struct sotto_encoder_attack_input */
SOTTO_API const struct sotto_option *sotto_command_option_table(void);  /**< struct sotto_command_options */
SOTTO_API const struct sotto_option *sotto_defence_option_table(void);  /**< struct sotto_defence_options */
SOTTO_API const struct sotto_option *sotto_split_option_table(void);    /**< struct sotto_split_options */
SOTTO_API const struct sotto_option *sotto_selftest_option_table(void); /**< struct sotto_selftest_options */

/** In: table, name: its name, key, alias or old name. Returns: the row, or NULL. */
SOTTO_API const struct sotto_option *sotto_option_find(const struct sotto_option *table, const char *name);
/** Out: every member of the table gets its default ("auto": 0, as in {0}); other members of *out stay as they are. */
SOTTO_API void sotto_options_defaults(void *out, const struct sotto_option *table);
/** What a call makes of the options that it is given.
 *  In:  given: the table's struct; NULL: {0}
 *  Out: *out: a copy; each member that is 0 or NULL is its default ("auto": NAN), each SOTTO_ZERO, SOTTO_NONE or
 *       SOTTO_SEED_ZERO is 0. Members without a row are copied.
 *  Returns: EINVAL: a reserved member is not 0. Ranges are not checked. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_options_resolve(void *out, const void *given,
                                                              const struct sotto_option *table);
/** In: row, text: a value as on the command line ("0.5", "512,128"; of a flag "1" or "0"). Texts are borrowed.
 *  Out: the row's member of *out; "0" of a member with another default becomes SOTTO_ZERO, SOTTO_NONE or SOTTO_SEED_ZERO.
 *  Returns: EINVAL: text is no value of this type. Ranges are not checked. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_option_set(void *out, const struct sotto_option *row,
                                                         const char *text);
/** In: options: a struct that is filled in, or resolved; table; keys: members to check, "lr|batch"; NULL: all.
 *  Returns: EINVAL "lr must be a number > 0 (got -1)" for the first member that is outside of its range. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_options_check(const void *options,
                                                            const struct sotto_option *table,
                                                            const char *keys);

#ifdef __cplusplus
}
#endif
#endif
