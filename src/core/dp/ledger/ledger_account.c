/* What a ledger adds up to: each column for itself, and everything together. */
#include "dp/ledger/ledger_account.h"
#include "dp/account/accountant.h"
#include "dp/ledger_line/ledger_line.h"

#include <stdio.h>
#include <string.h>

sotto_status ledger_column_account(struct sotto_account *out, const struct ledger_sum *sum,
                                   const struct ledger_events *events, double delta,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    TRY(ledger_events_account(&a, events, delta, ctx));
    double quick = ledger_sum_epsilon(sum, delta);
    if (quick < a.epsilon.upper)
        account_add_bound(&a, "recorded, added up", quick);
    a.epsilon.lower = fmin(a.epsilon.lower, a.epsilon.upper);
    *out = a;
done:
    return status;
}

/* Both columns, and a charge that is not yet in one of them (account NULL: none). */
struct whole {
    const struct ledger *ledger;
    const struct sotto_account *account;
    const struct ledger_charge *charge;
};

static struct ledger_sum sum_of_all(const struct whole *w, const struct ledger_sums *sums)
{
    struct ledger_sum sum = ledger_sum_both(&sums->proved, &sums->conditional);
    const struct sotto_account *a = w->account;
    if (a && a->adjacency == SOTTO_REPLACE_ONE)
        ledger_sum_add(&sum, a->pure_epsilon, a->zcdp_rho, a->epsilon.upper, a->delta);
    else if (a)
        ledger_sum_add(&sum, NAN, NAN, NAN, a->delta);
    return sum;
}

static bool is_seeded(const struct whole *w)
{
    return w->ledger->seeded > 0 || (w->charge && w->charge->seeded);
}

static sotto_status account_of_all(struct sotto_account *out, const struct whole *w, double delta,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger_sums sums = {.proved = {.releases = 0}};
    struct ledger_charged charged;
    struct part_memory known = {.made = 0};
    struct ledger_events *events = &sums.proved_events;
    TRY(ledger_sums_of(&sums, w->ledger));
    const struct ledger_sum sum = sum_of_all(w, &sums);
    TRY(ledger_events_join(events, &sums.conditional_events));
    if (w->charge) {
        TRY(ledger_charge_event(&charged, &known, w->charge));
        TRY(ledger_events_add(events, &charged));
    }
    TRY(ledger_column_account(out, &sum, events, delta, ctx));
    if (is_seeded(w))
        out->epsilon = (struct sotto_interval){INFINITY, INFINITY};
done:
    ledger_sums_free(&sums);
    return status;
}

sotto_status ledger_total_account(struct sotto_account *out, const struct ledger *l, double delta,
                                  const struct sotto_context *ctx)
{
    return account_of_all(out, &(struct whole){.ledger = l}, delta, ctx);
}

/* Digits of %g, at least 6, in which two numbers look different. */
static int digits_apart(double a, double b)
{
    char one[32], other[32];
    int digits = 5;
    do {
        digits++;
        snprintf(one, sizeof one, "%.*g", digits, a);
        snprintf(other, sizeof other, "%.*g", digits, b);
    } while (digits < 17 && strcmp(one, other) == 0);
    return digits;
}

/* What the live columns have left, in words. */
static void write_left(char out[160], const struct adaptive_columns *c)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t j = 0; j < c->count && length < 150; j++) {
        const struct adaptive left = adaptive_column_left(&c->column[j]);
        if (!c->column[j].dead)
            length += (size_t)snprintf(out + length, 160 - length, "%spure %.3g, mu %.3g, failure %.2g",
                                       length ? "; or " : "", left.pure, sqrt(left.square), left.failure);
    }
    if (length == 0)
        snprintf(out, 160, "nothing");
}

