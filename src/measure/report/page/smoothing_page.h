/* smoothing_page.h - a sotto.smooth/1 document as a page of its own. */
#ifndef REPORT_PAGE_SMOOTHING_PAGE_H
#define REPORT_PAGE_SMOOTHING_PAGE_H

#include "io/json/json.h"

#include <stdbool.h>

bool smoothing_is_document(const struct json *doc);
/** *html: free with sotto_text_free(). EFORMAT: a member is missing or out of range, or it has no radii; ENOMEM. */
sotto_status smoothing_page(char **html, const struct json *doc);

#endif
