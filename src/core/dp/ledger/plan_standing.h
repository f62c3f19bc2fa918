/* plan_standing.h - which slots of a plan are open, for who goes on with it. */
#ifndef DP_LEDGER_PLAN_STANDING_H
#define DP_LEDGER_PLAN_STANDING_H

#include "base/status.h"
#include "sotto/account.h"

#include <stdbool.h>

/** A plan as its ledger stands. */
struct plan_standing {
    char id[65];
    size_t slots;             /* 0: the ledger holds none */
    unsigned char *spent;     /* (slots) */
    struct sotto_event *asks; /* (slots): as each was charged */
};
/** Of this purpose, the last one; nothing is written. plan_standing_free(). Errors of ledger_read(). */
sotto_status ledger_plan_look(struct plan_standing *out, const char *ledger, const char *purpose);
/** Is this what slot `slot`, from 0, asks, to the last bit? As the ledger counts it: planned_event_prepare(). */
bool plan_standing_asks(const struct plan_standing *plan, size_t slot, const struct sotto_event *charged);
/** Harmless on {0}. */
void plan_standing_free(struct plan_standing *plan);

#endif
