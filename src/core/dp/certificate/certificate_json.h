/* certificate_json.h - JSON of accounts, and of certificates and their parts. */
#ifndef DP_CERTIFICATE_CERTIFICATE_JSON_H
#define DP_CERTIFICATE_CERTIFICATE_JSON_H

#include "dp/certificate/certificate.h"

struct json;

/** The document of a certificate, for the file of that SHA-256 ("": none yet). Free with base_free(). ENOMEM. */
sotto_status certificate_document(char **text, const struct sotto_certificate *c, const char *output_sha256);
/** Adds what an account guarantees: epsilon, delta, accountant, adjacency, bounds. */
void account_put(struct json **object, const struct sotto_account *a);
/** Adds which slot of which plan a release is: {"id": hash of the plan's line, "slot": from 1}, as the member "plan". */
void plan_slot_put(struct json **object, const char *plan, size_t slot);
/** The other way round; *plan is borrowed. EFORMAT. */
sotto_status plan_slot_get(const char **plan, size_t *slot, const struct json *object, const char *name);
/** {"l1":..,"l2":..,"source":..,"statement":..,"evidence":..} */
struct json *certificate_sensitivity(const struct sotto_sensitivity *s);
/** The part "guarantee": what is proved, what is conditional, and one line for people. */
struct json *certificate_guarantee(const struct sotto_certificate *c);

/** The queries of a statistic, [{"query", "cells", "mass", "choice_scale"*, "block_scale"*}, ...]; NULL: none.
 *  Out:     *out  (count), base_free(); their texts are those of the document
 *  Returns: EFORMAT, ENOMEM */
sotto_status certificate_queries_read(struct certificate_query **out, size_t *count,
                                      const struct json *queries, const char *name);

#endif
