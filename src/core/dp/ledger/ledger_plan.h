/* ledger_plan.h - releases that were charged as one, before the first of them was drawn (docs/derivations/adaptive.md, section 6). Each
 * has a slot, which is spent once. What a slot may ask is fixed: all that its pair depends on. */
#ifndef DP_LEDGER_LEDGER_PLAN_H
#define DP_LEDGER_LEDGER_PLAN_H

#include "dp/ledger_line/ledger_line.h"
#include "dp/ledger/ledger.h"

enum { PLAN_SLOTS = 100000 };
/** Events as a ledger is told of their releases: of the unit, with what is not given as the release has it.
 * EINVAL: names an event that no planned release can be. */
sotto_status plan_prepare(struct event_list *events, const struct privacy_unit *unit);
/** How many releases an event of a plan is; a run of steps is one. */
size_t plan_event_slots(const struct sotto_event *event);
/** Of a charge that is one; known: of ledger_charge_event(). It lives until ledger_plans_free() of *blocks, NULL at first.
 * EFORMAT: no such plan can be charged; ENOMEM. */
sotto_status ledger_plan_make(struct ledger_plan **out, struct plan_block **blocks, struct part_memory *known,
                              const struct ledger_charge *charge, const char *where);
void ledger_plans_free(struct plan_block *blocks);
/** How many of its slots. */
size_t ledger_plan_spent(const struct ledger_plan *plan);
/** What slot `slot`, from 1, asks; NULL: there is none. */
const struct sotto_event *ledger_plan_event(const struct ledger_plan *plan, size_t slot);
/** The plan that has this hash; NULL: none. */
struct ledger_item *ledger_plan_of(const struct ledger *l, const struct plan_slot *slot);
/** The open slot that "ID:K" names, of this data set; out->plan is borrowed from the ledger.
 *  In:      asked    ID: the first digits of the plan's hash, 8 or more
 *  Returns: EINVAL   it names none
 *           EBUDGET  the slot is spent */
sotto_status ledger_plan_find(struct plan_slot *out, const struct ledger *l, const char *asked,
                              const char *dataset_id);
/** The first parameter in which a release, as its line tells, differs from its slot, in words; "": none does. */
void ledger_plan_compare(char out[160], const struct sotto_event *planned,
                         const struct ledger_charge *charge);

#endif
