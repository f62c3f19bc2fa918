/* sheet.h - sections of labelled lines, as text of at most 100 columns or as the annex of a page that can be printed. */
#ifndef REPORT_CERTIFICATE_SHEET_H
#define REPORT_CERTIFICATE_SHEET_H

#include "report/page/page.h"

struct sheet {
    struct page page;
    bool html, open; /* open: a section was begun */
};
/** The head of a page of sheets, and what ends its last one. */
void sheet_head(struct page *p, const char *title);
#define SHEET_END "</section>\n</main>\n</body>\n</html>\n"
/** The head of the document; the text is a title alone. */
void sheet_begin(struct sheet *s, bool html, const char *title);
/** The sheet with the sections begins; verdict: the page's first heading, if it has no sheet in front. */
void sheet_annex(struct sheet *s, const char *verdict);
void sheet_section(struct sheet *s, const char *title);
/** One line; the text may come from a file. */
void sheet_line(struct sheet *s, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** base_free() *out. ENOMEM. */
sotto_status sheet_end(char **out, struct sheet *s);

#endif
