/* defend.h - defences on what a model shows: saved posteriors or embeddings in, rows of the same shape out.
 *
 * Start at sotto_defence_fit(). No defence here is a privacy mechanism and none gives a certificate. What a defence does
 * against one attacker is measured by sotto_defence_measure(); what it does against other attackers is unknown. The best
 * accuracy of an attacker on defended rows:
 *
 *     for (size_t i = 0; i < r.after.count; i++)
 *         if (r.after.attackers[i].accuracy.estimate > best)
 *             best = r.after.attackers[i].accuracy.estimate, name = r.after.attackers[i].name;
 *
 * Every char ** is a text: free with sotto_text_free() (sotto/private/io.h). Outputs are untouched when a call fails. */
#ifndef SOTTO_DEFEND_H
#define SOTTO_DEFEND_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rows of the kind to be defended, each with its protected label. Borrowed. */
struct sotto_defence_known {
    const float *x; /**< (n, d); NULL with n 0: no rows */
    /** (n) 1: a member, 0: a non-member; or the value 0 .. of an attribute. */
    const int64_t *protected_label;
    const int64_t *label; /**< (n) classes 0 .. of the task; NULL: not known */
    size_t n, d;
};
/** {0} but for the name: all defaults. */
struct sotto_defence_options {
    const char *name; /**< a name of sotto_defence_name(), e.g. "memguard" */
    double budget;    /**< [its usual one] in the defence's own unit, >= 0; none at all: SOTTO_ZERO */
    uint64_t seed;    /**< [1] of what the defence trains */
    /** [0] of the coins; keep it secret. A row's coin is a function of key and row, so the same query always gets the same
     *  answer. */
    uint64_t key;
    const char *const *settings; /**< "NAME=VALUE", NULL-terminated; NULL: the usual ones */
};
SOTTO_API void sotto_defence_defaults(struct sotto_defence_options *o);

/** Name of the i-th defence. Returns: NULL after the last. */
SOTTO_API const char *sotto_defence_name(size_t i);
/** One line about the i-th defence. Returns: NULL after the last. */
SOTTO_API const char *sotto_defence_title(size_t i);
/** What the budget limits. Returns: NULL: no such defence. */
SOTTO_API const char *sotto_defence_unit(const char *name);
/** Returns: NAN: no such defence. */
SOTTO_API double sotto_defence_usual_budget(const char *name);
/** Returns: 1: it defends probabilities; 0: any numbers; -1: no such defence. */
SOTTO_API int sotto_defence_of_posteriors(const char *name);
/** Out:     *text: all defences with their settings, for the terminal
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_list(char **text);

/** Checks that rows are what the defence takes: finite, and probabilities where it defends posteriors.
 *  In:      x (n, columns)
 *           what: starts the error text, such as a file's name
 *  Returns: EINVAL  "<what>: row 3 sums to 2.5, not to 1; ..."
 *           EUSAGE  no such defence */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_check(const char *name, const float *x, size_t n,
                                                            size_t columns, const char *what);

struct sotto_defence;
/** Trains what a defence needs. Deterministic: same inputs and options, same bits.
 *  In:      known: may be empty for a defence that trains nothing
 *  Out:     *out: free with sotto_defence_free()
 *  Returns: EUSAGE  no such defence or setting, a setting out of range, or rows or labels that it needs are missing
 *           EINVAL  a negative budget; rows that sotto_defence_check() refuses; protected labels of one value only
 *           ENOMEM, and the errors of sotto_head_train() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_fit(struct sotto_defence **out,
                                                          const struct sotto_defence_known *known,
                                                          const struct sotto_defence_options *options,
                                                          const struct sotto_context *ctx);
SOTTO_API void sotto_defence_free(struct sotto_defence *d);
/** Defends rows. Rows are independent of each other: the same row gets the same answer.
 *  In:      x (n, columns)
 *  Out:     out (n, columns)
 *           cost (n), or NULL: what the budget limits, for each row, expected over its coin
 *  Returns: EINVAL  rows that it cannot defend, or another number of columns than it was fitted to
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_apply(float *out, double *cost,
                                                            const struct sotto_defence *d, const float *x,
                                                            size_t n, size_t columns,
                                                            const struct sotto_context *ctx);

/** Rows of which an attacker infers the protected labels, and the attacker's own rows. */
struct sotto_defence_trial {
    /** Undefended, with protected labels; `label` serves the baseline that sees only whether the answer was right. */
    struct sotto_defence_known rows;
    const float *after; /**< (rows.n, rows.d): the same rows, defended */
    /** The attacker's own rows, undefended, with protected labels. */
    const struct sotto_defence_known *attacker;
    /** The attacker's rows, defended; NULL: the attacker does not know the defence. */
    const float *attacker_after;
    int posteriors; /**< 1: posteriors and memberships; 0: any numbers and attributes */
    uint64_t seed;  /**< [0] */
    size_t epochs;  /**< [100] of the network that infers membership */
};
/** One attacker. An estimate that this kind of attacker does not have is NAN. Intervals at 95 %. */
struct sotto_defence_attacker {
    const char *name; /**< "network", "confidence", "commonest", ... (docs/FORMATS.md, sotto.defend/1) */
    struct sotto_estimate accuracy, auc, balanced_accuracy, macro_f1;
};
/** Attackers that saw the same rows. */
struct sotto_defence_leakage {
    struct sotto_defence_attacker *attackers; /**< (count) */
    size_t count;
};
/** What attackers infer. Start from {0}; free with sotto_defence_result_free(). */
struct sotto_defence_result {
    const char *protected_label;            /**< "membership" or "attribute" */
    size_t attacker_rows;                   /**< rows that the attackers were trained on */
    struct sotto_defence_leakage before;    /**< trained and tested on undefended rows */
    struct sotto_defence_leakage after;     /**< trained on undefended rows, tested on defended rows */
    struct sotto_defence_leakage adaptive;  /**< trained and tested on defended rows; count 0: not measured */
    struct sotto_defence_leakage baselines; /**< without a look at the rows' numbers */
    struct sotto_audit_memory *memory;      /**< internal: holds all of the above */
};
/** Measures what attackers infer from undefended rows, from defended rows, and from defended rows after training on defended
 *  rows.
 *  Out:     *out: free with sotto_defence_result_free()
 *  Returns: EINVAL  protected labels of one value only, or shapes that do not fit
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_measure(struct sotto_defence_result *out,
                                                              const struct sotto_defence_trial *trial,
                                                              const struct sotto_context *ctx);
/** Frees what *r holds and leaves {0}. NULL: nothing. */
SOTTO_API void sotto_defence_result_free(struct sotto_defence_result *r);

