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

static sotto_status require_noise(struct part_memory *known, const struct sotto_event *e, size_t i)
{
    sotto_status status = SOTTO_OK;
    const struct part *part;
    REQUIRE(mechanism_find(e->mechanism),
            "events[%zu]: a stated guarantee has no release; a plan holds noise of a scale, and runs of "
            "sampled steps",
            i);
    REQUIRE(
        e->adjacency == SOTTO_REPLACE_ONE && e->group <= 1,
        "events[%zu]: a planned release is accounted for one replaced record; give adjacency replace-one and "
        "no group",
        i);
    TRY(part_recall(&part, known, e, i));
    const bool by_l1 = !isnan(e->l1) && isnan(e->l2) && part_pure(part).hi < INFINITY;
    REQUIRE(is_by_l2(e) ? part->shifts.l2.hi < INFINITY : by_l1,
            "events[%zu]: of %s with these norms only Renyi divergences are known, so no other release may "
            "steer it and no plan can hold it; give l1, use gaussian, or release it without a plan",
            i, e->mechanism);
done:
    return status;
}

/* Each step has its pair, of a replaced record. */
static sotto_status require_run(struct part_memory *known, const struct sotto_event *e, size_t i, size_t rows)
{
    sotto_status status = SOTTO_OK;
    const struct part *part;
    REQUIRE(
        rows <= 1 && e->group <= 1,
        "events[%zu]: is a run on persons of several rows, which no plan holds; charge that run by itself",
        i);
    TRY(part_recall(&part, known, e, i));
    REQUIRE(part_has_item(part),
            "events[%zu]: of steps by %s with this clipping only Renyi divergences are known, so no plan can "
            "hold the run; use gaussian, clip by l1, or charge it by itself",
            i, e->mechanism);
done:
    return status;
}

size_t plan_event_slots(const struct sotto_event *e)
{
    return event_is_run(e) ? 1 : e->count;
}

