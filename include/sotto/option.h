/* option.h - one description of every option: name, type, unit, default, range, group and help of the members of an
 * options struct. Loops over these tables make the defaults, the range errors, the command line, its help, man pages and
 * completions, and the keys of an experiment's YAML file. */
#ifndef SOTTO_OPTION_H
#define SOTTO_OPTION_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sotto_option_type {
    SOTTO_OPTION_FLAG,   /**< int, 0 or 1 */
    SOTTO_OPTION_TEXT,   /**< const char * */
    SOTTO_OPTION_COUNT,  /**< size_t */
    SOTTO_OPTION_SEED,   /**< uint64_t */
    SOTTO_OPTION_REAL,   /**< double */
    SOTTO_OPTION_SIZES,  /**< size_t[capacity] and a size_t that counts them */
    SOTTO_OPTION_CHOICE, /**< an enum: the number of a name in the range "replace-one|add-remove", from 0 */
    SOTTO_OPTION_REALS,  /**< const double * and a size_t that counts them: sotto_option_reals() */
    SOTTO_OPTION_LIST,   /**< const char *const *, NULL-terminated: the option may be repeated */
    SOTTO_OPTION_INPUT   /**< what the program reads from a file, or takes apart: an array, a shape, a pair */
};

/** One member of a struct. */
struct sotto_option {
    const char *name; /**< on the command line, without dashes: "step-size"; NULL ends a table */
    const char *
        key; /**< name of the member: "step_size", "target.epsilon"; its last part is the key in a YAML file */
    enum sotto_option_type type;
    size_t offset;
    size_t count,
        capacity; /**< SIZES, REALS: offset of the member that counts; SIZES: how many there is room for */
    const char *unit; /**< what stands for the value in help: "N"; NULL for flags */
    /** Default as text; NULL: none (0, NULL); "auto" of a number: the call finds it. */
    const char *value;
    const char
        *range; /**< numbers: an interval, "[1,inf)", "(0,1)"; NULL: any; texts and choices: names, "l2|l1" */
    const char *group;     /**< heading in help; NULL: that of the verb */
    const char *help;      /**< noun phrase with unit */
    const char *aliases;   /**< other names, kept for good: "clip-norm|C"; NULL: none */
    const char *old_names; /**< names of earlier versions, accepted without a warning; NULL: none */
};

/* Tables of the options structs. Each ends with a row of name NULL: its offset is that of the struct's member `reserved`,
 * its capacity the size of the struct. */
