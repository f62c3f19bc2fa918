/* Every bound that applies is computed, the smallest wins. k releases of the same kind are one release of a
 * vector k times as long: L1 shifts add (t1 -> k t1), squared L2 shifts add (t2 -> sqrt(k) t2), Renyi
 * divergences add. */
#include "dp/accountant.h"
#include "num/special.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

sotto_status require_positive(double x, const char *what)
{
    if (isnan(x))
        return status_fail(SOTTO_EINVAL, "%s must be a number > 0 (got NaN)", what);
    if (x <= 0)
        return status_fail(SOTTO_EINVAL, "%s must be > 0 (got %g)", what, x);
    if (x < 1e-100 || x > 1e100)
        return status_fail(SOTTO_EINVAL, "%s must lie between 1e-100 and 1e100 (got %g)", what, x);
    return SOTTO_OK;
}

sotto_status require_delta(double delta)
{
    if (!(delta >= 0 && delta < 1))
        return status_fail(SOTTO_EINVAL, "delta must lie in [0, 1) (got %g)", delta);
    if (delta != 0 && delta < DBL_MIN)
        return status_fail(SOTTO_EINVAL, "delta must be 0 or at least %g (got %g)", DBL_MIN, delta);
    return SOTTO_OK;
}

sotto_status shifts_make(struct shifts *out, double scale, const struct sotto_sensitivity *s)
{
    sotto_status status = SOTTO_OK;
    TRY(require_positive(scale, "scale"));
    bool has1 = !isnan(s->l1), has2 = !isnan(s->l2);
    REQUIRE(has1 || has2, "sensitivity: neither l1 nor l2 is given; at least one norm is needed");
    if (has1)
        TRY(require_positive(s->l1, "sensitivity l1"));
    if (has2)
        TRY(require_positive(s->l2, "sensitivity l2"));
    struct interval l1 = iv(has1 ? s->l1 : INFINITY), l2 = iv(has2 ? s->l2 : s->l1);
    if (has2 && s->dimension > 0)
        l1 = iv_min(l1, iv_mul(iv_sqrt(iv((double)s->dimension)), l2));
    l2 = iv_min(l2, l1);
    if (s->dimension >
        0) { /* rounding to the lattice moves every coordinate by up to half a step, twice, either way */
        struct interval n = iv((double)s->dimension), step = iv(lattice_step(scale)), both = {-1, 1};
        l1 = iv_max(iv_add(l1, iv_mul(both, iv_mul(n, step))), iv(0));
        l2 = iv_max(iv_add(l2, iv_mul(both, iv_mul(iv_sqrt(n), step))), iv(0));
    }
    out->l1 = isinf(l1.hi) ? iv(INFINITY) : iv_div(l1, iv(scale));
    out->l2 = iv_div(l2, iv(scale));
    out->dimension = (double)s->dimension;
done:
    return status;
}

struct curve {
    const struct mechanism *m;
    const struct shifts *shifts;
    double k;
};

static struct interval curve_l1(double alpha, const void *arg)
{
    const struct curve *c = arg;
    return iv_scale(c->m->renyi(c->shifts->l1, alpha), c->k);
}

static struct interval curve_l2(double alpha, const void *arg)
{
    const struct curve *c = arg;
    return iv_scale(c->m->renyi_ball(c->shifts->l2, c->shifts->dimension, alpha), c->k);
}

static void add_bound(struct sotto_account *a, const char *name, double epsilon)
{
    struct sotto_bound *b = &a->bounds[a->bound_count++];
    snprintf(b->name, sizeof b->name, "%s", name);
    b->epsilon = epsilon;
    if (epsilon < a->epsilon.upper) {
        a->epsilon.upper = epsilon;
        memcpy(a->accountant, b->name, sizeof b->name);
    }
}

/* One coordinate that moves by t in each of k releases. */
static double scalar_lower(const struct mechanism *m, struct interval t, double delta, double k)
{
    if (m->by_l2)
        return m->epsilon(iv_mul(t, iv_sqrt(iv(k))), delta).lo;
    double one = m->epsilon(t, delta).lo; /* more releases never tell less than one */
    return k > 1 && m->composed && k <= m->composed_max ? fmax(one, m->composed(t, k, delta).lo) : one;
}

