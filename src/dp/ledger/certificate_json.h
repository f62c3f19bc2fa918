/* certificate_json.h - accounts and certificates as JSON: the one encoder. */
#ifndef DP_LEDGER_CERTIFICATE_JSON_H
#define DP_LEDGER_CERTIFICATE_JSON_H

#include "dp/ledger/certificate.h"
#include "io/json/json.h"

/** {"l1":..,"l2":..,"source":..,"statement":..,"evidence":..} */
struct json *certificate_sensitivity(const struct sotto_sensitivity *s);
/** Adds epsilon, delta, accountant, pure_epsilon, zcdp_rho, bounds to *object. */
void certificate_put_account(struct json **object, const struct sotto_account *account);
/** The part "guarantee": what is proved, what is conditional, and one line for people. */
struct json *certificate_guarantee(const struct sotto_certificate *c);

#endif
