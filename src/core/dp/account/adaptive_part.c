/* From one release, or many of one kind, to the boxes that cover it. */
#include "dp/account/adaptive_part.h"
#include "base/memory.h"
#include "dp/account/event_levels.h"

#include <math.h>
#include <string.h>

enum { CELLS = 255 /* twice as many would save 2e-4 of m */, LADDER = 3 };
enum { OTHERS = 2 /* that a ledger has to add */ };

/* 1 - (1 - d)^k, from above. */
static double failure_of(struct interval d, double k)
{
    return d.hi == 0 ? 0 : iv_neg(iv_expm1(iv_scale(iv_log1p(iv_neg(d)), k))).hi;
}

/* The steps of a run, or noise in a norm that its curve is known for. */
static bool as_item(struct composed_release *out, const struct part *p)
{
    const enum sotto_norm norm = p->m && p->m->norm == SHIFT_L2 ? SOTTO_NORM_L2 : SOTTO_NORM_L1;
    if (part_has_item(p)) {
        *out = part_item(p);
        return true;
    }
    if (p->kind != PART_NOISE || p->m->integer || p->m->by_l2 ||
        !(account_shift(p->m, &p->shifts).hi < INFINITY) || !scalar_curve_holds(p->m, norm) ||
        p->count > 0x1p40)
        return false;
    *out = (struct composed_release){
        p->m->name, account_shift(p->m, &p->shifts), norm, 1, false, (size_t)p->count, 0, 0};
    return true;
}

/* The curve of a part, or of some that are fixed beforehand, from above. */
struct source {
    enum { BY_ITEMS, BY_STEPS, BY_RENYI } kind;
    const struct part *part;              /* but of BY_ITEMS */
    const struct composed_release *items; /* of BY_ITEMS */
    size_t item_count;
    struct renyi_orders orders; /* of BY_RENYI */
};

static sotto_status source_end(double *end, struct source *s, double delta, const struct sotto_context *ctx)
{
    if (s->kind == BY_ITEMS)
        return account_pld_end(end, s->items, s->item_count, delta, ctx);
    if (s->kind == BY_STEPS)
        return part_whole_end(end, s->part, delta, ctx);
    *end = part_renyi_orders(&s->orders, s->part, delta, ctx);
    return SOTTO_OK;
}

static sotto_status source_deltas(double *delta, const double *x, size_t n, const struct source *s,
                                  const struct sotto_context *ctx)
{
    if (s->kind == BY_ITEMS)
        return account_pld_deltas(delta, x, n, s->items, s->item_count, ctx);
    if (s->kind == BY_STEPS)
        return part_whole_deltas(delta, x, n, s->part, ctx);
    renyi_deltas(delta, x, n, &s->orders);
    return adaptive_hull(delta, x, n);
}

/* What the curve of one law is known by. False: by Renyi divergences only. */
static bool by_law(struct source *out, struct composed_release *item, const struct part *p)
{
    *out = (struct source){.kind = BY_ITEMS, .part = p, .items = item, .item_count = 1};
    if (p->kind == PART_NOISE && p->m->integer && p->shifts.steps < INFINITY)
        out->kind = BY_STEPS;
    return out->kind != BY_ITEMS || as_item(item, p);
}

static bool law_is_exact(const struct source *s)
{
    return s->part->kind == PART_SAMPLED ||
           (s->kind == BY_STEPS && s->part->shifts.steps == s->part->shifts.one_coordinate);
}

/* Of the curves that are known of one part the one that ends first. *end INFINITY: there is none. The curve of one pure release is near
 * that of its epsilon, which is on offer already, unless it ends long before. */
