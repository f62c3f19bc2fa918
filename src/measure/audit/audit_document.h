/* audit_document.h - a result as a document in this process, for those who put it into another one. */
#ifndef AUDIT_AUDIT_DOCUMENT_H
#define AUDIT_AUDIT_DOCUMENT_H

#include "sotto/audit.h"

struct json;
struct sotto_audit_options;

/* Out: *out  what an attack hands on to its audit, resolved: it lists no most vulnerable members unless asked for them.
 *            options_state() makes it options of sotto_audit() again. */
sotto_status audit_of_attack(struct sotto_audit_options *out, const struct sotto_audit_options *given);

/* The object of a result, NULL without memory (which json_dump() reports). */
struct json *audit_encode(const struct sotto_audit_result *r);
/* sotto_audit_decode() of a document in this process. */
sotto_status audit_decode(struct sotto_audit_result *out, const struct json *doc);
/* A member of the document that has no struct; takes `value`, also on failure. ENOMEM. */
sotto_status audit_put_more(struct sotto_audit_result *r, const char *key, struct json *value);

#endif
