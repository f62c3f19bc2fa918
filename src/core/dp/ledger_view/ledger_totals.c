/* The columns of a ledger, each composed for itself. */
#include "dp/ledger/ledger_account.h"
#include "dp/mechanism/require.h"
#include "dp/ledger_view/ledger_show_json.h"

static sotto_status ledger_totals_column(struct ledger_column *out, const struct ledger_sum *sum,
                                         const struct ledger_events *events, double delta,
                                         const struct sotto_context *ctx)
{
    *out = (struct ledger_column){.releases = sum->releases,
                                  .add_remove = events->add_remove,
                                  .pure = decimal_up(sum->pure),
                                  .rho = sum->rho};
    return ledger_column_account(&out->account, sum, events, delta, ctx);
}

sotto_status sotto_ledger_account(char **json, const char *ledger, double delta,
                                  const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(json, ledger);
    sotto_status status = SOTTO_OK;
    struct ledger l = {.lock = {.fd = -1}};
    struct ledger_sums sums = {.proved = {.releases = 0}};
    struct ledger_totals t;
    TRY(require_delta(delta));
    TRY(ledger_read(&l, ledger));
    TRY(ledger_sums_of(&sums, &l));
    ledger_warn_of_cut(&l, ctx);
    t = (struct ledger_totals){.entries = l.charges,
                               .imported = l.imported,
                               .seeded = l.seeded,
                               .inputs_only = l.inputs_only,
                               .as_recorded = ledger_as_recorded(&l),
                               .delta = delta,
                               .budget = l.budget};
    TRY(ledger_totals_column(&t.proved, &sums.proved, &sums.proved_events, delta, ctx));
    TRY(ledger_totals_column(&t.conditional, &sums.conditional, &sums.conditional_events, delta, ctx));
    TRY(ledger_total_account(&t.together, &l, delta, ctx));
    t.any_order = ledger_any_order(&l);
    t.any_order_from = l.columns_from;
    TRY(ledger_totals_encode(json, &t));
done:
    ledger_sums_free(&sums);
    ledger_close(&l);
    return status;
}
