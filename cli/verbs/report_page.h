/* report_page.h - sotto report, for parts of that verb which show a document beside a report. */
#ifndef CLI_VERBS_REPORT_PAGE_H
#define CLI_VERBS_REPORT_PAGE_H

#include "options/options.h"

/* beside: files, ends with NULL; NULL: none. */
sotto_status report_page(const struct options *o, const char *const *beside, int json);

#endif
