/* Recorded numbers beside the facts of their line. Bounds are compared from their lower ends, and releases are taken on the finest lattice
 * that ever was, so rounding accuses nobody. */
#include "dp/ledger/ledger_recorded.h"
#include "dp/account/accountant.h"
#include "dp/account/adaptive.h"
#include "dp/account/event_part.h"
#include "dp/mechanism/mechanism.h"

#include <math.h>
#include <string.h>

static const double hair = 1e-9; /* a recorded epsilon is the decimal that was asked for */

static sotto_status ledger_recorded_refuse(const char *where, const char *what, double recorded, double least)
{
    return status_fail(SOTTO_EFORMAT,
                       "%s: records %s %.9g, and its own mechanism, noise and sensitivity give %.9g, so the "
                       "ledger was changed",
                       where, what, recorded, least);
}

/* NAN or INFINITY is recorded where there is no such number, and counts as none. */
static bool is_less(double recorded, double least)
{
    return recorded < least * (1 - hair);
}

static sotto_status require_pure(double recorded, const struct part *p, const char *where)
{
    const double least = part_pure_below(p);
    return is_less(recorded, least) ? ledger_recorded_refuse(where, "pure epsilon", recorded, least)
                                    : SOTTO_OK;
}

/* Of Gaussian noise plain doubles tell in most cases. */
static bool curve_is_below(const struct part *p, double epsilon, double delta)
{
    const struct adaptive box = {.square = iv_square(p->shifts.l2).hi};
    return (p->m->by_l2 && p->m->kind != RELEASE_NONE && adaptive_stays(&box, epsilon, delta)) ||
           account_delta(p->m, &p->shifts, 1, epsilon).hi <= delta;
}

/* The smallest bound of those that a charge takes; the curve alone where that is enough. */
static double least_epsilon(const struct part *p, double recorded, double delta)
{
    const double pure = part_pure_below(p);
    double least = pure;
    struct sotto_account a;
    const bool curve = delta > 0 && (p->m->by_l2 || account_shift(p->m, &p->shifts).hi < INFINITY);
    if (curve && recorded < INFINITY && curve_is_below(p, recorded, delta))
        return recorded; /* so its inverse is not above, which takes long to find */
    if (curve)
        least = fmin(least, account_epsilon(p->m, &p->shifts, 1, delta).lo);
    if (!is_less(recorded, least))
        return recorded;
    account_upper(&a, p->m, p->scale, &p->shifts, delta, 1);
    return fmin(least, a.epsilon.upper);
}

static sotto_status require_noise(const struct part *p, const struct ledger_charge *c, const char *where)
{
    sotto_status status = SOTTO_OK;
    const double rho = iv_div(iv_square(p->shifts.l2), iv(p->m->zcdp_divisor)).lo,
                 least = least_epsilon(p, c->epsilon, c->delta);
    TRY(require_pure(c->pure, p, where));
    if (is_less(c->rho, rho))
        TRY(ledger_recorded_refuse(where, "zCDP rho", c->rho, rho));
    if (is_less(c->epsilon, least))
        TRY(ledger_recorded_refuse(where, "epsilon", c->epsilon, least));
done:
    return status;
}

/* Propose-test-release has no curve. */
static sotto_status require_test(const struct ledger_charge *c, const char *where)
{
    const double least = c->scale > 0 ? 1 / c->scale : INFINITY;
    return is_less(c->epsilon, least) ? ledger_recorded_refuse(where, "epsilon", c->epsilon, least)
                                      : SOTTO_OK;
}

/* What is planned: neither a release by itself, nor its Gaussian ones together, are above what was recorded for all. */
static sotto_status require_plan(struct part_memory *known, const struct event_list *plan,
                                 const struct ledger_charge *c, const char *where)
{
    sotto_status status = SOTTO_OK;
    double pure = 0, rho = 0;
    struct adaptive gaussians = {0};
    for (size_t i = 0; i < plan->count; i++) {
        const struct part *p;
        TRY(part_recall(&p, known, &plan->events[i], i));
        pure += part_pure_below(p);
        if (p->kind == PART_SAMPLED)
            continue;
        rho += p->count * iv_div(iv_square(p->shifts.l2), iv(p->m->zcdp_divisor)).lo;
        if (p->m->by_l2 && !p->m->integer && p->m->kind != RELEASE_NONE)
            gaussians.square += p->count * iv_square(p->shifts.l2).lo;
        const double least = least_epsilon(p, c->epsilon, c->delta);
        if (is_less(c->epsilon, least))
            TRY(ledger_recorded_refuse(where, "epsilon", c->epsilon, least));
    }
    if (c->delta > 0 && !adaptive_stays(&gaussians, c->epsilon, c->delta)) {
        const double least = adaptive_epsilon_below(&gaussians, c->delta);
        if (is_less(c->epsilon, least))
            TRY(ledger_recorded_refuse(where, "epsilon", c->epsilon, least));
    }
    if (is_less(c->pure, pure))
        TRY(ledger_recorded_refuse(where, "pure epsilon", c->pure, pure));
    if (is_less(c->rho, rho))
        TRY(ledger_recorded_refuse(where, "zCDP rho", c->rho, rho));
done:
    return status;
}

/* With all records in each step, Gaussians of all steps add up: a record is replaced by its opposite, or comes or goes. */
static sotto_status require_steps(bool *derived, struct part_memory *known, const struct sotto_event *e,
                                  const struct ledger_charge *c, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct part *p;
    *derived = false;
    TRY(part_recall(&p, known, e, 0));
    const bool replaced = c->adjacency && strcmp(c->adjacency, "replace-one") == 0;
    if (replaced)
        TRY(require_pure(c->pure, p, where));
    if (e->sample_rate < 1 || !p->m->by_l2 || p->m->integer || c->delta == 0)
        goto done;
    const struct interval step = iv_div(iv(replaced ? 2 : 1), iv(e->noise_multiplier));
    const double least = p->m->epsilon(iv_mul(step, iv_sqrt(iv((double)e->count))), c->delta).lo;
    if (is_less(c->epsilon, least))
        TRY(ledger_recorded_refuse(where, "epsilon", c->epsilon, least));
    *derived = true;
done:
    return status;
}

static bool has_formula(const struct mechanism *m)
{
    return !(m->integer && !m->pure);
}

sotto_status ledger_require_recorded(bool *derived, struct part_memory *known, const struct ledger_item *item,
                                     const struct ledger_charge *c, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m = c->mechanism ? mechanism_find(c->mechanism) : NULL;
    const struct sotto_event *e = &item->charged.event;
    struct part p = {.count = 1};
    *derived = false;
    if (item->charged.plan)
        return require_plan(known, item->charged.plan, c, where);
    if (e->noise_multiplier > 0)
        return require_steps(derived, known, e, c, where);
    if (c->mechanism && strcmp(c->mechanism, TEST_MECHANISM) == 0)
        return require_test(c, where);
    if (!m || c->noise_multiplier > 0 || (m->integer && !(c->value_step > 0)))
        goto done;
    const struct sotto_sensitivity s = {
        .l1 = c->l1, .l2 = c->l2, .dimension = c->dimension, .value_step = c->value_step};
    p.m = m;
    p.scale = c->scale;
    status = sensitivity_ratio_on(&p.shifts, m, c->scale, &s, LATTICE_BITS_FINE);
    if (status == SOTTO_EINVAL)
        FAIL(SOTTO_EFORMAT, "%s: nothing follows from its scale, sensitivity and dimension: %.200s", where,
             sotto_error_text());
    TRY(status);
    TRY(require_noise(&p, c, where));
    *derived = has_formula(m);
done:
    return status;
}