static sotto_status count_slots(size_t *slots, struct part_memory *known, const struct event_list *events,
                                size_t rows)
{
    sotto_status status = SOTTO_OK;
    size_t sum = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct sotto_event *e = &events->events[i];
        TRY(event_is_run(e) ? require_run(known, e, i, rows) : require_noise(known, e, i));
        REQUIRE(plan_event_slots(e) <= PLAN_SLOTS - sum, "a plan has more than %d releases; make several",
                PLAN_SLOTS);
        sum += plan_event_slots(e);
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

/* As its entry tells it: steps whose records come one by one are facts of add-remove, from which the account of a replacement is made. */
static void prepare_run(struct sotto_event *e)
{
    if (e->sampling == SOTTO_SAMPLING_POISSON)
        e->adjacency = SOTTO_ADD_REMOVE;
}

static void prepare_noise(struct sotto_event *e, const struct privacy_unit *unit)
{
    struct sotto_sensitivity s = sensitivity_normal(&(struct sotto_sensitivity){.l1 = e->l1, .l2 = e->l2});
    unit_widen(&s, unit->rows);
    e->l1 = s.l1;
    e->l2 = is_by_l2(e) || isnan(s.l1) ? s.l2 : NAN;
    e->dimension += e->dimension == 0;
    if (is_whole(e) && e->value_step == 0)
        e->value_step = 1;
}

sotto_status plan_prepare(struct event_list *events, const struct privacy_unit *unit)
{
    struct part_memory known = {.made = 0};
    size_t slots;
    for (size_t i = 0; i < events->count; i++)
        if (event_is_run(&events->events[i]))
            prepare_run(&events->events[i]);
        else
            prepare_noise(&events->events[i], unit);
    return count_slots(&slots, &known, events, unit->rows);
}

/* ---- plans of a ledger ---- */

/* Plans live as long as their ledger: many share a block. */
struct plan_block {
    struct plan_block *before;
    size_t used, room; /* bytes behind this head */
};
enum { PLAN_BLOCK = 1 << 15, PLAN_ALIGNMENT = _Alignof(struct ledger_plan) };

/* Zeros. NULL: out of memory. */
static void *take_block(struct plan_block **last, size_t bytes)
{
    struct plan_block *b = *last;
    bytes = (bytes + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
    if (!b || b->room - b->used < bytes) {
        const size_t room = bytes > PLAN_BLOCK ? bytes : PLAN_BLOCK;
        if (!(b = base_alloc(sizeof *b + room, 1)))
            return NULL;
        *b = (struct plan_block){.before = *last, .room = room};
        *last = b;
    }
    char *taken = (char *)(b + 1) + b->used;
    b->used += bytes;
    return taken;
}

sotto_status ledger_plan_make(struct ledger_plan **out, struct plan_block **blocks, struct part_memory *known,
                              const struct ledger_charge *charge, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct ledger_plan *p;
    const struct event_list *from = charge->plan;
    const char *id = charge->dataset_id ? charge->dataset_id : "";
    const size_t bytes = from->count * sizeof *from->events, id_length = strnlen(id, SOTTO_DATASET_ID - 1);
    size_t slots;
    status = count_slots(&slots, known, from, charge->unit.rows);
    if (status == SOTTO_EINVAL || status == SOTTO_ENOTSUP)
        status_prefix(where);
    if (status != SOTTO_OK) {
        status = status == SOTTO_ENOMEM ? status : status_fail(SOTTO_EFORMAT, "%s", sotto_error_text());
        goto done;
    }
    if (!(p = take_block(blocks, sizeof *p + bytes + slots + id_length + 1)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", where);
    p->events = (struct event_list){memcpy(p + 1, from->events, bytes), from->count};
    p->slots = slots;
    p->spent = (unsigned char *)(p->events.events + from->count);
    p->dataset_id = memcpy(p->spent + slots, id, id_length);
    *out = p;
done:
    return status;
}

void ledger_plans_free(struct plan_block *last)
{
    while (last) {
        struct plan_block *before = last->before;
        base_free(last);
        last = before;
    }
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
    for (size_t i = 0; i < p->events.count; before += plan_event_slots(&p->events.events[i++]))
        if (slot > before && slot - before <= plan_event_slots(&p->events.events[i]))
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

static bool ledger_plan_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* A number that both have. */
struct compared {
    const char *name;
    double planned, asked;
};
enum { COMPARED = 5 };

static void compare_noise(struct compared out[COMPARED], const struct sotto_event *e,
                          const struct ledger_charge *c)
{
    out[0] = (struct compared){"scale", e->scale, c->scale};
    out[1] = (struct compared){"l1", e->l1, c->l1};
    out[2] = (struct compared){"l2", e->l2, is_by_l2(e) ? c->l2 : NAN};
    out[3] = (struct compared){"dimension", (double)e->dimension, (double)c->dimension};
    out[4] =
        (struct compared){"value_step", e->value_step, is_whole(e) && c->value_step == 0 ? 1 : c->value_step};
}

static void compare_run(struct compared out[COMPARED], const struct sotto_event *e,
                        const struct ledger_charge *c)
{
    out[0] = (struct compared){"sample_rate", e->sample_rate, c->sample_rate};
    out[1] = (struct compared){"steps", (double)e->count, (double)c->steps};
    out[2] = (struct compared){"noise_multiplier", e->noise_multiplier, c->noise_multiplier};
    out[3] = (struct compared){"the norm of clipping (1: l1, 2: l2)", e->clipping == SOTTO_NORM_L1 ? 1 : 2,
                               c->clipping == SOTTO_NORM_L1 ? 1 : 2};
    out[4] = (struct compared){"fixed sampling", e->sampling == SOTTO_SAMPLING_FIXED,
                               c->sampling == SOTTO_SAMPLING_FIXED};
}

void ledger_plan_compare(char out[160], const struct sotto_event *e, const struct ledger_charge *c)
{
    struct compared members[COMPARED];
    const bool run = event_is_run(e),
               flat = c->sampler && strncmp(c->sampler, FLAT_SAMPLER, strlen(FLAT_SAMPLER)) == 0;
    out[0] = '\0';
    if (run)
        compare_run(members, e, c);
    else
        compare_noise(members, e, c);
    if (run != c->is_run)
        snprintf(out, 160, "%s is planned, asked is %s", run ? "a run of steps" : "a single release",
                 run ? "a single release" : "a run of steps");
    else if (!c->mechanism || strcmp(c->mechanism, e->mechanism) != 0)
        snprintf(out, 160, "mechanism is planned as %s, asked as %.40s", e->mechanism,
                 c->mechanism ? c->mechanism : "none");
    for (size_t i = 0; i < COMPARED && !out[0]; i++)
        if (!ledger_plan_same(members[i].planned, members[i].asked))
            snprintf(out, 160, "%s is planned as %.17g, asked as %.17g", members[i].name, members[i].planned,
                     members[i].asked);
    if (!out[0] && c->of_inputs)
        snprintf(out, 160, "whole records are planned, asked is a run that protects inputs");
    if (!out[0] && flat)
        snprintf(out, 160, "flat-doubt is planned as 0, asked as 1");
    if (!out[0] && c->seeded)
        snprintf(out, 160, "noise is planned from the operating system, asked from a seed");
}
