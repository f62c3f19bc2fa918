#include "dp/ledger/plan_standing.h"
#include "base/memory.h"
#include "dp/ledger/ledger_plan.h"

#include <stdio.h>
#include <string.h>

struct looking {
    const char *purpose;
    char id[65];
};

static sotto_status look_at(void *state, const struct ledger *l, const struct ledger_line *line)
{
    struct looking *looking = state;
    (void)l;
    if (line->event == LEDGER_PLAN && line->hash && line->charge.purpose &&
        strcmp(line->charge.purpose, looking->purpose) == 0)
        snprintf(looking->id, sizeof looking->id, "%s", line->hash);
    return SOTTO_OK;
}

sotto_status ledger_plan_look(struct plan_standing *out, const char *ledger, const char *purpose)
{
    sotto_status status = SOTTO_OK;
    struct looking looking = {.purpose = purpose};
    struct ledger l = {.lock = {.fd = -1}};
    struct plan_standing found = {.slots = 0};
    TRY(ledger_walk(&l, ledger, look_at, &looking));
    for (size_t i = 0; i < l.charges; i++)
        if (looking.id[0] && l.items[i].plan && strcmp(l.items[i].hash, looking.id) == 0) {
            const struct ledger_plan *p = l.items[i].plan;
            NEW(found.spent, p->slots);
            memcpy(found.spent, p->spent, p->slots);
            memcpy(found.id, looking.id, sizeof found.id);
            found.slots = p->slots;
            break;
        }
    *out = found;
    found.spent = NULL;
done:
    ledger_close(&l);
    plan_standing_free(&found);
    return status;
}

void plan_standing_free(struct plan_standing *p)
{
    base_free(p->spent);
    *p = (struct plan_standing){.slots = 0};
}
