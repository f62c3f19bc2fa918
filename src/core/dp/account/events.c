/* Different releases, composed: Renyi divergences of every order add up, pure epsilons add up, shifts of
 * equal noise chain (L1) or add in squares (Gaussian). A stated (epsilon, delta) is never worse than
 * something that fails with probability delta and else is randomised response (Kairouz, Oh, Viswanath 2015),
 * so it has a Renyi curve too, and all its deltas are paid first. */
#include "dp/account/events.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/composition.h"
#include "dp/account/event_levels.h"
#include "dp/account/event_part.h"
#include "dp/account/person.h"
#include "dp/mechanism/pure_pair.h"
#include "num/special.h"
#include "options/option_tables.h"
#include "sotto/lab/account.h"
#include "sotto/private/option.h"

#include <stdio.h>
#include <string.h>

struct total {
    const struct part *parts;
    size_t n;
    double delta; /* what is left for the losses */
};

static struct interval pure_of_steps(const struct part *p)
{
    return iv_scale(sampled_pure(&p->sampled),
                    p->sampled.sampling == SOTTO_SAMPLING_FIXED ? ldexp(1, p->doublings) : (double)p->rows);
}

struct interval part_pure(const struct part *p)
{
    struct interval one = {0, INFINITY};
    if (p->kind == PART_STATED)
        one = p->pure;
    else if (p->kind == PART_NOISE && p->m->pure)
        one = account_shift(p->m, &p->shifts);
    else if (p->kind == PART_SAMPLED && p->m->pure && p->sampled.clipping == SOTTO_NORM_L1)
        one = pure_of_steps(p);
    return iv_scale(one, p->count);
}

static struct interval pure_total(const struct total *t)
{
    struct interval sum = iv(0);
    for (size_t i = 0; i < t->n; i++)
        sum = iv_add(sum, part_pure(&t->parts[i]));
    return sum;
}

static struct interval rho_total(const struct total *t)
{
    struct interval sum = iv(0);
    for (size_t i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        struct interval one = {0, INFINITY};
        if (p->kind == PART_STATED)
            one = iv_scale(iv_square(p->pure), 0.5);
        else if (p->kind == PART_NOISE)
            one = iv_div(iv_square(p->shifts.l2), iv(p->m->zcdp_divisor));
        sum = iv_add(sum, iv_scale(one, p->count));
    }
    return sum;
}

/* All events the same noise law: their shifts are one shift. */
static void one_law(struct sotto_account *out, const struct total *t)
{
    const struct mechanism *m = t->parts[0].m;
    struct interval sum = iv(0), squares = iv(0);
    double releases = 0;
    bool equal = true;
    for (size_t i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        if (p->kind != PART_NOISE || p->m != m || m->integer || m->dominated)
            return;
        sum = iv_add(sum, iv_scale(p->shifts.l1, p->count));
        squares = iv_add(squares, iv_scale(iv_square(p->shifts.l2), p->count));
        releases += p->count;
        equal = equal && p->shifts.l1.lo == t->parts[0].shifts.l1.lo &&
                p->shifts.l1.hi == t->parts[0].shifts.l1.hi;
    }
    if (m->by_l2) {
        struct interval e = m->epsilon(iv_sqrt(squares), t->delta);
        account_add_bound(out, "analytic gaussian", e.hi);
        out->epsilon.lower = fmax(out->epsilon.lower, e.lo);
    } else if (isfinite(sum.hi)) {
        account_add_bound(out, "closed form by l1", m->epsilon(sum, t->delta).hi);
        if (equal && m->composed && releases > 1 && releases <= m->composed_max)
            account_add_bound(out, "exact composition by l1",
                              m->composed(t->parts[0].shifts.l1, releases, t->delta).hi);
    }
}

static void one_statement(struct sotto_account *out, const struct total *t)
{
    double releases = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->parts[i].kind != PART_STATED || t->parts[i].pure.hi != t->parts[0].pure.hi)
            return;
        releases += t->parts[i].count;
    }
    if (releases <= COMPOSITION_OPTIMAL_MOST)
        account_add_bound(out, "optimal composition",
                          randomised_response_composed(t->parts[0].pure.hi, releases, t->delta).hi);
}

