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
    /** name of the member: "step_size", "target.epsilon"; its last part is the key in a YAML file */
    const char *key;
    enum sotto_option_type type;
    size_t offset;
    size_t count,
        capacity; /**< SIZES, REALS: offset of the member that counts; SIZES: how many there is room for */
    const char *unit; /**< what stands for the value in help: "N"; NULL for flags */
    /** Default as text; NULL: none (0, NULL); "auto" of a number: the call finds it. */
    const char *value;
    /** numbers: an interval, "[1,inf)", "(0,1)"; NULL: any; texts and choices: names, "l2|l1" */
    const char *range;
    const char *group;     /**< heading in help; NULL: that of the verb */
    const char *help;      /**< noun phrase with unit */
    const char *aliases;   /**< other names, kept for good: "clip-norm|C"; NULL: none */
    const char *old_names; /**< names of earlier versions, accepted without a warning; NULL: none */
    /** INPUT: axes of an array by name, "n,classes"; those of one name are equal in all arrays; "n,features...": all axes but the
     *  first are flattened. NULL: no array. */
    const char *shape;
    /** INPUT: type of its numbers, "f4", "f8", "i8" (whole), "u1" (0 and 1); "f4|f8": as given, and `count` is the offset of the
     *  member in double precision; "f4?": NaN is allowed. */
    const char *dtype;
};

/** Table of a struct of options or inputs.
 *
 *  In:   name  that of the struct without sotto_ and _options: "audit", "audit_input", "head_recipe", "spend", ...
 *  Returns: rows that live as long as the program. The last one has name NULL; its capacity is the size of
 *           the struct. NULL: there is no such table */
SOTTO_API const struct sotto_option *sotto_option_table(const char *name);
/** What a call makes of the options that it is given. Ranges are not checked.
 *
 *  In:      given   the table's struct; NULL: {0}
 *  Out:     *out    a copy. Each member that is 0 or NULL gets its default ("auto": NAN, or 0 of a whole number);
 *                   each SOTTO_ZERO, SOTTO_NONE or SOTTO_SEED_ZERO becomes 0. Members without a row are copied.
 *  Returns: EINVAL  a pointer other than `given` is NULL */
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
