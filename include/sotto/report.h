/* report.h - one offline HTML page from one JSON document. */
#ifndef SOTTO_REPORT_H
#define SOTTO_REPORT_H

#include "sotto/audit.h"
#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Renders a "sotto.report/1" document (docs/FORMATS.md) as a single self-contained HTML file: no network, readable
 *  without script, all text escaped. Same document, same bytes. EFORMAT names the missing or wrong member. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_render(const char *html_path, const char *report_json);
/** The same from a file. ENOENT, EIO, and as above with the file's name in front. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_render_file(const char *html_path,
                                                                 const char *json_path);
/** *judged: the document with its verdicts filled in, per row and for the whole (free with sotto_text_free). They follow
 *  from the numbers alone; verdicts that the document already has are replaced. EFORMAT as above. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_judge(char **judged, const char *report_json);

/** Writes folder/MODEL_CARD.md (what was found, and lines for what only people know) and attacks.csv (a line for each attack
 *  and false-positive rate) from a "sotto.report/1" document. The folder exists. EFORMAT, ECREATE, EIO. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_files(const char *folder, const char *report_json);

/** One input of an audit: what it is ("member logits") and the file, of which only the SHA-256 is kept. */
struct sotto_report_input {
    const char *role, *path;
};
struct sotto_audit_facts {
    const char *title;                       /**< NULL: "Membership audit" */
    const struct sotto_report_input *inputs; /**< inputs_count entries, or NULL */
    size_t inputs_count;
};
/** Writes folder/result.json (the audit), report.json, report.html and its companions; makes the folder. The time in the
 *  report is SOURCE_DATE_EPOCH if that is set. Errors: EFORMAT, ECREATE, EIO. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_audit(const char *folder,
                                                           const struct sotto_audit_result *audit,
                                                           const struct sotto_audit_facts *facts);

/** A model in a comparison: files with its "sotto.audit/1" objects (of its answers, of its encoder, of an attribute). */
struct sotto_compared {
    const char *name;
    const char *const *files; /**< (file_count) */
    size_t file_count;
};
/** Utility, membership (worst attack), membership of the encoder (worst attack) and attribute of several models side by
 *  side; the first is the original. *json: a "sotto.compare/1" object that says per model and axis what changed, who is
 *  on the Pareto front, who wins (something better, nothing worse), and for each axis which winner mends it most: so is a
 *  strength picked among several, a lambda or a budget (docs/FORMATS.md). *html: a page of it; may be
 *  NULL. Free both with sotto_text_free(). EINVAL: fewer than two models, names; ENOENT, EFORMAT:
 *  name the file. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare(char **json, char **html,
                                                      const struct sotto_compared *rows, size_t count,
                                                      const char *title);
/** Such an object as a table for people (free with sotto_text_free). EFORMAT. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_summary(char **text, const char *json);
/** Writes folder/compare.json, compare.csv and report.html; makes the folder. ECREATE, EIO, EFORMAT. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_write(const char *folder, const char *json,
                                                            const char *html);

#ifdef __cplusplus
}
#endif
#endif
