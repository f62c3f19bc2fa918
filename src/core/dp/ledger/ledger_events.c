/* An entry is taken again from its own facts (mechanism, scale, sensitivity), which tells more than the
 * epsilon that it recorded. Where that is not possible (an early sampler that was not exact, a lattice of its own,
 * a mechanism of a later version) what it recorded is taken as a stated guarantee. */
#include "dp/ledger/ledger_events.h"
#include "base/memory.h"
#include "dp/account/event_part.h"
#include "dp/certificate/certificate.h"
#include "dp/ledger_line/ledger_line.h"
#include "dp/mechanism/mechanism.h"

#include <stdio.h>
#include <string.h>

/* Would the account take it? ENOMEM. */
static sotto_status ledger_events_accountable(bool *yes, struct part_memory *known,
                                              const struct sotto_event *e)
{
    struct status_record before;
    const struct part *part;
    status_get(&before);
    const sotto_status status = part_recall(&part, known, e, 0);
    if (status == SOTTO_ENOMEM)
        return status;
    status_set(&before);
    *yes = status == SOTTO_OK;
    return SOTTO_OK;
}

static bool ledger_events_begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

static sotto_status event_of_facts(bool *found, struct sotto_event *e, struct part_memory *known,
                                   const struct ledger_charge *c)
{
    const struct mechanism *m = c->mechanism ? mechanism_find(c->mechanism) : NULL;
    *found = false;
    if (!m || ledger_events_begins(c->sampler, FIXED_SAMPLER) ||
        ledger_events_begins(c->sampler, FLAT_SAMPLER))
        return SOTTO_OK;
    e->mechanism = m->name;
    e->l1 = c->l1;
    e->l2 = c->l2;
    e->scale = c->scale;
    e->dimension = c->dimension;
    e->value_step = c->value_step;
    e->noise_multiplier = c->noise_multiplier;
    e->sample_rate = c->sample_rate;
    e->clipping = c->clipping;
    e->sampling = c->sampling;
    e->count = c->steps;
    if (unit_rows(&c->unit) > 1 && c->sample_rate > 0)
        e->group = unit_rows(&c->unit); /* each of whose rows is in a step by itself */
    if (e->sample_rate > 0 && e->sampling == SOTTO_SAMPLING_POISSON)
        e->adjacency = SOTTO_ADD_REMOVE; /* of the facts, from which the account of a replacement is made */
    if (m->kind == RELEASE_INTEGER && e->value_step == 0)
        return SOTTO_OK;
    return ledger_events_accountable(found, known, e);
}

static struct sotto_dp statement_of(const struct ledger_charge *c)
{
    return isnan(c->pure) ? (struct sotto_dp){c->epsilon, c->delta} : (struct sotto_dp){c->pure, 0};
}

static sotto_status event_of_numbers(bool *found, struct sotto_event *e, enum sotto_adjacency adjacency,
                                     struct part_memory *known, const struct ledger_charge *c)
{
    *e = (struct sotto_event){
        .mechanism = "stated", .count = 1, .adjacency = adjacency, .stated = statement_of(c)};
    return ledger_events_accountable(found, known, e);
}

static sotto_status ledger_events_append(struct ledger_events *list, const struct sotto_event *e)
{
    sotto_status status = SOTTO_OK;
    if (list->count > 0 && event_is_like(&list->items[list->count - 1], e)) {
        list->items[list->count - 1].count += e->count;
        return SOTTO_OK;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        REGROW(list->items, list->capacity, capacity);
        list->capacity = capacity;
    }
    list->items[list->count++] = *e;
done:
    return status;
}

sotto_status ledger_charge_event(struct ledger_charged *out, struct part_memory *known,
                                 const struct ledger_charge *charge)
{
    sotto_status status = SOTTO_OK;
    struct sotto_event e = {.count = 1};
    bool found, add_remove = charge->adjacency &&
                             strcmp(charge->adjacency, "add-remove") == 0; /* early entries, imports */
    enum sotto_adjacency recorded = add_remove ? SOTTO_ADD_REMOVE : SOTTO_REPLACE_ONE;
    if (charge->plan) {
        *out = (struct ledger_charged){.plan = charge->plan};
        goto done;
    }
    e.adjacency = recorded;
    TRY(event_of_facts(&found, &e, known, charge));
    if (!found)
        TRY(event_of_numbers(&found, &e, recorded, known, charge));
    *out = (struct ledger_charged){.event = e, .add_remove = add_remove};
    if (!found)
        out->event = (struct sotto_event){.count = 0};
done:
    return status;
}

void ledger_charged_settle(struct ledger_charged *charge, const struct ledger_charge *settled)
{
    struct sotto_event *e = &charge->event;
    if (e->noise_multiplier > 0)
        e->count = settled->steps;
    else if (e->count > 0)
        e->stated = statement_of(settled);
}

sotto_status ledger_events_add(struct ledger_events *list, const struct ledger_charged *charge)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; charge->plan && i < charge->plan->count; i++)
        TRY(ledger_events_append(list, &charge->plan->events[i]));
    if (charge->event.count > 0)
        TRY(ledger_events_append(list, &charge->event));
    list->unknown = list->unknown || (charge->event.count == 0 && !charge->plan);
    list->add_remove += charge->add_remove;
done:
    return status;
}

sotto_status ledger_events_join(struct ledger_events *list, const struct ledger_events *more)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < more->count; i++)
        TRY(ledger_events_append(list, &more->items[i]));
    list->add_remove += more->add_remove;
    list->unknown = list->unknown || more->unknown;
done:
    return status;
}

void ledger_events_free(struct ledger_events *list)
{
    base_free(list->items);
    *list = (struct ledger_events){0};
}

sotto_status ledger_events_account(struct sotto_account *out, const struct ledger_events *list, double delta,
                                   const struct sotto_context *ctx)
{
    if (!list->unknown && list->count > 0)
        return sotto_account_events(out, list->items, list->count, delta, SOTTO_REPLACE_ONE, ctx);
    double upper = list->unknown ? INFINITY : 0;
    *out = (struct sotto_account){.scale = NAN,
                                  .delta = delta,
                                  .sample_rate = 1,
                                  .adjacency = SOTTO_REPLACE_ONE,
                                  .epsilon = {0, upper},
                                  .pure_epsilon = upper,
                                  .zcdp_rho = upper,
                                  .standard_deviation = NAN};
    snprintf(out->accountant, sizeof out->accountant, "%s", list->unknown ? "no bound" : "nothing released");
    return SOTTO_OK;
}
