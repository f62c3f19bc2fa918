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
    uint64_t reserved[4]; /**< zeros: room for later members */
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
/** Axes of a comparison; less is better on all but utility. */
enum sotto_compare_axis {
    SOTTO_AXIS_UTILITY,    /**< accuracy on records that trained nothing */
    SOTTO_AXIS_MEMBERSHIP, /**< the largest AUC of its attacks, as the next */
    SOTTO_AXIS_ENCODER,
    SOTTO_AXIS_ATTRIBUTE, /**< balanced accuracy */
    SOTTO_AXES
};
/** Against the first model: whole interval beyond its interval is better, estimate beyond it is worse. */
enum sotto_compare_change {
    SOTTO_CHANGE_UNKNOWN,
    SOTTO_CHANGE_NONE,
    SOTTO_CHANGE_BETTER,
    SOTTO_CHANGE_WORSE
};
struct sotto_compare_row {
    const char *name;
    struct sotto_estimate axis[SOTTO_AXES]; /**< estimate NAN: not measured */
    const char *by[SOTTO_AXES];             /**< the attack behind the number, or NULL */
    enum sotto_compare_change change[SOTTO_AXES];
    int front, worse, wins; /**< on the Pareto front; worse on any axis; something better and nothing worse */
};
/** A comparison. Start from {0}; free with sotto_compare_result_free(). */
struct sotto_compare_result {
    const char *version, *title;
    size_t row_count;
    struct sotto_compare_row *rows; /**< the first is what the others are compared with */
    int shared[SOTTO_AXES];         /**< every row has it: the front is over these */
    size_t choice[SOTTO_AXES]; /**< the row which improves this axis most and worsens none; 0: no row does */
    struct sotto_audit_memory *memory; /**< the library's */
};
/** Utility, membership (worst attack), membership of the encoder (worst attack) and attribute of several models side by
 *  side; the first is the original. So is a strength picked among several, a lambda or a budget (docs/FORMATS.md).
 *  title NULL: "Comparison". EINVAL: fewer than two models, names; ENOENT, EFORMAT: name the file. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare(struct sotto_compare_result *out,
                                                      const struct sotto_compared *rows, size_t count,
                                                      const char *title);
SOTTO_API void sotto_compare_result_free(struct sotto_compare_result *r);
/** *json: its "sotto.compare/1" object, one line; free with sotto_text_free(). ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_encode(char **json,
                                                             const struct sotto_compare_result *r);
/** The comparison that such an object holds. EFORMAT. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_decode(struct sotto_compare_result *out,
                                                             const char *json);
/** A table for people, or a page of HTML (free with sotto_text_free). ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_summary(char **text,
                                                              const struct sotto_compare_result *r);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_page(char **html, const struct sotto_compare_result *r);
/** Writes folder/compare.json, compare.csv and report.html; makes the folder. ECREATE, EIO. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_compare_write(const char *folder,
                                                            const struct sotto_compare_result *r);

#ifdef __cplusplus
}
#endif
#endif
