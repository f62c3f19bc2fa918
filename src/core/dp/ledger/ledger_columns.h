/* ledger_columns.h - what a ledger still holds for an analyst who looks at each release before choosing the next one.
 *
 * Columns are fixed with the budget by `sotto ledger init`, else with the first charge, before its noise is drawn; a ledger of before has
 * them opened by its next charge, with what was spent so far. Until something is charged they may be replaced: by the officer, and the
 * default ones by a first release that they cannot hold. What each charge takes of them is in its line, and is never computed again. */
#ifndef DP_LEDGER_LEDGER_COLUMNS_H
#define DP_LEDGER_LEDGER_COLUMNS_H

#include "dp/columns/columns_json.h"
#include "dp/ledger/ledger.h"

/** What columns a charge would take; *fits: one column lives, or there is no budget.
 * ENOMEM. */
sotto_status ledger_admit(struct admission *out, bool *fits, const struct ledger *l, struct sotto_dp budget,
                          const struct ledger_item *item, const struct sotto_context *ctx);
/** What a reservation takes when fewer steps were taken: of each column at most what it took. ENOMEM. */
sotto_status ledger_admit_settled(struct admission *out, const struct ledger_item *reserved,
                                  const struct ledger_item *settled, const struct sotto_context *ctx);
/** The budget that columns are of: the one that they were fixed for, else the recorded one. Columns are not fixed anew for a tighter
 * budget: by then answers were seen. */
struct sotto_dp ledger_columns_budget(const struct ledger *l);
/** What holds for an analyst who looks at each release before choosing the next one: the budget's numbers, or the first level that
 * holds. epsilon NAN: its charges are of before there were columns; INFINITY: no column holds them. */
struct sotto_dp ledger_any_order(const struct ledger *l);
/** Keeps the columns as they are before the next charge, which may be settled. */
void ledger_columns_keep(struct ledger *l);
/** Adds up anew what was charged since one that was settled: from the columns that were kept, or if it is older all. false: they do not fit. */
bool ledger_columns_again(struct ledger *l, const struct ledger_item *settled);
/** Replaces what a reservation took. false: it would be more, or of other columns. */
bool ledger_columns_settle(struct any_order *reserved, const struct any_order *settled);
/** Opens columns as they were written. */
void ledger_columns_start(struct ledger *l, const struct opened_columns *opened);
/** For a budget? Those of a ladder, or none, are replaced when there is one. */
bool ledger_columns_are_of_budget(const struct ledger *l);
/** For a budget, with a charge behind them, and so for good? Levels without a budget make room for those of one. */
bool ledger_columns_are_fixed(const struct ledger *l);
/** The columns that an officer asks for, with what was charged before. EBUDGET: others are fixed, or none of these would live;
 * EINVAL, EDOMAIN as adaptive_columns_open(). */
sotto_status ledger_columns_ask(struct opened_columns *out, const struct ledger *l, struct sotto_dp budget,
                                const struct sotto_ledger_column *columns, size_t n,
                                const struct sotto_context *ctx);
/** The columns of a budget for which none are asked; *fixes: they hold what was charged before, and no others are fixed. ENOMEM, EDOMAIN. */
sotto_status ledger_columns_default(struct opened_columns *out, bool *fixes, const struct ledger *l,
                                    struct sotto_dp budget, const struct sotto_context *ctx);
/** Adds what a charge took. false: it says nothing of these columns, or they do not hold it. */
bool ledger_columns_count(struct ledger *l, const struct any_order *a);

#endif
