#include "dp/ledger/ledger_columns.h"
#include "base/memory.h"
#include "dp/account/adaptive_part.h"
#include "dp/ledger_line/ledger_line.h"

#include <math.h>
#include <string.h>

/* Of a ladder in a ledger whose first release has no delta. */
static const double ladder_delta = 1e-6;

void ledger_columns_start(struct ledger *l, const struct opened_columns *opened)
{
    l->opened = *opened;
    l->columns = opened->columns;
    l->columns_from = l->charges;
    ledger_columns_keep(l);
}

void ledger_columns_keep(struct ledger *l)
{
    l->kept = l->columns;
    l->kept_from = l->charges;
}

bool ledger_columns_count(struct ledger *l, const struct any_order *a)
{
    if (a->columns != l->columns.count)
        return false;
    return a->columns == 0 || adaptive_columns_take(&l->columns, a->offer, a->offers, a->took);
}

bool ledger_columns_are_of_budget(const struct ledger *l)
{
    return l->columns.count > 0 && !isnan(l->opened.epsilon);
}

bool ledger_columns_are_fixed(const struct ledger *l)
{
    return ledger_columns_are_of_budget(l) && l->charges > 0;
}

struct sotto_dp ledger_columns_budget(const struct ledger *l)
{
    return ledger_columns_are_of_budget(l) ? (struct sotto_dp){l->opened.epsilon, l->opened.delta}
                                           : l->recorded;
}

struct sotto_dp ledger_any_order(const struct ledger *l)
{
    return (struct sotto_dp){l->columns.count ? adaptive_columns_level(&l->columns) : NAN, l->opened.delta};
}

bool ledger_columns_again(struct ledger *l, const struct ledger_item *settled)
{
    const bool is_kept = settled >= l->items + l->kept_from;
    bool fit = true;
    l->columns = is_kept ? l->kept : l->opened.columns;
    for (size_t i = is_kept ? l->kept_from : l->columns_from; i < l->charges; i++) {
        if (i == l->kept_from)
            l->kept = l->columns;
        fit = fit && ledger_columns_count(l, &l->items[i].any_order);
    }
    return fit;
}

/* ---- what a charge may be charged as ---- */

/* The least that a live column may still lose by failures; 0: none may. And what a column that may has left of its pure part. */
static struct adaptive left_for_curves(const struct adaptive_columns *c)
{
    double least = INFINITY, pure = 0;
    for (size_t j = 0; j < c->count; j++)
        if (!c->column[j].dead && c->column[j].box.square > 0) {
            const struct adaptive left = adaptive_column_left(&c->column[j]);
            if (left.failure > 0) {
                least = fmin(least, left.failure);
                pure = fmax(pure, left.pure);
            }
        }
    return (struct adaptive){.pure = pure, .failure = least < INFINITY ? least : 0};
}

static bool one_holds_stated(const struct adaptive_columns *c)
{
    bool holds = false;
    for (size_t j = 0; j < c->count; j++)
        holds = holds || (c->column[j].box.pure > 0 && c->column[j].box.failure > 0);
    return holds;
}

/* Its own facts, and the numbers that it recorded: these stand for the decimals that were asked for, so that a budget can be split
 * evenly (ledger.h). */
static sotto_status find_offers(struct any_order *out, const struct ledger_item *item, struct adaptive left,
                                bool stated, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct event_list *plan = item->charged.plan;
    const struct sotto_event *events = plan ? plan->events : &item->charged.event;
    const size_t n = plan ? plan->count : 1;
    struct part *parts = NULL;
    out->offers = 0;
    if (item->seeded || events->count == 0)
        goto done;
    NEW(parts, n);
    for (size_t i = 0; i < n; i++)
        TRY(part_make(&parts[i], &events[i], i, SOTTO_REPLACE_ONE));
    TRY(adaptive_offers_together(out->offer, &out->offers, parts, n, &left, ctx));
    if (out->offers > 0 && out->offer[0].square == 0 && out->offer[0].failure == 0) {
        if (item->pure < out->offer[0].pure)
            out->offer[0].pure = item->pure;
    } else if (item->pure < INFINITY && out->offers < ADAPTIVE_OFFERS) {
        out->offer[out->offers++] = (struct adaptive){item->pure, 0, 0};
    }
    if (item->epsilon < INFINITY && item->delta > 0 && stated && out->offers < ADAPTIVE_OFFERS)
        out->offer[out->offers++] = (struct adaptive){item->epsilon, 0, item->delta};
done:
    base_free(parts);
    return status;
}

