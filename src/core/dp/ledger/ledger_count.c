/* What the lines of a ledger add up to, one after the other: each by the event that it is. */
#include "dp/ledger/ledger_count.h"
#include "base/memory.h"
#include "dp/account/composition.h"
#include "dp/ledger/ledger_columns.h"
#include "dp/ledger/ledger_offers.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/ledger_recorded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns add up replace-one guarantees: a replacement is a group of two. NAN (no such bound) stays. */
static void as_replace_one(double *pure, double *rho, double *epsilon, double *delta)
{
    struct sotto_composed two;
    *pure = 2 * *pure;
    *rho = 4 * *rho;
    if (compose_replace_one(&two, (struct sotto_dp){*epsilon, *delta}) == SOTTO_OK) {
        *epsilon = two.epsilon.upper;
        *delta = two.delta.upper;
    } else {
        *epsilon = NAN;
    }
}

static sotto_status refuse_any_order(const char *where)
{
    return status_fail(
        SOTTO_EFORMAT,
        "%s: what it says of 'any_order' does not fit the ledger's columns, so the ledger was changed",
        where);
}

static sotto_status take_budget(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    if (ledger_budget_is_larger(line->budget, l->recorded))
        FAIL(SOTTO_EFORMAT,
             "%s: its budget of epsilon %g, delta %g is larger than the one before it (%g, %g), so the "
             "ledger was "
             "changed",
             where, line->budget.epsilon, line->budget.delta, l->recorded.epsilon, l->recorded.delta);
    if (line->admission.opens && ledger_columns_are_fixed(l))
        TRY(refuse_any_order(where));
    if (line->admission.opens) {
        TRY(ledger_require_spent(l, &line->admission.opened.columns, where));
        ledger_columns_start(l, &line->admission.opened);
    }
    l->budget = l->recorded = line->budget;
    l->officer = l->officer || line->by_officer;
done:
    return status;
}

static sotto_status take_records(struct ledger *l, const struct ledger_line *line, const char *where)
{
    return ledger_records_take(&l->records, &line->hashes, where);
}

static sotto_status take_move(struct ledger *l, const struct ledger_line *line, const char *where)
{
    base_free(l->moved);
    l->moved = base_strdup(line->to);
    return l->moved ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "%s: out of memory", where);
}

static sotto_status mark_released(struct ledger *l, size_t charge, const char *where)
{
    if (charge >= l->charges)
        return status_fail(SOTTO_EFORMAT, "%s: names charge %zu, and only %zu are before it", where, charge,
                           l->charges);
    l->items[charge].steps = 0; /* it was released, and cannot be settled any more */
    return SOTTO_OK;
}

static sotto_status take_output(struct ledger *l, const struct ledger_line *line, const char *where)
{
    return mark_released(l, line->output.charge, where);
}

static void set_numbers(struct ledger_item *item, const struct ledger_charge *c)
{
    item->pure = c->pure;
    item->rho = c->rho;
    item->epsilon = c->epsilon;
    item->delta = c->delta;
    if (item->charged.add_remove)
        as_replace_one(&item->pure, &item->rho, &item->epsilon, &item->delta);
}

static sotto_status make_room(struct ledger *l)
{
    sotto_status status = SOTTO_OK;
    if (l->charges == 1)
        l->second = l->at;
    if (l->charges < l->capacity)
        goto done;
    /* charges go on as they were since the second: the first one may open columns, which takes many bytes */
    const size_t each = l->charges > 1 ? (l->at - l->second) / (l->charges - 1) : 0,
                 expected = each > 0 ? (l->size - l->at) / each / 16 * 17 : 0,
                 capacity = l->charges + (expected > l->charges ? expected : l->charges + 16);
    REGROW(l->items, l->capacity, capacity);
    l->capacity = capacity;
done:
    return status;
}

sotto_status ledger_item_make(struct ledger_item *out, struct part_memory *known,
                              const struct ledger_charge *c, bool imported)
{
    sotto_status status = SOTTO_OK;
    /* a plan has released nothing; its column is that of its releases, as they come (take_planned()) */
    const bool proved =
        c->plan || (c->source && (strcmp(c->source, "proved") == 0 || strcmp(c->source, "clipped") == 0));
    struct ledger_item item = {.proved = !imported && !c->conditional && proved, .seeded = c->seeded};
    TRY(ledger_charge_event(&item.charged, known, c));
    set_numbers(&item, c);
    *out = item;
done:
    return status;
}

