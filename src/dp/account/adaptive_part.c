/* From one release, or many of one kind, to the boxes that cover it. */
#include "dp/account/adaptive_part.h"
#include "base/memory.h"
#include "dp/account/account_pld.h"

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
                                    double failure, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double last, *x = NULL, *delta = NULL;
    NEW(x, CELLS + 1);
    NEW(delta, CELLS + 1);
    TRY(account_pld_end(&last, item, 1, ldexp(failure, -2 * LADDER), ctx));
    if (!(last < 600)) /* e^x must be a double */
        goto done;
    const double end = fmax(last, 0x1p-30) * (1 + 1e-3);
    for (size_t i = 0; i <= CELLS; i++)
        x[i] = end * (double)i / CELLS;
    TRY(account_pld_deltas(delta, x, CELLS + 1, item, 1, ctx));
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
        TRY(offers_of_curve(out, count, &item, failure, ctx));
done:
    return status;
}
