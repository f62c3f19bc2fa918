/* Which box holds a list of events. All are fixed beforehand here, so each may be paid in the way that suits the rest: any choice of
 * offers is a true statement, and the search only makes it a good one. */
#include "base/memory.h"
#include "dp/account/adaptive_account.h"
#include "dp/account/adaptive_part.h"

#include <stdio.h>

struct offers {
    struct adaptive box[ADAPTIVE_OFFERS]; /* (all): (count) of these may be chosen now */
    size_t count, chosen, all;
};

/* In plain doubles, as they only steer the search: the box that it ends with is added up anew, upward. */
struct sum {
    double pure, square, hidden; /* hidden: ln(1 - failure) */
};

static struct sum any_order_plus(struct sum s, const struct adaptive *box, double sign)
{
    return (struct sum){s.pure + sign * box->pure, s.square + sign * box->square,
                        s.hidden + sign * log1p(-box->failure)};
}

static struct adaptive box_of(struct sum s)
{
    return (struct adaptive){fmax(s.pure, 0), fmax(s.square, 0), fmax(-expm1(s.hidden), 0)};
}

static double epsilon_of(struct sum s, double delta)
{
    const struct adaptive box = box_of(s);
    return box.pure < INFINITY && box.square < INFINITY ? adaptive_epsilon(&box, delta) : INFINITY;
}

/* Exchanges one offer at a time for a better one, until there is none. Returns the epsilon it ends at. */
static double any_order_exchange(struct offers *o, size_t n, double delta, const struct sotto_context *ctx)
{
    struct sum sum = {0, 0, 0};
    for (size_t i = 0; i < n; i++)
        sum = any_order_plus(sum, &o[i].box[o[i].chosen], 1);
    double best = epsilon_of(sum, delta);
    for (bool found = true; found && best > 0;) {
        found = false;
        for (size_t i = 0; i < n && !context_stopped(ctx); i++) {
            const struct sum rest = any_order_plus(sum, &o[i].box[o[i].chosen], -1);
            for (size_t k = 0; k < o[i].count; k++) {
                const struct sum other = any_order_plus(rest, &o[i].box[k], 1);
                const struct adaptive box = box_of(other);
                /* one value of the curve says whether an epsilon is worth computing */
                if (k == o[i].chosen ||
                    (best < INFINITY && adaptive_delta(&box, best * (1 - 1e-9)).hi > delta))
                    continue;
                const double epsilon = epsilon_of(other, delta);
                if (epsilon < best) {
                    best = epsilon;
                    sum = other;
                    o[i].chosen = k;
                    found = true;
                }
            }
        }
    }
    return best;
}

/* Triples with a pure and a Gaussian part come last. */
static size_t without_hybrids(const struct offers *o)
{
    size_t count = o->all;
    while (count > 0 && o->box[count - 1].pure > 0 && o->box[count - 1].square > 0)
        count--;
    return count;
}

/* From the best choice without them, so what is found is no worse; and from each of them in all events that have it. */
static sotto_status choose_hybrids(struct offers *o, size_t n, double delta, double least, size_t *best,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        o[i].count = o[i].all;
        most = o[i].all - without_hybrids(&o[i]) > most ? o[i].all - without_hybrids(&o[i]) : most;
    }
    for (size_t way = 0; most > 0 && way <= most; way++) {
        for (size_t i = 0; i < n; i++) {
            const size_t plain = without_hybrids(&o[i]);
            o[i].chosen = way > 0 && plain + way <= o[i].all ? plain + way - 1 : best[i];
        }
        const double epsilon = any_order_exchange(o, n, delta, ctx);
        TRY(context_check(ctx, "account: stopped"));
        for (size_t i = 0; i < n && epsilon < least; i++)
            best[i] = o[i].chosen;
        least = fmin(least, epsilon);
    }
    for (size_t i = 0; i < n; i++)
        o[i].chosen = best[i];
done:
    return status;
}

/* From several beginnings, as many small steps up may hide the best: all pure; and all by the last, or last but one or two, of the
 * offers, which are Gaussians with ever smaller failures. */
static sotto_status any_order_choose(struct offers *o, size_t n, double delta,
                                     const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t *best = NULL;
    double least = INFINITY;
    NEW(best, n);
    for (size_t way = 0; way < 4; way++) {
        for (size_t i = 0; i < n; i++)
            o[i].chosen = way == 0 || o[i].count <= way ? 0 : o[i].count - way;
        const double epsilon = any_order_exchange(o, n, delta, ctx);
        TRY(context_check(ctx, "account: stopped"));
        if (way > 0 && !(epsilon < least))
            continue;
        least = epsilon;
        for (size_t i = 0; i < n; i++)
            best[i] = o[i].chosen;
    }
    for (size_t i = 0; i < n; i++)
        o[i].chosen = best[i];
    TRY(choose_hybrids(o, n, delta, least, best, ctx));
done:
    base_free(best);
    return status;
}

/* What delta leaves for failures of runs, one part of it each. */
static double failure_of_each(const struct part *parts, size_t n, double delta)
{
    for (size_t i = 0; i < n; i++)
        if (parts[i].kind == PART_STATED)
            delta -= parts[i].failure.hi * parts[i].count;
    return fmax(delta, 0) / (double)n;
}

sotto_status account_any_order(struct sotto_any_order *out, const struct sotto_event *events, size_t n,
                               double delta, enum sotto_adjacency target, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, !n || events);
    sotto_status status = SOTTO_OK;
    struct sotto_any_order a = {.box = {INFINITY, INFINITY, 1}, .epsilon = {0, INFINITY}};
    struct adaptive box = {0, 0, 0};
    struct offers *offers = NULL;
    struct part *parts = NULL;
    TRY(sotto_account_events(&a.beforehand, events, n, delta, target, ctx));
    NEW(parts, n);
    NEW(offers, n);
    for (size_t i = 0; i < n; i++)
        TRY(part_make(&parts[i], &events[i], i,
                      target == SOTTO_SAME_ADJACENCY ? events[0].adjacency : target));
    /* a box of some pure part: parts of what the events have beforehand, which a box cannot be below */
    const struct adaptive left = {.pure =
                                      a.beforehand.epsilon.upper < INFINITY ? a.beforehand.epsilon.upper : 0,
                                  .failure = failure_of_each(parts, n, delta)};
    for (size_t i = 0; i < n && !a.reason[0]; i++) {
        TRY(adaptive_offers(offers[i].box, &offers[i].all, &parts[i], &left, ctx));
        offers[i].count = without_hybrids(&offers[i]);
        if (!offers[i].count)
            snprintf(a.reason, sizeof a.reason, "events[%zu] (%s) has no triple at delta %g", i,
                     events[i].mechanism, delta);
    }
    if (!a.reason[0]) {
        TRY(any_order_choose(offers, n, delta, ctx));
        for (size_t i = 0; i < n; i++)
            box = adaptive_add(box, offers[i].box[offers[i].chosen]);
        a.box = adaptive_shown(&box);
        a.epsilon = adaptive_interval(&a.box, delta);
        if (a.epsilon.upper == INFINITY)
            snprintf(a.reason, sizeof a.reason, "the triple has no epsilon at delta %g", delta);
    }
    *out = a;
done:
    base_free(offers);
    base_free(parts);
    return status;
}
