/* report.h - an offline HTML page from an audit, a comparison or a report document; in memory or as a file.
 *
 * Every char ** is a text: free with sotto_text_free() (sotto/private/io.h). Outputs are untouched when a call fails. */
#ifndef SOTTO_REPORT_H
#define SOTTO_REPORT_H

#include "sotto/audit.h"
#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The page of a report: one self-contained HTML document. It loads nothing, reads without script, and escapes all text.
 *  Same document, same bytes.
 *  In:      report_json: a "sotto.report/1" document (docs/FORMATS.md)
 *  Out:     *html: the page
 *  Returns: EFORMAT  names the member that is missing or wrong
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_html(char **html, const char *report_json);
/** Writes that page to html_path; the file appears whole or not at all.
 *  Returns: EFORMAT, ENOMEM  as above
 *           ECREATE, EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_render(const char *html_path, const char *report_json);
/** Reads the document from json_path and writes its page to html_path. It is a report, or has a page of its own, as a
 *  "sotto.figures/1" object has (docs/FORMATS.md). Modules add pages and sections (sotto/lab.h).
 *  In:      beside: files of documents that the page of a report shows too, each in a section by its schema; ends with NULL.
 *                   NULL: none
 *  Returns: EINVAL           a document with a page of its own takes none
 *           ENOENT, EIO      json_path, beside
 *           EFORMAT, ENOMEM  as above, with the path of the file in front
 *           ECREATE, EIO     html_path */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_render_file(const char *html_path, const char *json_path,
                                                                 const char *const *beside);

/** The verdict on one row of a report. */
struct sotto_report_verdict {
    const char *name; /**< of the row */
    enum sotto_verdict kind;
    const char *text;          /**< the same in a sentence or two */
    const char *attack;        /**< the strongest attack; NULL: none was run */
    struct sotto_estimate auc; /**< of that attack; NAN: none was run */
};
/** The verdicts of a report. Start from {0}; free with sotto_report_judgement_free(). */
struct sotto_report_judgement {
    size_t row_count;
    struct sotto_report_verdict *rows; /**< (row_count) */
    /** The row that decides on the report: the one with the worst verdict among the protected rows, or among all if none
     *  is protected. */
    size_t decisive;
    struct sotto_audit_memory *memory; /**< internal: holds all of the above */
};
/** Judges a report. Verdicts follow from the numbers alone.
 *  In:      report_json: verdicts in it are not read
 *  Out:     *out: free with sotto_report_judgement_free()
 *  Returns: EFORMAT, ENOMEM  as above */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_judge(struct sotto_report_judgement *out,
                                                           const char *report_json);
/** Frees what *j holds and leaves {0}. NULL: nothing. */
SOTTO_API void sotto_report_judgement_free(struct sotto_report_judgement *j);

/** Writes the companions of a page.
 *
 *  MODEL_CARD.md  the findings, and lines to fill in by hand
 *  attacks.csv    a line for each attack and false-positive rate
 *
 *  In:      folder: exists
 *           report_json: a "sotto.report/1" document
 *  Returns: EFORMAT, ENOMEM  as above
 *           ECREATE, EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_files(const char *folder, const char *report_json);

/** One input file of an audit. The report holds its role and SHA-256, not its name. */
struct sotto_report_input {
    const char *role; /**< "member logits", ... */
    const char *path;
};
/** What a report says of an audit besides its result. {0}: nothing. */
struct sotto_audit_facts {
    const char *title;                       /**< NULL: "Membership audit" */
    const struct sotto_report_input *inputs; /**< (inputs_count), or NULL */
    size_t inputs_count;
    /** Certificate of the audited model, or the released file beside it: it is verified, and what it proves or conditions
     * stands beside what was measured. That the audited answers are those of this file rests on the caller. NULL: none */
    const char *certificate;
    const char *ledger; /**< that was charged for it; NULL: not at hand, and the page says so */
    /** Command that repeats the audit, for the page; names of files do not belong in it. NULL: none */
    const char *command;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** The page of an audit. If the environment has SOURCE_DATE_EPOCH, that is the time that the page shows.
 *  In:      audit: the result
 *           facts: NULL: nothing besides
 *  Out:     *html: the page that sotto_report_audit() writes
 *  Returns: EFORMAT      the result holds something that a report refuses
 *           ENOENT, EIO  an input file cannot be hashed
 *           EGATE        the certificate does not verify
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_audit_html(char **html,
                                                                const struct sotto_audit_result *audit,
                                                                const struct sotto_audit_facts *facts);
/** Writes result.json (the audit), report.json, report.html and the companions.
 *  In:      folder: made if it is not there
 *           audit: the result
 *           facts: NULL: nothing besides
 *  Returns: as above
 *           ECREATE, EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_audit(const char *folder,
                                                           const struct sotto_audit_result *audit,
                                                           const struct sotto_audit_facts *facts);

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
    const char
        *swapped; /**< a verdict that asks whether members and non-members are swapped; NULL: none does */
    double delta; /**< of the proved epsilon; NAN: none */
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
/** In:      json: a "sotto.compare/1" object
 *  Out:     *out: the comparison that it holds
 *  Returns: EFORMAT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_decode(struct sotto_compare_result *out,
                                                             const char *json);
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
