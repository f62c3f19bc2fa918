/* From one release, or many of one kind, to the boxes that cover it. */
#include "dp/account/adaptive_part.h"
#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/event_levels.h"

#include <math.h>

enum { CELLS = 255, LADDER = 3 }; /* 512 cells would save 2e-4 of m */

/* 1 - (1 - d)^k, from above. */
static double failure_of(struct interval d, double k)
{
    return d.hi == 0 ? 0 : iv_neg(iv_expm1(iv_scale(iv_log1p(iv_neg(d)), k))).hi;
}

/* Releases with one scalar pair: Poisson-sampled steps, or noise in a norm that its curve is known for. */
static bool as_item(struct composed_release *out, const struct part *p)
{
    const struct sotto_sampled *s = &p->sampled;
    const enum sotto_norm norm = p->m && p->m->norm == SHIFT_L2 ? SOTTO_NORM_L2 : SOTTO_NORM_L1;
    if (p->kind == PART_SAMPLED) {
        const bool one =
            sampled_replaces(s) && s->sampling == SOTTO_SAMPLING_POISSON; /* its doubling is no group */
        *out = (struct composed_release){p->m->name,          iv_div(iv(1), iv(s->noise_multiplier)),
                                         s->clipping,         s->sample_rate,
                                         sampled_replaces(s), s->steps,
                                         s->sampling};
        return scalar_curve_holds(p->m, s->clipping) && (p->doublings == 0 || one);
    }
    if (p->kind != PART_NOISE || p->m->integer || p->m->by_l2 ||
        !(account_shift(p->m, &p->shifts).hi < INFINITY) || !scalar_curve_holds(p->m, norm) ||
        p->count > 0x1p40)
        return false;
    *out = (struct composed_release){
        p->m->name, account_shift(p->m, &p->shifts), norm, 1, false, (size_t)p->count, 0};
    return true;
}

/* Gaussians above the curve, for each failure on the ladder. */
static sotto_status offers_of_curve(struct adaptive *out, size_t *count, const struct composed_release *item,
                                    size_t items, double failure, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double last, *x = NULL, *delta = NULL;
    NEW(x, CELLS + 1);
    NEW(delta, CELLS + 1);
    TRY(account_pld_end(&last, item, items, ldexp(failure, -2 * LADDER), ctx));
    if (!(last < 600)) /* e^x must be a double */
        goto done;
    const double end = fmax(last, 0x1p-30) * (1 + 1e-3);
    for (size_t i = 0; i <= CELLS; i++)
        x[i] = end * (double)i / CELLS;
    TRY(account_pld_deltas(delta, x, CELLS + 1, item, items, ctx));
    for (int i = 1; i <= LADDER; i++) {
        const double d = ldexp(failure, -2 * i);
        struct adaptive_curve curve = {x, delta, 2};
        while (curve.n < CELLS + 1 && delta[curve.n - 1] > d)
            curve.n++;
        const double square = adaptive_square_of_curve(&curve, 0, d);
        if (square < INFINITY)
            out[(*count)++] = (struct adaptive){0, square, d};
    }
    TRY(context_check(ctx, "account: stopped"));
done:
    base_free(x);
    base_free(delta);
    return status;
}

sotto_status adaptive_offers(struct adaptive out[ADAPTIVE_OFFERS], size_t *count, const struct part *p,
                             double failure, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct composed_release item;
    const double pure = part_pure(p).hi, coin = p->kind == PART_STATED ? failure_of(p->failure, p->count) : 0;
    *count = 0;
    if (pure < INFINITY)
        out[(*count)++] = (struct adaptive){pure, 0, coin};
    if (pure < INFINITY) {
        /* releases of equal epsilon: the Gaussians of each, which are less than that of the sum */
        double square = iv_scale(iv(adaptive_square_of_pure(iv_div(iv(pure), iv(p->count)).hi)), p->count).hi;
        if (square < INFINITY)
            out[(*count)++] = (struct adaptive){0, square, coin};
    }
    if (p->kind == PART_NOISE && p->m->by_l2 && p->m->kind != RELEASE_NONE && p->shifts.l2.hi < INFINITY)
        out[(*count)++] = (struct adaptive){0, iv_scale(iv_square(p->shifts.l2), p->count).hi, 0};
    else if (failure > 0 && !(p->kind == PART_NOISE && p->count == 1 && pure < INFINITY) && as_item(&item, p))
        TRY(offers_of_curve(out, count, &item, 1, failure, ctx));
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
    *out = (struct composed_release){p->m->name, p->shifts.l2, SOTTO_NORM_L2, 1, false, (size_t)p->count, 0};
    return true;
}

/* Each part by one of its own offers: the first, pure where there is a pure one, or the second, Gaussian where there is one. */
static sotto_status offers_of_sums(struct adaptive *out, size_t *count, const struct part *parts, size_t n,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct adaptive own[ADAPTIVE_OFFERS], first = {0, 0, 0}, second = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        size_t offers;
        TRY(adaptive_offers(own, &offers, &parts[i], 0, ctx));
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
                                      const struct part *parts, size_t n, double failure,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct composed_release *items = NULL;
    struct adaptive rest = {0, 0, 0}; /* what has no curve: pure, beside the others' curve */
    size_t found = 0, made;
    bool noise = false;
    if (n == 1) {
        status = adaptive_offers(out, count, parts, failure, ctx);
        goto done;
    }
    *count = 0;
    TRY(offers_of_sums(out, count, parts, n, ctx));
    NEW(items, n);
    for (size_t i = 0; i < n; i++)
        if (as_composed(&items[found], &parts[i])) {
            noise = noise || !is_gaussian(&parts[i]);
            found++;
        } else {
            rest = adaptive_add(rest, (struct adaptive){part_pure(&parts[i]).hi, 0, 0});
        }
    made = *count;
    if (failure > 0 && noise && found <= LEVELS_MANY /* else the sum of squares is the curve */ &&
        rest.pure < INFINITY)
        TRY(offers_of_curve(out, count, items, found, failure, ctx));
    for (size_t i = made; i < *count; i++)
        out[i] = adaptive_add(out[i], rest);
done:
    base_free(items);
    return status;
}