/* Into the columns; *fits: one of them lives. */
static sotto_status charge_item(struct any_order *out, bool *fits, struct adaptive_columns *c,
                                const struct ledger_item *item, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    *out = (struct any_order){.columns = c->count};
    TRY(find_offers(out, item, left_for_curves(c), one_holds_stated(c), ctx));
    *fits = adaptive_columns_charge(c, out->offer, out->offers, out->took);
    if (!*fits) /* where it is charged all the same, nothing holds any more */
        (void)adaptive_columns_take(c, out->offer, out->offers, out->took);
    any_order_prune(out);
done:
    return status;
}

/* ---- opening ---- */

/* What was charged before counts as chosen beforehand. */
static sotto_status charge_items_before(struct adaptive_columns *c, bool *fits, const struct ledger *l,
                                        const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct any_order passed;
    for (size_t i = 0; i < l->charges; i++)
        TRY(charge_item(&passed, fits, c, &l->items[i], ctx));
done:
    return status;
}

static sotto_status open_as(struct admission *out, bool *fits, const struct adaptive_columns *columns,
                            const struct ledger *l, const struct ledger_item *item,
                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    out->opened.columns = *columns;
    TRY(charge_items_before(&out->opened.columns, fits, l, ctx));
    struct adaptive_columns with = out->opened.columns;
    TRY(charge_item(&out->any_order, fits, &with, item, ctx));
done:
    return status;
}

static bool same_boxes(const struct adaptive_columns *a, const struct adaptive_columns *b)
{
    bool same = a->count == b->count;
    for (size_t j = 0; same && j < a->count; j++)
        same = a->column[j].box.pure == b->column[j].box.pure &&
               a->column[j].box.square == b->column[j].box.square &&
               a->column[j].box.failure == b->column[j].box.failure;
    return same;
}

/* The default columns of a budget, before any charge. An officer's own are not replaced by a release. */
static bool may_be_replaced(const struct ledger *l)
{
    struct adaptive_columns usual;
    return ledger_columns_are_of_budget(l) && l->charges == 0 &&
           adaptive_columns_open(&usual, l->opened.epsilon, l->opened.delta, NULL, 0) == SOTTO_OK &&
           same_boxes(&usual, &l->columns);
}

static sotto_status open_asked(struct opened_columns *out, bool *fits, const struct ledger *l,
                               struct sotto_dp budget, const struct sotto_ledger_column *columns, size_t n,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    *fits = true;
    *out = (struct opened_columns){.epsilon = budget.epsilon, .delta = budget.delta};
    TRY(adaptive_columns_open(&out->columns, budget.epsilon, budget.delta, columns, n));
    TRY(charge_items_before(&out->columns, fits, l, ctx));
done:
    return status;
}

sotto_status ledger_columns_default(struct opened_columns *out, bool *fixes, const struct ledger *l,
                                    struct sotto_dp budget, const struct sotto_context *ctx)
{
    *fixes = false;
    if (ledger_columns_are_of_budget(l) &&
        (!may_be_replaced(l) || (l->opened.epsilon == budget.epsilon && l->opened.delta == budget.delta)))
        return SOTTO_OK;
    return open_asked(out, fixes, l, budget, NULL, 0, ctx);
}

sotto_status ledger_columns_ask(struct opened_columns *out, const struct ledger *l, struct sotto_dp budget,
                                const struct sotto_ledger_column *columns, size_t n,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    bool fits;
    if (ledger_columns_are_fixed(l))
        FAIL(SOTTO_EBUDGET,
             "%s: its columns are fixed, for good; leave the columns out to make its budget smaller",
             l->path);
    TRY(open_asked(out, &fits, l, budget, columns, n, ctx));
    if (!fits)
        FAIL(SOTTO_EBUDGET, "%s: what was charged before fits none of these columns; give larger ones",
             l->path);
done:
    return status;
}

