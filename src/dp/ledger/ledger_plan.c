/* Plans: what may be planned, and whether a release is the one that was planned. */
#include "dp/ledger/ledger_plan.h"
#include "base/memory.h"
#include "dp/account/event_part.h"
#include "dp/certificate/certificate.h"
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/require.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST_ID = 8, HASH = 64 };

/* ---- what may be planned ---- */

/* Other releases may come between those of a plan, and steer them: so each needs a pair of its own, whatever it asks. Gaussian noise has
 * one by L2. All other noise has one by L1: what an L2 norm says beside it are Renyi divergences, so it is left out of the account. */
static bool is_by_l2(const struct sotto_event *e)
{
    const struct mechanism *m = mechanism_find(e->mechanism);
    return m && m->by_l2;
}

static sotto_status require_pair(const struct sotto_event *e, size_t i)
{
    sotto_status status = SOTTO_OK;
    struct part part;
    TRY(part_make(&part, e, i, SOTTO_REPLACE_ONE));
    const bool by_l1 = !isnan(e->l1) && isnan(e->l2) && part_pure(&part).hi < INFINITY;
    REQUIRE(is_by_l2(e) ? part.shifts.l2.hi < INFINITY : by_l1,
            "events[%zu]: of %s with these norms only Renyi divergences are known, so no other release may "
            "steer it and no plan can hold it; give l1, use gaussian, or release it without a plan",
            i, e->mechanism);
done:
    return status;
}

static sotto_status require_planned(const struct sotto_event *e, size_t i)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m = mechanism_find(e->mechanism);
    REQUIRE(m && e->noise_multiplier == 0 && e->sample_rate == 0,
            "events[%zu]: %s; a plan holds single releases, expected noise of a scale", i,
            m ? "sampled steps are a run" : "a stated guarantee has no release");
    REQUIRE(
        e->adjacency == SOTTO_REPLACE_ONE && e->group <= 1,
        "events[%zu]: a planned release is accounted for one replaced record; give adjacency replace-one and "
        "no group",
        i);
    TRY(require_pair(e, i));
done:
    return status;
}

static sotto_status count_slots(size_t *slots, const struct event_list *events)
{
    sotto_status status = SOTTO_OK;
    size_t sum = 0;
    for (size_t i = 0; i < events->count; i++) {
        TRY(require_planned(&events->events[i], i));
        REQUIRE(events->events[i].count <= PLAN_SLOTS - sum, "a plan has more than %d releases; make several",
                PLAN_SLOTS);
        sum += events->events[i].count;
    }
    *slots = sum;
done:
    return status;
}

static bool is_whole(const struct sotto_event *e)
{
    const struct mechanism *m = mechanism_find(e->mechanism);
    return m && m->kind == RELEASE_INTEGER;
}

sotto_status plan_prepare(struct event_list *events, const struct privacy_unit *unit)
{
    size_t slots;
    for (size_t i = 0; i < events->count; i++) {
        struct sotto_event *e = &events->events[i];
        struct sotto_sensitivity s =
            sensitivity_normal(&(struct sotto_sensitivity){.l1 = e->l1, .l2 = e->l2});
        unit_widen(&s, unit->rows);
        e->l1 = s.l1;
        e->l2 = is_by_l2(e) || isnan(s.l1) ? s.l2 : NAN;
        e->dimension += e->dimension == 0;
        if (is_whole(e) && e->value_step == 0)
            e->value_step = 1;
    }
    return count_slots(&slots, events);
}

/* ---- plans of a ledger ---- */

sotto_status ledger_plan_make(struct ledger_plan **out, const struct ledger_charge *charge, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct ledger_plan *p = NULL;
    const struct event_list *from = charge->plan;
    NEW(p, 1);
    status = count_slots(&p->slots, from);
    if (status == SOTTO_EINVAL || status == SOTTO_ENOTSUP)
        status_prefix(where);
    if (status != SOTTO_OK) {
        status = status == SOTTO_ENOMEM ? status : status_fail(SOTTO_EFORMAT, "%s", sotto_error_text());
        goto done;
    }
    NEW(p->spent, p->slots);
    NEW(p->events.events, from->count);
    p->events.count = from->count;
    memcpy(p->events.events, from->events, from->count * sizeof *from->events);
    snprintf(p->dataset_id, sizeof p->dataset_id, "%s", charge->dataset_id ? charge->dataset_id : "");
    *out = p;
    p = NULL;
done:
    ledger_plan_free(p);
    return status;
}

void ledger_plan_free(struct ledger_plan *p)
{
    if (!p)
        return;
    events_free(&p->events);
    base_free(p->spent);
    base_free(p);
}

