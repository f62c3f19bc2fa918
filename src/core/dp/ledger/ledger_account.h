/* ledger_account.h - a ledger's columns, composed, and a release against the budget. */
#ifndef DP_LEDGER_LEDGER_ACCOUNT_H
#define DP_LEDGER_LEDGER_ACCOUNT_H

#include "dp/ledger/ledger_columns.h"
#include "dp/ledger/ledger_sums.h"

/** A column at `delta` under replace-one: by its events, or by what its entries recorded if that is less.
 * ENOMEM. */
sotto_status ledger_column_account(struct sotto_account *out, const struct ledger_sum *sum,
                                   const struct ledger_events *events, double delta,
                                   const struct sotto_context *ctx);
/** Everything together: both columns as one. This is the total that budgets count and that every page, program and
 * language shows. An entry with seeded noise gives no guarantee, so its total is INFINITY ("none"). ENOMEM. */
sotto_status ledger_total_account(struct sotto_account *out, const struct ledger *l, double delta,
                                  const struct sotto_context *ctx);
/** EBUDGET unless a column of the budget (if there is one) holds this charge too, whatever the analyst chose by what was seen;
 * *out (or NULL): what is written of it. ENOMEM. */
sotto_status ledger_check_budget(struct admission *out, const struct ledger *l,
                                 const struct sotto_account *account, const struct ledger_charge *charge);
/** The same of pure releases that follow, all together. */
sotto_status ledger_check_pure(const struct ledger *l, double epsilon);
/** EINVAL: no budget; asked before a ledger is touched. */
sotto_status ledger_require_budget(struct sotto_dp budget);
/** A budget that came with a release: once, tightened at will, never raised (EBUDGET). It holds from here on and is written with the
 * charge (ledger_write_budget()), so that a release that is refused writes nothing. Where an officer set one, a tighter budget holds
 * until the ledger is closed. epsilon 0: none came; its delta NAN: that of the recorded budget, else `delta`, the release's. EINVAL. */
sotto_status ledger_name_budget(struct ledger *l, struct sotto_dp budget, double delta);
/** What waits of that, if anything: a line that counts only with the `followed_by` lines behind it. Errors of ledger_append(). */
sotto_status ledger_write_budget(struct ledger *l, size_t followed_by);
/** Records the officer's. EBUDGET: the ledger holds a tighter one. */
sotto_status ledger_set_budget(struct ledger *l, struct sotto_dp budget, const struct sotto_ledger_card *card,
                               const struct sotto_ledger_column *columns, size_t n,
                               const struct sotto_context *ctx);
/** Warns when delta >= 1 / records; 0 records: unknown. */
void ledger_warn_about_delta(size_t records, double delta, const struct sotto_context *ctx);

/** EBUDGET: its charges are of records and `unit` of a person, or the other way round, or of persons of another column. */
sotto_status ledger_require_unit(const struct ledger *l, const struct privacy_unit *unit);

#endif