/** One application of a defence: rows before and after, and the task's answers to them. */
struct sotto_defence_outcome {
    const float *before, *after; /**< (n, columns) */
    const double *cost;          /**< (n) */
    size_t n, columns;
    /** (n, classes) answers of the task's model to `before` and `after`; NULL: the rows themselves, if they are posteriors. */
    const float *answers_before, *answers_after;
    size_t classes;
    const int64_t *label;                        /**< (n) true classes; NULL: unknown */
    const struct sotto_defence_result *measured; /**< of sotto_defence_measure(), or NULL */
};
/** A file that took part. */
struct sotto_defence_file {
    const char *role, *path;
};
/** A parameter of the defence and its value. */
struct sotto_defence_setting {
    const char *name;
    double value;
};
/** A file that took part, as a record holds it: without its name. */
struct sotto_defence_input {
    const char *role;
    char sha256[65]; /**< hexadecimal */
};
/** Distances between rows before and after. */
struct sotto_defence_distortion {
    /** What the budget limits, expected over the coins: mean and maximum over the rows. */
    double expected, largest_expected;
    double mean_l1, largest_l1, mean_l2, largest_l2, largest_linf;
    double changed_rows; /**< share */
};
/** What the task's model loses. */
struct sotto_defence_utility {
    double labels_kept; /**< share of rows with the same predicted class; NAN: not measured */
    struct sotto_estimate accuracy_before, accuracy_after; /**< estimate NAN: true classes unknown */
};
/** The record of an application. Start from {0}; free with sotto_defence_record_free(). */
struct sotto_defence_record {
    const char *defence, *title, *source; /**< its name, one line about it, its paper */
    const char *statement;                /**< that nothing is proved */
    double budget;
    const char *budget_unit;
    struct sotto_defence_setting *settings; /**< (setting_count) */
    size_t setting_count;
    uint64_t seed;
    size_t known; /**< rows that the defence was fitted to */
    size_t rows, columns;
    struct sotto_defence_input *inputs; /**< (input_count) */
    size_t input_count;
    struct sotto_defence_distortion distortion;
    struct sotto_defence_utility utility;
    const struct sotto_defence_result *attack; /**< what attackers infer; NULL: not measured */
};
/** Makes the record of an application.
 *  In:      files (file_count)
 *  Out:     *out: free with sotto_defence_record_free(). It borrows outcome->measured and the files' roles.
 *  Returns: EINVAL       there are no rows
 *           ENOENT, EIO  a file cannot be hashed
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_record(struct sotto_defence_record *out,
                                                             const struct sotto_defence *d,
                                                             const struct sotto_defence_outcome *outcome,
                                                             const struct sotto_defence_file *files,
                                                             size_t file_count);
/** Frees what *r holds and leaves {0}. NULL: nothing. */
SOTTO_API void sotto_defence_record_free(struct sotto_defence_record *r);
/** Out:     *json: its "sotto.defend/1" object (docs/FORMATS.md), one line
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_encode(char **json,
                                                             const struct sotto_defence_record *r);
/** Writes that object, indented; the file appears whole or not at all.
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_save_record(const char *path,
                                                                  const struct sotto_defence_record *r);
/** Out:     *text: lines for the terminal
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_summary(char **text,
                                                              const struct sotto_defence_record *r);

#ifdef __cplusplus
}
#endif
#endif
