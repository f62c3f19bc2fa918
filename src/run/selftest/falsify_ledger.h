/* falsify_ledger.h - a budget attacked by an analyst who looks at the first answer before he chooses the second release. */
#ifndef SELFTEST_FALSIFY_LEDGER_H
#define SELFTEST_FALSIFY_LEDGER_H

#include "selftest/checks.h"

/** Name of its check. */
extern const char *const falsify_ledger_name;
/** The policy of docs/derivations/adaptive.md, section 0. A ledger itself says which second releases it accepts. What the policy
 * makes of them is added up over the first answer, from below. Nothing is drawn for that, so a ledger that keeps its budget is never
 * accused. EIO, ENOMEM, ESTOPPED: the ledger was not asked. */
sotto_status falsify_ledger(struct checks *c, const char *folder, const struct sotto_context *ctx);

#endif
