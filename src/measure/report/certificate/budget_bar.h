/* budget_bar.h - what a ledger's budget has left, in the words of every page that says it. */
#ifndef REPORT_CERTIFICATE_BUDGET_BAR_H
#define REPORT_CERTIFICATE_BUDGET_BAR_H

#include "io/json/json.h"
#include "report/page/page.h"

/** ledger: as shown. releases, elsewhere: trusted HTML: whose epsilon is counted, and who says what holds for any order of choices. */
void budget_bar_put(struct page *p, const struct json *ledger, const char *releases, const char *elsewhere);

#endif