static sotto_status find_source(struct source *out, double *end, struct composed_release *item,
                                const struct part *p, double delta, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const double pure = p->kind == PART_NOISE && p->count == 1 ? part_pure(p).hi : INFINITY;
    struct source renyi = {.kind = BY_RENYI, .part = p};
    double last = INFINITY;
    *end = INFINITY;
    if (p->kind == PART_STATED)
        goto done;
    const bool known = by_law(out, item, p);
    if (known && pure == INFINITY)
        TRY(source_end(end, out, delta, ctx));
    if (known && law_is_exact(out))
        goto done;
    TRY(source_end(&last, &renyi, delta, ctx));
    if (last < *end && last < pure / 2) {
        *out = renyi;
        *end = last;
    }
done:
    return status;
}

/* The box (pure, m, failure) above the curve, if there is one. */
static void offer_above(struct adaptive *out, size_t *count, struct adaptive_curve curve, double pure,
                        double failure)
{
    const size_t all = curve.n;
    curve.n = 2;
    while (curve.n < all && curve.delta[curve.n - 1] > failure)
        curve.n++;
    const double square = adaptive_square_of_curve(&curve, pure, failure);
    if (square < INFINITY)
        out[(*count)++] = (struct adaptive){pure, square, failure};
}

/* Gaussians above the curve, for each failure on the ladder, and beside a pure part where one is left. `last`: its end. */
static sotto_status offers_of_curve(struct adaptive *out, size_t *count, const struct source *source,
                                    double last, const struct adaptive *left, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    static const double parts[] = {.5, .25, .75}; /* of what is left */
    double *x = NULL, *delta = NULL;
    NEW(x, CELLS + 1);
    NEW(delta, CELLS + 1);
    if (!(last < 600)) /* e^x must be a double */
        goto done;
    const double end = fmax(last, 0x1p-30) * (1 + 1e-3);
    for (size_t i = 0; i <= CELLS; i++)
        x[i] = end * (double)i / CELLS;
    TRY(source_deltas(delta, x, CELLS + 1, source, ctx));
    const struct adaptive_curve curve = {x, delta, CELLS + 1};
    for (int i = 1; i <= LADDER; i++)
        offer_above(out, count, curve, 0, ldexp(left->failure, -2 * i));
    for (size_t i = 0; i < 3 && left->pure > 0 && left->pure < INFINITY && *count < ADAPTIVE_OFFERS - OTHERS;
         i++)
        offer_above(out, count, curve, parts[i] * left->pure, left->failure / 4);
    TRY(context_check(ctx, "account: stopped"));
done:
    base_free(x);
    base_free(delta);
    return status;
}

/* Pure releases of equal epsilon as the Gaussians of each, which are less than that of the sum. INFINITY: there are none. */
static double square_of_pure(const struct part *p)
{
    const struct interval each = iv_div(iv(part_pure(p).hi), iv(p->count));
    return iv_scale(iv(adaptive_square_of_pure(each.hi)), p->count).hi;
}

sotto_status adaptive_offers(struct adaptive out[ADAPTIVE_OFFERS], size_t *count, const struct part *p,
                             const struct adaptive *left, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct composed_release item;
    struct source source;
    double last;
    const double pure = part_pure(p).hi, coin = p->kind == PART_STATED ? failure_of(p->failure, p->count) : 0;
    *count = 0;
    if (pure < INFINITY)
        out[(*count)++] = (struct adaptive){pure, 0, coin};
    if (pure < INFINITY) {
        const double square = square_of_pure(p);
        if (square < INFINITY)
            out[(*count)++] = (struct adaptive){0, square, coin};
    }
    if (p->kind == PART_NOISE && p->m->by_l2 && p->m->kind != RELEASE_NONE && p->shifts.l2.hi < INFINITY)
        out[(*count)++] = (struct adaptive){0, iv_scale(iv_square(p->shifts.l2), p->count).hi, 0};
    else if (left->failure > 0) {
        TRY(find_source(&source, &last, &item, p, ldexp(left->failure, -2 * LADDER), ctx));
        TRY(offers_of_curve(out, count, &source, last, left, ctx));
    }
done:
    return status;
}

/* ---- many that are fixed beforehand ---- */

