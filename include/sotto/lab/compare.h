/* compare.h - several models side by side: utility, leakage, what is proved of them. No promise: it may change with any version.
 *
 * Every char ** is a text: free with sotto_text_free(). Outputs are untouched when a call fails. */
#ifndef SOTTO_LAB_COMPARE_H
#define SOTTO_LAB_COMPARE_H

#include "sotto/lab/audit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A model in a comparison: files with its "sotto.audit/1" objects (of its answers, of its encoder, of an attribute). */
struct sotto_compared {
    const char *name;
    const char *const *files; /**< (file_count) */
    size_t file_count;
    /** Certificate of the model, or the released file beside it, and the ledger that was charged: verified. NULL: none. */
    const char *certificate, *ledger;
};
/** Axes of a comparison; less is better on all but utility.
 *
 *  Leakage ranks the models: the largest of |AUC - .5| and TPR - FPR, over the attacks and rates that all models have. The opposite
 *  guess of an attack, with AUC below .5, leaks as much. */
enum sotto_compare_axis {
    SOTTO_AXIS_UTILITY,    /**< accuracy on records outside the training set */
    SOTTO_AXIS_LEAKAGE,    /**< of the attacks on the model's answers */
    SOTTO_AXIS_MEMBERSHIP, /**< largest AUC of their better guesses */
    SOTTO_AXIS_TPR,        /**< largest TPR at the lowest false-positive rate of all models */
    SOTTO_AXIS_EPSILON,    /**< proved by the certificate; it decides no winner */
    SOTTO_AXIS_ENCODER,    /**< largest AUC of the better guesses of attacks on its encoder */
    SOTTO_AXIS_ATTRIBUTE,  /**< balanced accuracy of attribute inference */
    SOTTO_AXES
};
/** A change against the first model. */
enum sotto_compare_change {
    SOTTO_CHANGE_UNKNOWN,
    SOTTO_CHANGE_NONE,
    SOTTO_CHANGE_BETTER, /**< the whole interval is beyond the first model's interval */
    SOTTO_CHANGE_WORSE   /**< the estimate is beyond the first model's interval */
};
struct sotto_compare_row {
    const char *name;
    struct sotto_estimate axis[SOTTO_AXES]; /**< estimate NAN: not measured */
    const char *by[SOTTO_AXES];             /**< the attack behind the number, or NULL */
    enum sotto_compare_change change[SOTTO_AXES];
    int front;                  /**< 1: on the Pareto front */
    int worse;                  /**< 1: worse on an axis that is not epsilon */
    int wins;                   /**< 1: better on an axis that is not epsilon, and worse on none */
    enum sotto_verdict verdict; /**< the worst on its audits (sotto_audit_judge()) */
    /** a verdict that asks whether members and non-members are swapped; NULL: none does */
    const char *swapped;
    double delta;          /**< of the proved epsilon; NAN: none */
    const char **left_out; /**< attacks on its answers that another model lacks */
    size_t left_out_count;
};
/** A comparison. Start from {0}; free with sotto_compare_result_free(). */
struct sotto_compare_result {
    const char *version, *title;
    size_t row_count;
    struct sotto_compare_row *rows; /**< the first is what the others are compared with */
    int shared[SOTTO_AXES];         /**< 1: every row has this axis; the front is over these axes */
    /** The row that improves this axis most and worsens none; 0: no row does. */
    size_t choice[SOTTO_AXES];
    /** Of the rows that win: of those that leak no more than the least leaking one, as far as the intervals tell, the most useful.
     *  0: no row wins. */
    size_t winner;
    const char **attacks; /**< on the models' answers, that all models have: leakage is over these */
    size_t attack_count;
    double fpr;                        /**< of SOTTO_AXIS_TPR; NAN: no rate was measured for all */
    struct sotto_audit_memory *memory; /**< internal: holds all of the above */
};
/** Compares utility, leakage, encoder and attribute inference of several models, and what is proved of them. A strength picked among
 *  several, such as a lambda or a budget, is compared in the same way (docs/FORMATS.md).
 *  In:      rows (count): the models, the original first
 *           title: NULL: "Comparison"
 *  Returns: EINVAL           fewer than two models, a name that is empty or taken, or no attack that all attacked models have
 *           ENOENT, EFORMAT  names the file
 *           EGATE            a certificate does not verify, or its noise was seeded
 *           EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare(struct sotto_compare_result *out,
                                                      const struct sotto_compared *rows, size_t count,
                                                      const char *title);
SOTTO_API void sotto_compare_result_free(struct sotto_compare_result *r);
/** Out:     *json: its "sotto.compare/1" object, one line
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_encode(char **json,
                                                             const struct sotto_compare_result *r);
/** Out:     *text: a table for the terminal
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_summary(char **text,
                                                              const struct sotto_compare_result *r);
/** Out:     *html: the page that sotto_compare_write() writes
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_html(char **html, const struct sotto_compare_result *r);
/** Writes compare.json, compare.csv (a line for each model and axis) and report.html.
 *  In:      folder: made if it is not there
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_write(const char *folder,
                                                            const struct sotto_compare_result *r);

#ifdef __cplusplus
}
#endif
#endif