/** Of struct sotto_head_recipe. */
SOTTO_API const struct sotto_option *sotto_head_recipe_options(void);
/** Of struct sotto_sensitivity_options. */
SOTTO_API const struct sotto_option *sotto_sensitivity_option_table(void);
/** Of struct sotto_head_privacy. */
SOTTO_API const struct sotto_option *sotto_head_privacy_options(void);
/** Of struct sotto_train_options. */
SOTTO_API const struct sotto_option *sotto_train_option_table(void);
/** Of struct sotto_train_privacy. */
SOTTO_API const struct sotto_option *sotto_train_privacy_options(void);
/** Of struct sotto_answer_options. */
SOTTO_API const struct sotto_option *sotto_answer_option_table(void);
/** Of struct sotto_pretrain_options. */
SOTTO_API const struct sotto_option *sotto_pretrain_option_table(void);
/** Of struct sotto_encoder_import_options. */
SOTTO_API const struct sotto_option *sotto_encoder_import_option_table(void);
/** Of struct sotto_fine_tune_options. */
SOTTO_API const struct sotto_option *sotto_fine_tune_option_table(void);
/** Of struct sotto_generator_options. */
SOTTO_API const struct sotto_option *sotto_generator_option_table(void);
/** Of struct sotto_generator_score_options. */
SOTTO_API const struct sotto_option *sotto_generator_score_option_table(void);
/** Of struct sotto_imitation_options. */
SOTTO_API const struct sotto_option *sotto_imitation_option_table(void);
/** Of struct sotto_view_options. */
SOTTO_API const struct sotto_option *sotto_view_option_table(void);
/** Of struct sotto_block_features. */
SOTTO_API const struct sotto_option *sotto_block_option_table(void);
/** Of struct sotto_scattering. */
SOTTO_API const struct sotto_option *sotto_scattering_option_table(void);
/** Of struct sotto_talos. */
SOTTO_API const struct sotto_option *sotto_talos_option_table(void);
/** Of struct sotto_audit_options. */
SOTTO_API const struct sotto_option *sotto_audit_option_table(void);
/** struct sotto_canary_options; the seed is the trainer's. */
SOTTO_API const struct sotto_option *sotto_canary_option_table(void);
/** Of struct sotto_attack_options. */
SOTTO_API const struct sotto_option *sotto_attack_option_table(void);
/** Of struct sotto_federated_options. */
SOTTO_API const struct sotto_option *sotto_federated_option_table(void);
/** Of struct sotto_shadow_recipe. */
SOTTO_API const struct sotto_option *sotto_shadow_option_table(void);
/** Of struct sotto_encoder_attack_input. */
SOTTO_API const struct sotto_option *sotto_encoder_attack_option_table(void);
/** Of struct sotto_command_options. */
SOTTO_API const struct sotto_option *sotto_command_option_table(void);
/** Of struct sotto_disguise_options. */
SOTTO_API const struct sotto_option *sotto_disguise_option_table(void);
/** Of struct sotto_monitor_options. */
SOTTO_API const struct sotto_option *sotto_monitor_option_table(void);
/** Of struct sotto_monitor_input: the arrays that the program reads. */
SOTTO_API const struct sotto_option *sotto_monitor_input_table(void);
/** Of struct sotto_monitor_service, without the command. */
SOTTO_API const struct sotto_option *sotto_monitor_service_table(void);
/** Of struct sotto_smoothing_options. */
SOTTO_API const struct sotto_option *sotto_smoothing_option_table(void);
/** Of struct sotto_defence_options. */
SOTTO_API const struct sotto_option *sotto_defence_option_table(void);
/** Of struct sotto_split_options. */
SOTTO_API const struct sotto_option *sotto_split_option_table(void);
/** Of struct sotto_residual_input: what the command line takes; no member has a default in C. */
SOTTO_API const struct sotto_option *sotto_residual_input_table(void);
/** Of struct sotto_residual_answers, in the same way. */
SOTTO_API const struct sotto_option *sotto_residual_answers_table(void);
/** Of struct sotto_residual_theorem1, in the same way. */
SOTTO_API const struct sotto_option *sotto_residual_theorem1_table(void);
/** Of struct sotto_release. */
SOTTO_API const struct sotto_option *sotto_release_option_table(void);
/** Of struct sotto_sampled. */
SOTTO_API const struct sotto_option *sotto_sampled_option_table(void);
/** Of struct sotto_spend. */
SOTTO_API const struct sotto_option *sotto_spend_option_table(void);
/** Of struct sotto_source_records. */
SOTTO_API const struct sotto_option *sotto_source_option_table(void);
/** Of struct sotto_protect, without its release. */
SOTTO_API const struct sotto_option *sotto_protect_option_table(void);
/** Of struct sotto_protect_records. */
SOTTO_API const struct sotto_option *sotto_protect_records_table(void);
/** Of struct sotto_selftest_options. */
SOTTO_API const struct sotto_option *sotto_selftest_option_table(void);
/** Of struct sotto_import_options. */
SOTTO_API const struct sotto_option *sotto_import_option_table(void);
/** Of struct sotto_fetch_options, without those of the import. */
SOTTO_API const struct sotto_option *sotto_fetch_option_table(void);
/** Of struct sotto_run_options. */
SOTTO_API const struct sotto_option *sotto_run_option_table(void);
/** Of struct sotto_audit_input: one row for each array that the program reads; several may fill one member. */
SOTTO_API const struct sotto_option *sotto_audit_input_table(void);
/** Of struct sotto_generative_input, in the same way. */
SOTTO_API const struct sotto_option *sotto_generative_input_table(void);
/** Of struct sotto_token_input, in the same way. */
SOTTO_API const struct sotto_option *sotto_token_input_table(void);
/** Of struct sotto_attribute_input, in the same way. */
SOTTO_API const struct sotto_option *sotto_attribute_input_table(void);
/** Of struct sotto_attack_input, in the same way. */
SOTTO_API const struct sotto_option *sotto_attack_input_table(void);
/** Of no struct: options of several verbs, or arguments of calls. The last row has no struct. */
SOTTO_API const struct sotto_option *sotto_call_option_table(void);

/** Finds a row.
 *
 *  In:      name  its name, key, alias or old name
 *  Returns: the row; NULL: there is none */
SOTTO_API const struct sotto_option *sotto_option_find(const struct sotto_option *table, const char *name);
/** Out: *out: every member of the table gets its default ("auto": 0, as in {0}); other members stay as they are. */
SOTTO_API void sotto_options_defaults(void *out, const struct sotto_option *table);
/** What a call makes of the options that it is given. Ranges are not checked.
 *
 *  In:      given   the table's struct; NULL: {0}
 *  Out:     *out    a copy. Each member that is 0 or NULL gets its default ("auto": NAN, or 0 of a whole number);
 *                   each SOTTO_ZERO, SOTTO_NONE or SOTTO_SEED_ZERO becomes 0. Members without a row are copied.
 *  Returns: EINVAL  a reserved member is not 0 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_options_resolve(void *out, const void *given,
                                                              const struct sotto_option *table);
/** Sets one member from text; no REALS, LIST or INPUT. Ranges are not checked.
 *
 *  In:      text    a value as on the command line ("0.5", "512,128"; of a flag "1" or "0"). Text members borrow it.
 *  Out:     *out    the row's member; "0" of a member with another default becomes SOTTO_ZERO, SOTTO_NONE or
 *                   SOTTO_SEED_ZERO
 *  Returns: EINVAL  text is no value of this type */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_option_set(void *out, const struct sotto_option *row,
                                                         const char *text);
/** Numbers of a REALS member from text.
 *
 *  In:      text    "0.01,0.001" or "[0.01, 0.001]"
 *  Out:     out     (*count), at most `capacity`
 *  Returns: EINVAL  text is no such list, or a number is outside of the row's range */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_option_reals(double *out, size_t capacity, size_t *count,
                                                           const struct sotto_option *row, const char *text);
/** Checks one number against the range of a row.
 *
 *  Returns: EINVAL  as sotto_options_check() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_option_check_number(const struct sotto_option *row, double x);
/** Checks ranges.
 *
 *  In:      options  a struct that is filled in, or resolved
 *           keys     members to check, "lr|batch"; NULL: all
 *  Returns: EINVAL   "lr must be a number > 0 (got -1)" for the first member that is outside of its range */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_options_check(const void *options,
                                                            const struct sotto_option *table,
                                                            const char *keys);

#ifdef __cplusplus
}
#endif
#endif
