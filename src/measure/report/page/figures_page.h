/* figures_page.h - a sotto.figures/1 document, the plots of an experiment, as a page of its own. */
#ifndef REPORT_PAGE_FIGURES_PAGE_H
#define REPORT_PAGE_FIGURES_PAGE_H

#include "io/json/json.h"

#include <stdbool.h>

bool figures_is_document(const struct json *doc);
/** *html: free with sotto_text_free(). EFORMAT: a member is missing, or a point is no two or four finite numbers; ENOMEM. */
sotto_status figures_page(char **html, const struct json *doc);

#endif
