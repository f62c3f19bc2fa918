/* ledger_events.h - the releases of a ledger's column as events that compose tightly. */
#ifndef DP_LEDGER_LEDGER_EVENTS_H
#define DP_LEDGER_LEDGER_EVENTS_H

#include "sotto/account.h"

#include <stdbool.h>

struct ledger_charge;
struct event_list;
struct part_memory;
struct ledger_events {
    struct sotto_event *items; /* equal ones in a row are one item */
    size_t count, capacity;
    size_t add_remove; /* entries of that adjacency: a group of two each under replace-one */
    bool unknown;      /* an entry without any bound */
};

/** What a charge is to the account of its ledger. */
struct ledger_charged {
    struct sotto_event event; /* count 0: without any bound */
    bool add_remove;
    const struct event_list *plan; /* NULL; or these events instead, fixed together */
};
/** Its mechanism and scale where the account can be taken again, else its pure epsilon, else its (epsilon, delta).
 * `known`: by which parts are known for the next that asks (event_part.h). ENOMEM. */
sotto_status ledger_charge_event(struct ledger_charged *out, struct part_memory *known,
                                 const struct ledger_charge *charge);
/** So many steps of a reservation, at these numbers. */
void ledger_charged_settle(struct ledger_charged *charge, const struct ledger_charge *settled);
/** ENOMEM. */
sotto_status ledger_events_add(struct ledger_events *list, const struct ledger_charged *charge);
/** Appends a whole list. ENOMEM. */
sotto_status ledger_events_join(struct ledger_events *list, const struct ledger_events *more);
void ledger_events_free(struct ledger_events *list);
/** All of them together under replace-one adjacency; upper INFINITY: no bound. An empty list costs 0.
 * ENOMEM. */
sotto_status ledger_events_account(struct sotto_account *out, const struct ledger_events *list, double delta,
                                   const struct sotto_context *ctx);

#endif