/* Any part alone tells no more than all together. */
static double lower_of(const struct total *t, enum part_kind kind, double delta,
                       const struct sotto_context *ctx)
{
    double lower = 0;
    struct sotto_account a;
    for (size_t i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        struct sotto_sampled s = p->sampled;
        s.delta = delta;
        if (p->kind != kind)
            continue;
        if (context_stopped(ctx))
            break;
        if (kind == PART_NOISE)
            account_compute(&a, p->m, p->scale, &p->shifts, delta, (size_t)p->count);
        else if (sotto_account_sampled(&a, &s, ctx) != SOTTO_OK)
            continue; /* more than 2^40 steps, no memory, or stopped: nothing is claimed */
        lower = fmax(lower, a.epsilon.lower);
    }
    return lower;
}

enum { MOST_DOUBLED = 64 }; /* orders double with the group */

/* --- checking ------------------------------------------------------------------------------------------- */

static sotto_status make_noise(struct part *p, const struct sotto_event *e, double group)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity s = {
        next_up(e->l1 * group), next_up(e->l2 * group), e->dimension, SOTTO_SENSITIVITY_GIVEN, "",
        e->value_step};
    p->kind = PART_NOISE;
    if (group == 1) {
        s.l1 = e->l1;
        s.l2 = e->l2;
    }
    TRY(mechanism_require(&p->m, e->mechanism));
    if (p->m->kind == RELEASE_NONE)
        FAIL(SOTTO_ENOTSUP, "mechanism '%s' is for comparison only and cannot be composed; expected gaussian",
             e->mechanism);
    TRY(sensitivity_ratio_for(&p->shifts, p->m, e->scale, &s));
    p->scale = e->scale;
done:
    return status;
}

/* `replaced`: half the group takes the place of the other half, else as many come or go; of samples of a fixed
 * size, as many are replaced. */
static sotto_status make_sampled(struct part *p, const struct sotto_event *e, double group, bool replaced)
{
    sotto_status status = SOTTO_OK;
    p->kind = PART_SAMPLED;
    p->sampled = (struct sotto_sampled){
        .mechanism = e->mechanism,
        .noise_multiplier = e->noise_multiplier,
        .sample_rate = e->sample_rate,
        .steps = e->count,
        .delta = 0.5,
        .clipping = e->clipping,
        .adjacency = replaced || e->sampling == SOTTO_SAMPLING_FIXED ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE,
        .sampling = e->sampling};
    REQUIRE((unsigned)e->sampling <= SOTTO_SAMPLING_FIXED,
            "sampling %d is unknown; expected SOTTO_SAMPLING_POISSON or SOTTO_SAMPLING_FIXED",
            (int)e->sampling);
    if (e->sampling == SOTTO_SAMPLING_FIXED && e->adjacency != SOTTO_REPLACE_ONE)
        FAIL(SOTTO_ENOTSUP, "fixed sampling needs replace-one adjacency");
    if (e->sampling == SOTTO_SAMPLING_POISSON && e->adjacency != SOTTO_ADD_REMOVE)
        FAIL(SOTTO_ENOTSUP, "Poisson-sampled steps need add-remove adjacency, in which a replacement counts "
                            "as a group of two");
    const bool fixed = e->sampling == SOTTO_SAMPLING_FIXED;
    const double most = fixed ? MOST_DOUBLED : UNIT_ROWS, records = replaced ? group / 2 : group;
    REQUIRE(records <= most, "the group in sampled steps is %g; expected at most %g", records, most);
    p->rows = fixed ? 1 : (size_t)records;
    TRY(mechanism_require(&p->m, e->mechanism));
    REQUIRE(e->clipping == SOTTO_NORM_L2 || e->clipping == SOTTO_NORM_L1,
            "clipping %d is unknown; expected SOTTO_NORM_L1 or SOTTO_NORM_L2", (int)e->clipping);
    if (!scalar_curve_holds(p->m, e->clipping) && !p->m->renyi_ball)
        FAIL(SOTTO_ENOTSUP,
             "mechanism '%s' has no bound for sampled steps; expected gaussian or logistic, or laplace with "
             "gradients clipped by l1",
             e->mechanism);
    if (!(e->sample_rate >= 1e-9 &&
          e->sample_rate <= 1)) /* reading the range takes as long as all the rest */
        TRY(sotto_option_check_number(sotto_option_find(options_sampled, "sample_rate"), e->sample_rate));
    TRY(require_positive(e->noise_multiplier, "noise_multiplier"));
    while (ldexp(1, p->doublings) < group)
        p->doublings++;
    if (group > MOST_DOUBLED)
        p->doublings = -1;
done:
    return status;
}

