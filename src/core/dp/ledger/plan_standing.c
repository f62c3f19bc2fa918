#include "dp/ledger/plan_standing.h"
#include "base/memory.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/mechanism/mechanism.h"

#include <math.h>
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

/* The texts of a ledger end with it. */
static sotto_status copy_standing(struct plan_standing *out, const struct ledger_plan *p, const char *id)
{
    sotto_status status = SOTTO_OK;
    NEW(out->spent, p->slots);
    NEW(out->asks, p->slots);
    memcpy(out->spent, p->spent, p->slots);
    snprintf(out->id, sizeof out->id, "%s", id);
    out->slots = p->slots;
    for (size_t k = 0; k < p->slots; k++) {
        out->asks[k] = *ledger_plan_event(p, k + 1);
        out->asks[k].mechanism = mechanism_find(out->asks[k].mechanism)->name;
    }
done:
    return status;
}

sotto_status ledger_plan_look(struct plan_standing *out, const char *ledger, const char *purpose)
{
    sotto_status status = SOTTO_OK;
    struct looking looking = {.purpose = purpose};
    struct ledger l = {.lock = {.fd = -1}};
    struct plan_standing found = {.slots = 0};
    TRY(ledger_walk(&l, ledger, look_at, &looking));
    for (size_t i = 0; i < l.charges; i++)
        if (looking.id[0] && found.slots == 0 && l.items[i].plan && strcmp(l.items[i].hash, looking.id) == 0)
            TRY(copy_standing(&found, l.items[i].plan, looking.id));
    *out = found;
    found = (struct plan_standing){.slots = 0};
done:
    ledger_close(&l);
    plan_standing_free(&found);
    return status;
}

static bool same_real(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool plan_standing_asks(const struct plan_standing *p, size_t slot, const struct sotto_event *e)
{
    const struct sotto_event *was = &p->asks[slot];
    const bool run = event_is_run(e);
    if (event_is_run(was) != run || strcmp(was->mechanism, e->mechanism) != 0)
        return false;
    if (run)
        return was->count == e->count && was->noise_multiplier == e->noise_multiplier &&
               was->sample_rate == e->sample_rate && was->clipping == e->clipping &&
               was->sampling == e->sampling;
    return was->scale == e->scale && same_real(was->l1, e->l1) && same_real(was->l2, e->l2) &&
           was->dimension == e->dimension && was->value_step == e->value_step;
}

void plan_standing_free(struct plan_standing *p)
{
    base_free(p->spent);
    base_free(p->asks);
    *p = (struct plan_standing){.slots = 0};
}
