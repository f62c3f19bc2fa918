/* document_pages.h - documents of which `report` can make a page, or a section of the page of a report. Each kind is a record: one of
 * this room or of a module (base/plugs.h). */
#ifndef REPORT_DOCUMENT_DOCUMENT_PAGES_H
#define REPORT_DOCUMENT_DOCUMENT_PAGES_H

#include "report/document/document_reader.h"

struct page; /* report/page/page.h */

/* A document with a page of its own. */
struct document_page {
    const char *schema; /* "sotto.figures/1" */
    /** *html: free with sotto_text_free(). EFORMAT: a member is missing or out of range; ENOMEM. */
    sotto_status (*write)(char **html, const struct json *doc);
};
/* A document that a report holds as a member, and shows in a section. */
struct document_section {
    const char *key, *schema; /* "monitor", "sotto.monitor/1" */
    /** top: the report, whose member is there and has this schema. EFORMAT names the member. */
    sotto_status (*check)(const struct reader *top);
    void (*write)(struct page *p, const struct report *r); /* called where the member is there */
};

/** NULL: this schema has no page. */
const struct document_page *document_page_of(const struct json *doc);
/** NULL: a report shows nothing of this schema. */
const struct document_section *document_section_of(const struct json *doc);
/** Section i; NULL: there are no more. */
const struct document_section *document_section_at(size_t i);

#endif