static sotto_status make_stated(struct part *p, const struct sotto_event *e, size_t group)
{
    sotto_status status = SOTTO_OK;
    struct sotto_composed c;
    p->kind = PART_STATED;
    TRY(sotto_compose_group(&c, e->stated, group, SOTTO_ADD_REMOVE));
    p->pure = (struct interval){c.epsilon.lower, c.epsilon.upper};
    p->failure = (struct interval){c.delta.lower, c.delta.upper};
done:
    return status;
}

sotto_status part_set_count(struct part *p, size_t count)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(count >= 1 && count <= (size_t)1 << 52, "count must lie in 1..2^52 (got %zu)", count);
    p->count = (double)count;
    p->sampled.steps = count;
done:
    return status;
}

sotto_status part_make(struct part *p, const struct sotto_event *e, size_t index, enum sotto_adjacency target)
{
    sotto_status status = SOTTO_OK;
    char where[40];
    size_t group = e->group == 0 ? 1 : e->group;
    *p = (struct part){.count = 0};
    TRY(part_set_count(p, e->count));
    REQUIRE(group <= 1000000, "group must be at most 1000000 (got %zu)", group);
    REQUIRE(e->adjacency == SOTTO_REPLACE_ONE || e->adjacency == SOTTO_ADD_REMOVE,
            "adjacency must be replace-one or add-remove");
    if (e->adjacency != target) {
        if (target == SOTTO_ADD_REMOVE)
            FAIL(SOTTO_ENOTSUP,
                 "a guarantee under replace-one adjacency does not cover add-remove adjacency; account under "
                 "replace-one, or give the sensitivity under add-remove");
        group *= 2;
    }
    if (e->mechanism && strcmp(e->mechanism, "stated") == 0)
        TRY(make_stated(p, e, group));
    else if (e->noise_multiplier > 0 || e->sample_rate > 0)
        TRY(make_sampled(p, e, (double)group, e->adjacency != target));
    else
        TRY(make_noise(p, e, (double)group));
done:
    if (status != SOTTO_OK) {
        snprintf(where, sizeof where, "events[%zu]", index);
        status_prefix(where);
    }
    return status;
}

static sotto_status common_adjacency(enum sotto_adjacency *out, const struct sotto_event *events, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (events[i].adjacency != events[0].adjacency) {
            sotto_status status = status_fail(SOTTO_ENOTSUP,
                                              "events[%zu] has another adjacency than events[0]; guarantees "
                                              "under replace-one and add-remove cannot be combined",
                                              i);
            status_hint("account under replace-one, where an add-remove event counts as a group of two");
            return status;
        }
    *out = events[0].adjacency;
    return SOTTO_OK;
}

/* What remains of delta after the stated deltas; below 0: these exceed it. */
static struct interval delta_left(const struct part *parts, size_t n, double delta)
{
    struct interval log_rest = iv_log1p(iv(-delta));
    bool any = false;
    for (size_t i = 0; i < n; i++)
        if (parts[i].kind == PART_STATED && parts[i].failure.hi > 0) {
            any = true;
            log_rest = iv_sub(log_rest, iv_scale(iv_log1p(iv_neg(parts[i].failure)), parts[i].count));
        }
    return any ? iv_neg(iv_expm1(log_rest)) : iv(delta);
}

