/* Sampled steps of an event, as a record sees them. */
#include "dp/account/event_part.h"
#include "dp/account/person.h"

#include <math.h>
#include <string.h>

struct part part_of_person(const struct part *p)
{
    struct part one = *p;
    if (p->kind != PART_SAMPLED || p->rows <= 1)
        return one;
    one.sampled.rows_per_person = p->rows;
    one.sampled = unit_steps(&one.sampled);
    one.rows = 1;
    one.doublings = sampled_replaces(&p->sampled);
    return one;
}

struct composed_release part_item(const struct part *p)
{
    const struct sotto_sampled *s = &p->sampled;
    return (struct composed_release){p->m->name,          iv_div(iv(1), iv(s->noise_multiplier)),
                                     s->clipping,         s->sample_rate,
                                     sampled_replaces(s), s->steps,
                                     s->sampling};
}

bool part_has_item(const struct part *p)
{
    return p->kind == PART_SAMPLED && scalar_curve_holds(p->m, p->sampled.clipping) &&
           (p->sampled.sampling == SOTTO_SAMPLING_POISSON || p->doublings == 0);
}

/* ---- parts that are known ---- */

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool event_is_like(const struct sotto_event *a, const struct sotto_event *b)
{
    return same_number(a->scale, b->scale) && same_number(a->l1, b->l1) && same_number(a->l2, b->l2) &&
           a->noise_multiplier == b->noise_multiplier && a->sample_rate == b->sample_rate &&
           a->adjacency == b->adjacency && a->dimension == b->dimension && a->value_step == b->value_step &&
           a->clipping == b->clipping && a->sampling == b->sampling && a->group == b->group &&
           same_number(a->stated.epsilon, b->stated.epsilon) && a->stated.delta == b->stated.delta &&
           strcmp(a->mechanism, b->mechanism) == 0;
}

sotto_status part_recall(const struct part **part, struct part_memory *known, const struct sotto_event *e,
                         size_t index)
{
    sotto_status status = SOTTO_OK;
    size_t i = 0;
    while (i < PARTS_KNOWN &&
           !(known->event[i].mechanism && e->mechanism && event_is_like(&known->event[i], e)))
        i++;
    if (i < PARTS_KNOWN && part_set_count(&known->part[i], e->count) == SOTTO_OK) {
        *part = &known->part[i];
        goto done;
    }
    i = i < PARTS_KNOWN ? i : known->made++ % PARTS_KNOWN;
    known->event[i].mechanism = NULL;
    TRY(part_make(&known->part[i], e, index, SOTTO_REPLACE_ONE));
    known->event[i] = *e;
    *part = &known->part[i];
done:
    return status;
}