static void keep_text(char *out, size_t capacity, const char *text)
{
    const size_t length = strnlen(text, capacity - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

static sotto_status count_charge(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_charge *c = &line->charge;
    const bool imported = line->event == LEDGER_IMPORT;
    struct ledger_item item = {.plan = NULL};
    if (c->numbered && c->number != l->charges)
        FAIL(SOTTO_EFORMAT,
             "%s: has the number %zu among the charges; expected %zu, so the ledger was changed", where,
             c->number, l->charges);
    if (l->charges == 0)
        l->unit = c->unit;
    l->delta = fmax(l->delta, c->delta);
    if (!unit_adds_up(&l->unit, &c->unit))
        FAIL(SOTTO_EFORMAT,
             "%s: is of another unit of privacy than the charges before it, so they do not add up", where);
    l->seeded += c->seeded;
    l->imported += imported;
    l->inputs_only += c->inputs_only;
    TRY(make_room(l));
    TRY(ledger_item_make(&item, &l->known, c, imported));
    if (c->plan) {
        TRY(ledger_plan_make(&item.plan, &l->plans, &l->known, c, where));
        item.charged.plan = &item.plan->events; /* which lives as long as the ledger */
        keep_text(item.hash, sizeof item.hash, line->hash ? line->hash : "");
    }
    item.any_order = line->admission.any_order;
    if (line->admission.opens && ledger_columns_are_fixed(l)) {
        status = refuse_any_order(where);
        goto done;
    }
    TRY(ledger_require_recorded(&item.derived, &l->known, &item, c, where));
    TRY(ledger_require_offers(&l->known, &item, c, where));
    if (line->admission.opens) {
        TRY(ledger_require_spent(l, &line->admission.opened.columns, where));
        ledger_columns_start(l, &line->admission.opened);
    }
    if (line->event == LEDGER_RESERVE && line->run && line->hash) {
        keep_text(item.hash, sizeof item.hash, line->hash);
        keep_text(item.run, sizeof item.run, line->run);
        item.steps = c->steps;
        ledger_columns_keep(l);
    }
    if (!ledger_columns_count(l, &item.any_order))
        TRY(refuse_any_order(where));
    l->items[l->charges++] = item;
done:
    return status;
}

size_t ledger_as_recorded(const struct ledger *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->charges; i++)
        n += !l->items[i].derived;
    return n;
}

struct ledger_item *ledger_last_of_run(const struct ledger *l, const char *run)
{
    for (size_t i = l->charges; i-- > 0;)
        if (run[0] && strcmp(l->items[i].run, run) == 0)
            return &l->items[i];
    return NULL;
}

/* A release of a plan, which was charged: its slot is spent once, by what was planned. */
static sotto_status take_planned(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_charge *c = &line->charge;
    struct ledger_item *item = ledger_plan_of(l, &line->slot), as_it_is;
    const size_t slot = line->slot.slot;
    char differs[160];
    if (!item || slot > item->plan->slots)
        FAIL(SOTTO_EFORMAT, "%s: names slot %zu of a plan that is not before it, so the ledger was changed",
             where, slot);
    if (item->plan->spent[slot - 1])
        FAIL(SOTTO_EFORMAT, "%s: slot %zu of its plan was spent before, so the ledger was changed", where,
             slot);
    if (c->is_run && ledger_last_of_run(l, line->run))
        FAIL(SOTTO_EFORMAT, "%s: spends a slot for a run that was charged before, so the ledger was changed",
             where);
    ledger_plan_compare(differs, ledger_plan_event(item->plan, slot), c);
    if (differs[0] || !c->dataset_id || strcmp(c->dataset_id, item->plan->dataset_id) != 0 ||
        !unit_adds_up(&l->unit, &c->unit))
        FAIL(SOTTO_EFORMAT, "%s: is not the release that was planned (%s), so the ledger was changed", where,
             differs[0] ? differs : "data set or unit of privacy");
    item->plan->spent[slot - 1] = 1;
    TRY(ledger_item_make(&as_it_is, &l->known, c, false));
    TRY(ledger_require_recorded(&as_it_is.derived, &l->known, &as_it_is, c, where));
    item->proved = item->proved && as_it_is.proved;
done:
    return status;
}

void ledger_item_settle(struct ledger_item *item, const struct ledger_charge *settled)
{
    set_numbers(item, settled);
    ledger_charged_settle(&item->charged, settled);
    item->steps = 0;
}

/* The last reservation of its run, once, at fewer steps. */
static sotto_status ledger_settle(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_settlement *s = &line->settlement;
    struct ledger_item *last = ledger_last_of_run(l, s->run);
    if (!last || strcmp(last->hash, s->entry) != 0 || s->steps < 1 || s->steps > last->steps)
        FAIL(SOTTO_EFORMAT, "%s: settles no reservation that is open; expected the last one of its run, once",
             where);
    if (line->admission.any_order.columns > 0 &&
        !ledger_columns_settle(&last->any_order, &line->admission.any_order))
        TRY(refuse_any_order(where));
    ledger_item_settle(last, &line->charge);
    TRY(ledger_require_recorded(&last->derived, &l->known, last, &line->charge, where));
    TRY(ledger_require_offers(&l->known, last, &line->charge, where));
    if (!ledger_columns_again(l, last))
        TRY(refuse_any_order(where));
done:
    return status;
}

sotto_status ledger_count_line(struct ledger *l, struct ledger_line *line, const char *where)
{
    static sotto_status (*const take[])(struct ledger *, const struct ledger_line *,
                                        const char *) = {[LEDGER_RELEASE] = count_charge,
                                                         [LEDGER_RESERVE] = count_charge,
                                                         [LEDGER_IMPORT] = count_charge,
                                                         [LEDGER_BUDGET] = take_budget,
                                                         [LEDGER_TORN] = NULL,
                                                         [LEDGER_RECORDS] = take_records,
                                                         [LEDGER_MOVED] = take_move,
                                                         [LEDGER_RELEASED] = take_output,
                                                         [LEDGER_SETTLED] = ledger_settle,
                                                         [LEDGER_PLAN] = count_charge,
                                                         [LEDGER_PLANNED] = take_planned};
    sotto_status status = SOTTO_OK;
    TRY(ledger_line_decode(line, where));
    if (take[line->event])
        TRY(take[line->event](l, line, where));
done:
    return status;
}