/* No column has room, although the total has. */
static sotto_status refuse_by_columns(const struct ledger *l)
{
    sotto_status status = SOTTO_OK;
    struct opened_columns opened = {.columns = l->columns};
    char left[160];
    bool holds = ledger_columns_are_of_budget(l);
    if (!holds)
        TRY(ledger_columns_default(&opened, &holds, l, l->budget, NULL));
    if (!holds)
        FAIL(SOTTO_EBUDGET,
             "%s: its %zu charges were made without columns, and those of the budget (epsilon %g, delta %g) "
             "do "
             "not hold them, so it takes no further release; its officer may fix a column that does ('sotto "
             "ledger init'), else use another data set",
             l->path, l->charges, l->budget.epsilon, l->budget.delta);
    write_left(left, &opened.columns);
    FAIL(SOTTO_EBUDGET,
         "%s: the privacy budget (epsilon %g, delta %g) holds for any order of choices and has no room for "
         "this "
         "release: left is %s; ask for a smaller epsilon",
         l->path, l->budget.epsilon, l->budget.delta, left);
done:
    return status;
}

static sotto_status ledger_account_refuse(const struct ledger *l, const struct whole *with)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account before, after;
    TRY(account_of_all(&after, with, l->budget.delta, NULL));
    if (after.epsilon.upper <= l->budget.epsilon)
        return refuse_by_columns(l);
    TRY(ledger_total_account(&before, l, l->budget.delta, NULL));
    const int digits = digits_apart(after.epsilon.upper, l->budget.epsilon);
    FAIL(SOTTO_EBUDGET,
         "%s: the privacy budget (epsilon %.*g, delta %g) would be exceeded: spent %.*g, with this "
         "release "
         "%.*g",
         l->path, digits, l->budget.epsilon, l->budget.delta, digits, before.epsilon.upper, digits,
         after.epsilon.upper);
done:
    return status;
}

static sotto_status refuse_seeds(const struct ledger *l, const struct ledger_charge *charge)
{
    sotto_status status = SOTTO_OK;
    if (isnan(l->budget.epsilon))
        goto done;
    if (l->seeded > 0)
        FAIL(SOTTO_EBUDGET,
             "%s: %zu of its releases used seeded noise, which gives no guarantee, so no budget holds; use "
             "another "
             "data set for trials with a seed",
             l->path, l->seeded);
    if (charge->seeded)
        FAIL(SOTTO_EBUDGET,
             "%s: has a budget of epsilon %g, and seeded noise gives no guarantee; release without a seed, "
             "or try "
             "the seed on another data set",
             l->path, l->budget.epsilon);
done:
    return status;
}

sotto_status ledger_check_budget(struct admission *out, const struct ledger *l, const struct sotto_account *a,
                                 const struct ledger_charge *charge)
{
    sotto_status status = SOTTO_OK;
    const struct whole with = {l, a, charge};
    const struct sotto_dp fixed = ledger_columns_budget(l);
    const bool tighter = l->budget.epsilon != fixed.epsilon || l->budget.delta != fixed.delta;
    struct part_memory known = {.made = 0};
    struct ledger_item item;
    struct admission made;
    bool fits;
    TRY(refuse_seeds(l, charge));
    TRY(ledger_item_make(&item, &known, charge, false));
    TRY(ledger_admit(&made, &fits, l, l->budget, &item, NULL));
    if (fits && tighter && !isnan(l->budget.epsilon)) /* within it, and within the columns that were fixed */
        TRY(ledger_admit(&made, &fits, l, fixed, &item, NULL));
    if (!fits)
        TRY(ledger_account_refuse(l, &with));
    if (out)
        *out = made;
done:
    return status;
}

sotto_status ledger_check_pure(const struct ledger *l, double epsilon)
{
    const struct sotto_account account = {.pure_epsilon = epsilon,
                                          .zcdp_rho = epsilon * epsilon / 2,
                                          .epsilon = {epsilon, epsilon},
                                          .adjacency = SOTTO_REPLACE_ONE};
    return ledger_check_budget(
        NULL, l, &account,
        &(struct ledger_charge){
            .pure = epsilon, .rho = account.zcdp_rho, .epsilon = epsilon, .source = "proved", .steps = 1});
}