/* A single kind of noise keeps its name and scale. */
static void name_it(struct sotto_account *out, const struct total *t)
{
    const struct part *first = t->parts;
    const char *name = first->m ? first->m->name : "stated";
    for (size_t i = 0; i < t->n; i++) {
        out->compose += (size_t)t->parts[i].count;
        if (t->parts[i].m != first->m)
            name = "composition";
    }
    snprintf(out->mechanism, sizeof out->mechanism, "%s", name);
    if (t->n > 1 || first->kind == PART_STATED)
        return;
    out->sampled = first->kind == PART_SAMPLED;
    out->scale = out->sampled ? first->sampled.noise_multiplier : first->scale;
    if (out->sampled) {
        out->sample_rate = first->sampled.sample_rate;
        out->clipping = first->sampled.clipping;
        out->sampling = first->sampled.sampling;
    }
    out->standard_deviation = account_deviation(first->m, &first->shifts) * out->scale;
}

static void add_up(struct sotto_account *out, const struct total *t, const struct sotto_context *ctx)
{
    struct interval pure = pure_total(t), rho = rho_total(t);
    bool failures = t->delta != out->delta; /* neither pure nor zCDP then */
    if (isfinite(pure.hi) && t->delta >= 0)
        account_add_bound(out, "pure, basic composition", pure.hi);
    if (isfinite(pure.hi) && !failures)
        out->pure_epsilon = pure.hi;
    if (isfinite(rho.hi) && !failures)
        out->zcdp_rho = rho.hi;
    if (t->delta <= 0)
        return;
    one_law(out, t);
    one_statement(out, t);
    account_add_bound(out, "renyi", parts_renyi(t->parts, t->n, t->delta, ctx));
}

/* Worth its time only where no closed form has settled the matter. */
static sotto_status add_pld(struct sotto_account *out, const struct total *t, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct interval e;
    const double upper = out->epsilon.upper;
    if (t->delta <= 0 || (isfinite(upper) && upper - out->epsilon.lower <= 1e-9 * upper))
        goto done;
    if (t->n > LEVELS_MANY && isfinite(upper))
        context_log(
            ctx, SOTTO_LOG_INFO,
            "account: epsilon is at most %.6g (%s); the privacy-loss distribution of %zu kinds of releases "
            "follows",
            upper, out->accountant, t->n);
    TRY(parts_pld(&e, t->parts, t->n, t->delta, ctx));
    if (isfinite(e.hi))
        account_add_bound(out, "privacy-loss distribution", e.hi);
    else
        e.lo = lower_of(t, PART_SAMPLED, t->delta, ctx);
    if (t->delta == out->delta)
        out->epsilon.lower = fmax(out->epsilon.lower, e.lo);
done:
    return status;
}

sotto_status sotto_account_events(struct sotto_account *out, const struct sotto_event *events, size_t n,
                                  double delta, enum sotto_adjacency target, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, !n || events);
    sotto_status status = SOTTO_OK;
    struct part *parts = NULL;
    TRY(require_delta(delta));
    REQUIRE(n >= 1, "composition: no event is given; expected at least one");
    if (target == SOTTO_SAME_ADJACENCY)
        TRY(common_adjacency(&target, events, n));
    NEW(parts, n);
    for (size_t i = 0; i < n; i++)
        TRY(part_make(&parts[i], &events[i], i, target));
    TRY(context_check(ctx, "account: stopped"));
    struct total total = {parts, n, delta_left(parts, n, delta).lo};
    struct sotto_account a = {.scale = NAN,
                              .delta = delta,
                              .sample_rate = 1,
                              .epsilon = {0, INFINITY},
                              .pure_epsilon = NAN,
                              .zcdp_rho = NAN,
                              .standard_deviation = NAN,
                              .accountant = "none"};
    name_it(&a, &total);
    a.adjacency = target == SOTTO_ADD_REMOVE ? SOTTO_ADD_REMOVE : SOTTO_REPLACE_ONE;
    add_up(&a, &total, ctx);
    TRY(context_check(ctx, "account: stopped"));
    a.epsilon.lower = fmax(a.epsilon.lower, lower_of(&total, PART_NOISE, delta, ctx));
    TRY(context_check(ctx, "account: stopped"));
    TRY(add_pld(&a, &total, ctx));
    TRY(context_check(ctx, "account: stopped"));
    a.epsilon.lower = fmin(a.epsilon.lower, a.epsilon.upper);
    *out = a;
done:
    base_free(parts);
    return status;
}
