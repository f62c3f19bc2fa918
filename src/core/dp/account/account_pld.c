/* With add-remove adjacency both directions are composed, each for itself, and the larger is reported: an
 * adversary knows which record may be missing. A rough look at the second one often shows that it is smaller.
 * With replace-one adjacency a reflection swaps the pair, so there is one direction. */
#include "dp/account/account_pld.h"

#include "base/memory.h"

bool scalar_curve_holds(const struct mechanism *m, enum sotto_norm norm)
{
    return m->tails && (m->by_l2 || norm == SOTTO_NORM_L1);
}

void account_mark_end(struct pld_part *part, const struct pair_sampled *p)
{
    double t = p->shift, q = p->rate;
    if (p->direction >= PLD_REPLACE) {
        double end =
            p->direction == PLD_FIXED ? log1p(q * expm1(2 * t)) : log1p(q * expm1(t)) - log1p(q * expm1(-t));
        part->atom = p->mechanism->pure && end < 700 ? end : 0;
        part->inset = p->mechanism->atom > 0 ? 0 : 1e-3;
    } else if (q == 1) {
        part->atom = p->mechanism->atom > 0 ? t : 0;
    } else {
        double more = log1p(q * expm1(t)), less = -log1p(-q);
        bool bounded = p->mechanism->pure;
        part->atom = bounded && more < 700 ? more : less;
        part->inset = p->mechanism->atom > 0 && bounded ? 0 : 1e-3;
    }
}

static struct interval pure_of_record(const struct sotto_sampled *s)
{
    struct interval t = iv_div(iv(1), iv(s->noise_multiplier)), q = iv(s->sample_rate);
    if (s->sampling == SOTTO_SAMPLING_FIXED)
        t = iv_scale(t, 2);
    struct interval more = iv_min(iv_log1p(iv_mul(q, iv_expm1(t))), t);
    if (s->adjacency != SOTTO_REPLACE_ONE || s->sampling == SOTTO_SAMPLING_FIXED)
        return more;
    return iv_sub(more, iv_max(iv_log1p(iv_mul(q, iv_expm1(iv_neg(t)))), iv_neg(t)));
}

struct interval sampled_pure(const struct sotto_sampled *s)
{
    return iv_scale(pure_of_record(s), (double)(s->rows_per_person > 1 ? s->rows_per_person : 1));
}

/* Of a fixed size: below is the pair of two data sets in which all other records point away from the one that
 * is replaced, as does the one in its place. */
static void item_pairs_make(struct item_pairs *out, const struct composed_release *c, enum pld_direction way)
{
    bool fixed = c->sampling == SOTTO_SAMPLING_FIXED;
    way = fixed ? PLD_FIXED : c->replace_one ? PLD_REPLACE : way;
    out->above = (struct pair_sampled){mechanism_find(c->mechanism), c->shift.hi, c->rate, way};
    out->below = out->above;
    out->below.shift = c->shift.lo * (fixed ? 2 : 1);
    out->below.direction = fixed ? PLD_REMOVE : way;
}

/* Noise with a pure epsilon: the loss where all sampled rows tell alike; else that of a step which none of them was in. */
static void mark_rows_end(struct pld_part *part, const struct pair_rows *p)
{
    double more = 0, less = 0;
    for (size_t i = 0; i < p->count; i++) {
        more += p->weight[i].hi * exp(p->rows[i] * p->of.shift);
        less += p->weight[i].hi * exp(-p->rows[i] * p->of.shift);
    }
    const bool pure = p->of.mechanism->pure, replace = p->of.direction == PLD_REPLACE;
    const double end = log(more) - (replace ? log(less) : 0), none = -log(p->weight[0].hi);
    part->atom = pure && end < 700 ? end : replace || !(none < 700) ? 0 : none;
    part->inset = p->of.mechanism->atom > 0 && pure && !replace ? 0 : 1e-3;
}

enum { MANY_ROWS = 24 };

void account_item_part(struct pld_part *out, struct item_pairs *room, const struct composed_release *item,
                       enum pld_direction way)
{
    item_pairs_make(room, item, way);
    out->count = (double)item->count;
    if (item->rows <= 1) {
        out->upper = pair_of_sampled(&room->above);
        out->lower = pair_of_sampled(&room->below);
        account_mark_end(out, &room->above);
        return;
    }
    pair_rows_make(&room->rows_above, &room->above, item->rows, true);
    pair_rows_make(&room->rows_below, &room->below, item->rows, false);
    out->upper = pair_of_rows(&room->rows_above);
    out->lower = pair_of_rows(&room->rows_below);
    out->slow = room->rows_above.count > MANY_ROWS;
    mark_rows_end(out, &room->rows_above);
}

