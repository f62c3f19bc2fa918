/* report.h - an offline HTML page from a report document, in memory or as a file. No promise: it may change with any version.
 *
 * Every char ** is a text: free with sotto_text_free(). Outputs are untouched when a call fails. */
#ifndef SOTTO_LAB_REPORT_H
#define SOTTO_LAB_REPORT_H

#include "sotto/lab/audit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Reads the document from json_path and writes its page to html_path: one self-contained HTML document. It loads nothing, reads
 *  without script, and escapes all text. Same document, same bytes. The document is a "sotto.report/1" object, or has a page of its
 *  own, as a "sotto.figures/1" object has (docs/FORMATS.md). Modules add pages and sections (sotto/lab.h).
 *  In:      beside: files of documents that the page of a report shows too, each in a section by its schema; ends with NULL.
 *                   NULL: none
 *  Returns: EINVAL           a document with a page of its own takes none
 *           ENOENT, EIO      json_path, beside
 *           EFORMAT          names the file, and the member that is missing or wrong
 *           ENOMEM
 *           ECREATE, EIO     html_path */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_render_file(const char *html_path, const char *json_path,
                                                                 const char *const *beside);

#ifdef __cplusplus
}
#endif
#endif
