/* report.h - an offline HTML page from a report document, in memory or as a file. No promise: it may change with any version.
 *
 * Every char ** is a text: free with sotto_text_free(). Outputs are untouched when a call fails. */
#ifndef SOTTO_LAB_REPORT_H
#define SOTTO_LAB_REPORT_H

#include "sotto/lab/audit.h"

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

#ifdef __cplusplus
}
#endif
#endif
