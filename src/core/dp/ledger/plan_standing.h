/* plan_standing.h - which slots of a plan are open, for who goes on with it. */
#ifndef DP_LEDGER_PLAN_STANDING_H
#define DP_LEDGER_PLAN_STANDING_H

#include "base/status.h"

/** A plan as its ledger stands. */
struct plan_standing {
    char id[65];
    size_t slots;         /* 0: the ledger holds none */
    unsigned char *spent; /* (slots) */
};
/** Of this purpose, the last one; nothing is written. plan_standing_free(). Errors of ledger_read(). */
sotto_status ledger_plan_look(struct plan_standing *out, const char *ledger, const char *purpose);
/** Harmless on {0}. */
void plan_standing_free(struct plan_standing *plan);

#endif