enum { SPREAD = 1024 }; /* coordinates; already within a fraction of a percent of the limit */

/* What some adjacent pair really gives: its shift all in one coordinate, or spread evenly over as many as
 * both norms allow. Both are shifts within the sensitivity, so epsilon cannot be smaller. */
static double lower_bound(const struct mechanism *m, const struct shifts *s, double delta, double k)
{
    struct interval one = iv_min(s->l1, s->l2);
    if (delta == 0)
        return m->pure ? iv_scale(s->dimension > 0 ? s->l1 : one, k).lo : INFINITY;
    double lower = scalar_lower(m, one, delta, k);
    double spread = fmin(fmin(s->dimension, SPREAD), floor(m->composed_max / k));
    if (isfinite(s->l1.hi))
        spread = fmin(spread, floor(iv_square(iv_div(s->l1, s->l2)).lo));
    if (m->composed && spread >= 2)
        lower = fmax(lower, m->composed(iv_div(s->l2, iv_sqrt(iv(spread))), k * spread, delta).lo);
    return lower;
}

void account_upper(struct sotto_account *out, const struct mechanism *m, double scale, const struct shifts *s,
                   double delta, size_t compose)
{
    double k = (double)compose;
    bool has1 = isfinite(s->l1.hi);
    *out = (struct sotto_account){.scale = scale,
                                  .delta = delta,
                                  .compose = compose,
                                  .sample_rate = 1,
                                  .epsilon = {0, INFINITY},
                                  .pure_epsilon = NAN,
                                  .zcdp_rho = NAN,
                                  .accountant = "none",
                                  .adjacency = "replace-one",
                                  .standard_deviation = m->standard_deviation * scale};
    snprintf(out->mechanism, sizeof out->mechanism, "%s", m->name);
    struct interval rho = iv_scale(iv_div(iv_square(s->l2), iv(m->zcdp_divisor)), k);
    out->zcdp_rho = rho.hi;
    if (m->pure && has1) {
        out->pure_epsilon = iv_scale(s->l1, k).hi;
        add_bound(out, compose > 1 ? "pure, basic composition" : "pure", out->pure_epsilon);
    }
    if (delta == 0)
        return;
    struct curve curve = {m, s, k};
    if (m->by_l2)
        add_bound(out, "analytic gaussian", m->epsilon(iv_mul(s->l2, iv_sqrt(iv(k))), delta).hi);
    else if (has1)
        add_bound(out, "closed form by l1", m->epsilon(iv_scale(s->l1, k), delta).hi);
    if (m->composed && has1 && k > 1 && k <= m->composed_max)
        add_bound(out, "exact composition by l1", m->composed(s->l1, k, delta).hi);
    if (m->renyi_ball && s->dimension > 0)
        add_bound(out, "l2 theorem, renyi", renyi_curve_epsilon(curve_l2, &curve, delta));
    if (has1 && !m->by_l2)
        add_bound(out, "renyi by l1", renyi_curve_epsilon(curve_l1, &curve, delta));
    add_bound(out, "zcdp", zcdp_epsilon(rho.hi, delta));
}

void account_compute(struct sotto_account *out, const struct mechanism *m, double scale,
                     const struct shifts *s, double delta, size_t compose)
{
    account_upper(out, m, scale, s, delta, compose);
    out->epsilon.lower = fmin(lower_bound(m, s, delta, (double)compose), out->epsilon.upper);
}

sotto_status sotto_account_release(struct sotto_account *out, const char *mechanism, double scale,
                                   const struct sotto_sensitivity *sensitivity, double delta, size_t compose)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    struct shifts shifts;
    TRY(mechanism_require(&m, mechanism));
    TRY(shifts_make(&shifts, scale, sensitivity));
    TRY(require_delta(delta));
    REQUIRE(compose >= 1, "compose must be at least 1 (got 0)");
    account_compute(out, m, scale, &shifts, delta, compose);
done:
    return status;
}
