/* Sampled steps of an event, as a record sees them. */
#include "dp/account/event_part.h"
#include "dp/account/person.h"

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
                                     s->sampling,         p->rows};
}

bool part_has_item(const struct part *p)
{
    return p->kind == PART_SAMPLED && scalar_curve_holds(p->m, p->sampled.clipping) &&
           (p->sampled.sampling == SOTTO_SAMPLING_POISSON || p->doublings == 0);
}
