/* Parts that are known. */
#include "dp/account/event_part.h"

#include <math.h>
#include <string.h>

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