sotto_status ledger_require_unit(const struct ledger *l, const struct privacy_unit *unit)
{
    sotto_status status = SOTTO_OK;
    char theirs[UNIT_TEXT], own[UNIT_TEXT];
    unit_word(theirs, &l->unit);
    unit_word(own, unit);
    if (l->charges > 0 && !unit_adds_up(&l->unit, unit))
        FAIL(SOTTO_EBUDGET,
             "%s: its charges have the unit of privacy %s, this release %s, and they do not add up; give "
             "data with "
             "the same unit, or another data set",
             l->path, theirs, own);
done:
    return status;
}

sotto_status ledger_require_budget(struct sotto_dp budget)
{
    sotto_status status = SOTTO_OK;
    if (budget.epsilon == 0)
        goto done;
    TRY(require_positive(budget.epsilon, "budget epsilon"));
    if (!isnan(budget.delta))
        TRY(require_delta(budget.delta));
done:
    return status;
}

static sotto_status append_budget(struct ledger *l, const struct budget_entry *entry)
{
    sotto_status status = SOTTO_OK;
    char *line = NULL;
    TRY(ledger_budget_encode(&line, entry));
    TRY(ledger_append(l, line));
done:
    base_free(line);
    return status;
}

static sotto_status refuse_wider(const struct ledger *l, struct sotto_dp budget)
{
    if (!ledger_budget_is_larger(budget, l->budget))
        return SOTTO_OK;
    return status_fail(
        SOTTO_EBUDGET,
        "%s: contains a budget of epsilon %g, delta %g%s; expected a budget that is not larger (got %g, %g)",
        l->path, l->budget.epsilon, l->budget.delta, l->officer ? ", set by 'sotto ledger init'" : "",
        budget.epsilon, budget.delta);
}

sotto_status ledger_name_budget(struct ledger *l, struct sotto_dp budget, double delta)
{
    sotto_status status = SOTTO_OK;
    TRY(ledger_require_budget(budget));
    if (budget.epsilon == 0)
        goto done;
    if (isnan(budget.delta))
        budget.delta = isnan(l->budget.delta) ? delta : l->budget.delta;
    if (budget.epsilon == l->budget.epsilon && budget.delta == l->budget.delta)
        goto done;
    TRY(refuse_wider(l, budget));
    l->budget = budget;
    if (l->officer) /* for this charge alone */
        goto done;
    l->recorded = budget;
    l->waits = true;
done:
    return status;
}

sotto_status ledger_write_budget(struct ledger *l, size_t followed_by)
{
    sotto_status status = SOTTO_OK;
    if (l->waits)
        TRY(append_budget(l, &(struct budget_entry){.budget = l->recorded, .followed_by = followed_by}));
    l->waits = false;
done:
    return status;
}

sotto_status ledger_set_budget(struct ledger *l, struct sotto_dp budget, const struct sotto_ledger_card *card,
                               const struct sotto_ledger_column *columns, size_t n,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct opened_columns opened;
    TRY(refuse_wider(l, budget));
    bool fixes = n > 0;
    if (n > 0)
        TRY(ledger_columns_ask(&opened, l, budget, columns, n, ctx));
    else
        TRY(ledger_columns_default(&opened, &fixes, l, budget, ctx));
    TRY(append_budget(
        l, &(struct budget_entry){
               .budget = budget, .set_by = "officer", .card = card, .columns = fixes ? &opened : NULL}));
done:
    return status;
}

void ledger_warn_about_delta(size_t records, double delta, const struct sotto_context *ctx)
{
    if (records > 0 && delta >= 1 / (double)records)
        context_log(ctx, SOTTO_LOG_WARNING, "delta %g is too large; expected less than 1/n = %g", delta,
                    1 / (double)records);
}