static bool is_gaussian(const struct part *p)
{
    return p->kind == PART_NOISE && p->m->by_l2 && p->m->kind != RELEASE_NONE && p->shifts.l2.hi < INFINITY;
}

/* Gaussian noise has a curve too, which composes with others. */
static bool as_composed(struct composed_release *out, const struct part *p)
{
    if (!is_gaussian(p) || p->count > 0x1p40)
        return as_item(out, p);
    *out =
        (struct composed_release){p->m->name, p->shifts.l2, SOTTO_NORM_L2, 1, false, (size_t)p->count, 0, 0};
    return true;
}

/* Equal ones in a row are one. */
static bool adaptive_part_joins(struct composed_release *last, const struct composed_release *one)
{
    const bool same = strcmp(last->mechanism, one->mechanism) == 0 && last->shift.lo == one->shift.lo &&
                      last->shift.hi == one->shift.hi && last->norm == one->norm && last->rate == one->rate &&
                      last->replace_one == one->replace_one && last->sampling == one->sampling &&
                      last->rows == one->rows && one->count <= ((size_t)1 << 40) - last->count;
    last->count += same ? one->count : 0;
    return same;
}

/* Each part by one of its own offers: the first, pure where there is a pure one, or the second, Gaussian where there is one. */
static sotto_status offers_of_sums(struct adaptive *out, size_t *count, const struct part *parts, size_t n,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct adaptive nothing_left = {0, 0, 0};
    struct adaptive own[ADAPTIVE_OFFERS], first = {0, 0, 0}, second = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        size_t offers;
        TRY(adaptive_offers(own, &offers, &parts[i], &nothing_left, ctx));
        if (offers == 0)
            goto done;
        first = adaptive_add(first, own[0]);
        second = adaptive_add(second, own[offers > 1]);
    }
    out[(*count)++] = first;
    if (second.square > first.square)
        out[(*count)++] = second;
done:
    return status;
}

sotto_status adaptive_offers_together(struct adaptive out[ADAPTIVE_OFFERS], size_t *count,
                                      const struct part *parts, size_t n, const struct adaptive *left,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct composed_release *items = NULL;
    struct adaptive rest = {0, 0, 0},
                    as_gaussian = rest; /* what has no curve, beside the others': pure, or Gaussians */
    size_t found = 0, made;
    bool noise = false;
    double last;
    if (n == 1) {
        status = adaptive_offers(out, count, parts, left, ctx);
        goto done;
    }
    *count = 0;
    TRY(offers_of_sums(out, count, parts, n, ctx));
    NEW(items, n);
    for (size_t i = 0; i < n; i++)
        if (as_composed(&items[found], &parts[i])) {
            noise = noise || !is_gaussian(&parts[i]);
            found += found == 0 || !adaptive_part_joins(&items[found - 1], &items[found]);
        } else {
            rest = adaptive_add(rest, (struct adaptive){part_pure(&parts[i]).hi, 0, 0});
            as_gaussian = adaptive_add(as_gaussian, (struct adaptive){0, square_of_pure(&parts[i]), 0});
        }
    made = *count;
    if (left->failure > 0 && noise && found <= LEVELS_MANY /* else the sum of squares is the curve */ &&
        rest.pure < INFINITY) {
        struct source all = {.kind = BY_ITEMS, .items = items, .item_count = found};
        TRY(source_end(&last, &all, ldexp(left->failure, -2 * LADDER), ctx));
        TRY(offers_of_curve(out, count, &all, last, left, ctx));
    }
    for (size_t i = made, end = *count; i < end; i++) {
        if (rest.pure > 0 && as_gaussian.square < INFINITY && *count < ADAPTIVE_OFFERS - OTHERS)
            out[(*count)++] = adaptive_add(out[i], as_gaussian);
        out[i] = adaptive_add(out[i], rest);
    }
done:
    base_free(items);
    return status;
}
