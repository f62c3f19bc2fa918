/* report_write.h - a document that was made in this process becomes a folder. */
#ifndef REPORT_REPORT_WRITE_H
#define REPORT_REPORT_WRITE_H

#include "base/status.h"

#include <stdbool.h>

struct json;
struct report;

/* Checks a document, writes its verdicts into it and reads it again. Takes doc, also on failure. EFORMAT, ENOMEM. */
sotto_status report_judge(struct report *out, struct json *doc);
/* Judges a document; then writes result.json (result; NULL: no such file), report.json, the companions and report.html to
 * folder, which is made if it is not there. Takes doc, also on failure. EFORMAT, ENOMEM, ECREATE, EIO. */
sotto_status report_write(const char *folder, struct json *doc, const struct json *result);
/* Adds {text, met} to a guarantee's list of assumptions. */
void report_assume(struct json **list, const char *text, bool met);
/* Adds each condition of a certificate as a sentence that nobody has met yet. */
void report_assume_conditions(struct json **list, const char *conditions);

#endif