/* The labels of a run, whose inputs follow; and what needs the whole budget: to find that its curve does not fit takes long. */
static bool is_stated_first(const struct ledger_item *item, struct sotto_dp budget)
{
    const char *mechanism = item->charged.event.mechanism;
    return (mechanism && strcmp(mechanism, RUN_LABEL_MECHANISM) == 0) ||
           (budget.delta > 0 && item->epsilon > 0.995 * budget.epsilon && item->epsilon < INFINITY &&
            item->delta > 0.5 * budget.delta);
}

static sotto_status open_columns(struct admission *out, bool *fits, const struct ledger *l,
                                 struct sotto_dp budget, const struct ledger_item *item,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct adaptive_columns usual, stated;
    out->opens = true;
    out->opened.epsilon = budget.epsilon;
    out->opened.delta = isnan(budget.epsilon)
                            ? item->delta > 0 && item->delta < 1 ? item->delta : ladder_delta
                            : budget.delta;
    if (isnan(budget.epsilon)) {
        usual = adaptive_columns_ladder(out->opened.delta);
        TRY(open_as(out, fits, &usual, l, item, ctx));
        goto done;
    }
    TRY(adaptive_columns_open(&usual, budget.epsilon, budget.delta, NULL, 0));
    stated = adaptive_columns_stated(budget.epsilon, budget.delta);
    const bool first_stated = is_stated_first(item, budget);
    TRY(open_as(out, fits, first_stated ? &stated : &usual, l, item, ctx));
    const struct admission refused = *out;
    if (!*fits && (budget.delta > 0 || first_stated))
        TRY(open_as(out, fits, first_stated ? &usual : &stated, l, item, ctx));
    if (!*fits && !first_stated)
        *out = refused;
done:
    return status;
}

static bool ledger_columns_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

sotto_status ledger_admit(struct admission *out, bool *fits, const struct ledger *l, struct sotto_dp budget,
                          const struct ledger_item *item, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct adaptive_columns with = l->columns;
    *out = (struct admission){.opens = false};
    const bool stand = with.count > 0 && ledger_columns_same(l->opened.epsilon, budget.epsilon) &&
                       (isnan(budget.epsilon) || l->opened.delta == budget.delta);
    if (stand && !may_be_replaced(l))
        TRY(charge_item(&out->any_order, fits, &with, item, ctx));
    else
        TRY(open_columns(out, fits, l, budget, item, ctx));
    out->opens = out->opens && !(stand && same_boxes(&out->opened.columns, &with));
    *fits = *fits || isnan(budget.epsilon);
done:
    return status;
}

/* ---- settling ---- */

/* The curve of fewer steps, with the failure that the reservation has. */
static sotto_status settle_offer(struct adaptive *offer, const struct ledger_item *settled,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct any_order fewer;
    const struct adaptive reserved = *offer;
    /* half of it is on offer as pure part, a quarter as failure */
    const struct adaptive left = {.pure = reserved.square > 0 ? 2 * reserved.pure : 0,
                                  .failure = fmin(4 * reserved.failure, 0.5)};
    TRY(find_offers(&fewer, settled, left, reserved.pure > 0, ctx));
    for (size_t i = 0; i < fewer.offers; i++)
        if (adaptive_fits(&fewer.offer[i], &reserved) && fewer.offer[i].pure <= offer->pure &&
            fewer.offer[i].square <= offer->square)
            *offer = fewer.offer[i];
done:
    return status;
}

sotto_status ledger_admit_settled(struct admission *out, const struct ledger_item *reserved,
                                  const struct ledger_item *settled, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    *out = (struct admission){.any_order = reserved->any_order};
    for (size_t i = 0; i < out->any_order.offers; i++)
        TRY(settle_offer(&out->any_order.offer[i], settled, ctx));
done:
    return status;
}

bool ledger_columns_settle(struct any_order *reserved, const struct any_order *settled)
{
    bool less = settled->columns == reserved->columns && settled->offers == reserved->offers;
    for (size_t i = 0; less && i < settled->offers; i++)
        less = adaptive_fits(&settled->offer[i], &reserved->offer[i]);
    for (size_t j = 0; less && j < settled->columns; j++)
        less = settled->took[j] == reserved->took[j];
    if (less)
        *reserved = *settled;
    return less;
}