size_t ledger_plan_spent(const struct ledger_plan *p)
{
    size_t spent = 0;
    for (size_t i = 0; i < p->slots; i++)
        spent += p->spent[i];
    return spent;
}

const struct sotto_event *ledger_plan_event(const struct ledger_plan *p, size_t slot)
{
    size_t before = 0;
    for (size_t i = 0; i < p->events.count; before += p->events.events[i++].count)
        if (slot > before && slot - before <= p->events.events[i].count)
            return &p->events.events[i];
    return NULL;
}

struct ledger_item *ledger_plan_of(const struct ledger *l, const struct plan_slot *slot)
{
    struct ledger_item *item = slot->charge < l->charges ? &l->items[slot->charge] : NULL;
    return item && item->plan && strcmp(item->hash, slot->plan) == 0 ? item : NULL;
}

/* "ID:K" */
static bool read_asked(size_t *digits, size_t *slot, const char *asked)
{
    char *end;
    *digits = strspn(asked, "0123456789abcdef");
    const char *number = asked + *digits + 1;
    if (*digits < SHORTEST_ID || *digits > HASH || asked[*digits] != ':' || *number < '1' || *number > '9')
        return false;
    const unsigned long long k = strtoull(number, &end, 10);
    *slot = k <= PLAN_SLOTS ? (size_t)k : PLAN_SLOTS + 1;
    return *end == '\0';
}

sotto_status ledger_plan_find(struct plan_slot *out, const struct ledger *l, const char *asked,
                              const char *dataset_id)
{
    sotto_status status = SOTTO_OK;
    size_t digits, slot, found = 0;
    const struct ledger_item *item = NULL;
    REQUIRE(read_asked(&digits, &slot, asked),
            "planned: '%.80s' is no slot of a plan; expected ID:K as 'sotto ledger plan' printed them",
            asked);
    for (size_t i = 0; i < l->charges; i++)
        if (l->items[i].plan && strncmp(l->items[i].hash, asked, digits) == 0) {
            item = &l->items[i];
            found++;
        }
    REQUIRE(found == 1, "%s: holds %s plan %.*s; 'sotto ledger show' lists them", l->path,
            found ? "more than one" : "no", (int)digits, asked);
    REQUIRE(strcmp(item->plan->dataset_id, dataset_id) == 0,
            "%s: plan %.16s is of data set '%.80s', not of '%.80s'; plan for this one by 'sotto ledger plan'",
            l->path, item->hash, item->plan->dataset_id, dataset_id);
    REQUIRE(slot <= item->plan->slots, "%s: plan %.16s has the slots 1 to %zu (got %zu)", l->path, item->hash,
            item->plan->slots, slot);
    if (item->plan->spent[slot - 1])
        FAIL(SOTTO_EBUDGET,
             "%s: slot %zu of plan %.16s is spent, whatever came of its release; give another slot, or make "
             "another plan",
             l->path, slot, item->hash);
    *out = (struct plan_slot){.plan = item->hash, .charge = (size_t)(item - l->items), .slot = slot};
done:
    return status;
}

/* ---- comparing ---- */

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

void ledger_plan_compare(char out[160], const struct sotto_event *e, const struct ledger_charge *c)
{
    const double step = is_whole(e) && c->value_step == 0 ? 1 : c->value_step;
    const struct {
        const char *name;
        double planned, asked;
    } members[] = {{"scale", e->scale, c->scale},
                   {"l1", e->l1, c->l1},
                   {"l2", e->l2, is_by_l2(e) ? c->l2 : NAN},
                   {"dimension", (double)e->dimension, (double)c->dimension},
                   {"value_step", e->value_step, step}};
    const bool flat = c->sampler && strncmp(c->sampler, FLAT_SAMPLER, strlen(FLAT_SAMPLER)) == 0;
    out[0] = '\0';
    if (!c->mechanism || strcmp(c->mechanism, e->mechanism) != 0)
        snprintf(out, 160, "mechanism is planned as %s, asked as %.40s", e->mechanism,
                 c->mechanism ? c->mechanism : "none");
    for (size_t i = 0; i < sizeof members / sizeof *members && !out[0]; i++)
        if (!same(members[i].planned, members[i].asked))
            snprintf(out, 160, "%s is planned as %.17g, asked as %.17g", members[i].name, members[i].planned,
                     members[i].asked);
    if (!out[0] && flat)
        snprintf(out, 160, "flat-doubt is planned as 0, asked as 1");
    if (!out[0] && c->seeded)
        snprintf(out, 160, "noise is planned from the operating system, asked from a seed");
}