/* The same items in one direction. */
struct direction {
    struct item_pairs *pairs;
    struct pld_part *parts;
    size_t count;
};

static void account_pld_direct(struct direction *d, const struct composed_release *items, size_t count,
                               enum pld_direction direction)
{
    d->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct composed_release *c = &items[i];
        const struct mechanism *m = mechanism_find(c->mechanism);
        if (!m->tails) /* leaving a release out tells no more */
            continue;
        d->parts[d->count] = (struct pld_part){0};
        account_item_part(&d->parts[d->count], &d->pairs[d->count], c, direction);
        d->count++;
    }
}

/* Only then do the two directions differ. */
static bool one_is_sampled_out(const struct composed_release *items, size_t count)
{
    bool sampled = false;
    for (size_t i = 0; i < count; i++)
        sampled = sampled || (items[i].rate < 1 && !items[i].replace_one);
    return sampled;
}

enum { ROUGH = 100 };

double account_accuracy(const struct mechanism *m, bool sampled)
{
    return !sampled ? 0.1 : m->atom > 0 ? 0.03 : 1;
}

sotto_status account_pld(struct interval *epsilon, const struct composed_release *items, size_t count,
                         double delta, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct direction d = {0};
    struct interval most = iv(0), other;
    bool bounded = true;
    double accuracy = 1;
    NEW(d.pairs, count);
    NEW(d.parts, count);
    for (size_t i = 0; i < count; i++)
        bounded = bounded && scalar_curve_holds(mechanism_find(items[i].mechanism), items[i].norm);
    if (count == 1 && items->rate < 1) /* without sampling, 1 is enough for every caller */
        accuracy = account_accuracy(mechanism_find(items->mechanism), true);
    account_pld_direct(&d, items, count, PLD_REMOVE);
    if (d.count > 0)
        TRY(pld_epsilon(&most, d.parts, d.count, delta, accuracy, ctx));
    if (d.count > 0 && one_is_sampled_out(items, count)) {
        account_pld_direct(&d, items, count, PLD_ADD);
        TRY(pld_epsilon(&other, d.parts, d.count, delta, ROUGH, ctx));
        if (other.hi > most.lo)
            TRY(pld_epsilon(&other, d.parts, d.count, delta, accuracy, ctx));
        most = iv_max(most, other);
    }
    *epsilon = (struct interval){most.lo, bounded ? most.hi : INFINITY};
done:
    base_free(d.pairs);
    base_free(d.parts);
    return status;
}

sotto_status account_pld_end(double *end, const struct composed_release *items, size_t count, double delta,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct direction d = {0};
    struct interval reached = iv(0), other = iv(0);
    NEW(d.pairs, count);
    NEW(d.parts, count);
    account_pld_direct(&d, items, count, PLD_REMOVE);
    TRY(pld_epsilon(&reached, d.parts, d.count, delta, ROUGH, ctx));
    if (one_is_sampled_out(items, count)) {
        account_pld_direct(&d, items, count, PLD_ADD);
        TRY(pld_epsilon(&other, d.parts, d.count, delta, ROUGH, ctx));
    }
    *end = fmax(reached.hi, other.hi);
done:
    base_free(d.pairs);
    base_free(d.parts);
    return status;
}

sotto_status account_pld_deltas(double *delta, const double *epsilon, size_t n,
                                const struct composed_release *items, size_t count,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct direction d = {0};
    double *other = NULL;
    NEW(d.pairs, count);
    NEW(d.parts, count);
    NEW(other, n);
    account_pld_direct(&d, items, count, PLD_REMOVE);
    TRY(pld_deltas(delta, epsilon, n, d.parts, d.count, ctx));
    if (one_is_sampled_out(items, count)) {
        account_pld_direct(&d, items, count, PLD_ADD);
        TRY(pld_deltas(other, epsilon, n, d.parts, d.count, ctx));
        for (size_t i = 0; i < n; i++)
            delta[i] = fmax(delta[i], other[i]);
    }
done:
    base_free(d.pairs);
    base_free(d.parts);
    base_free(other);
    return status;
}
