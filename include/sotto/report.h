/* report.h - one offline HTML page from one JSON document. */
#ifndef SOTTO_REPORT_H
#define SOTTO_REPORT_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Renders a "sotto.report/1" document (docs/FORMATS.md) as a single self-contained HTML file: no network, readable
 *  without script, all text escaped. EFORMAT names the missing or wrong member. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_render(const char *html_path, const char *report_json);

#ifdef __cplusplus
}
#endif
#endif
