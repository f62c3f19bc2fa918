/* Every bound that applies is computed; the smallest is taken. k releases of the same kind are one release of
 * a vector k times as long: L1 shifts add (t1 -> k t1), squared L2 shifts add (t2 -> sqrt(k) t2), Renyi
 * divergences add. */
#include "dp/account/accountant.h"

#include "dp/mechanism/pure_pair.h"
#include "dp/account/event_part.h"
#include "num/special.h"
#include "options/option_tables.h"
#include "sotto/private/option.h"

#include <stdio.h>
#include <string.h>

void account_add_bound(struct sotto_account *a, const char *name, double epsilon)
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
    if (k > 1 && m->atom > 0) {           /* S: all losses are t, P(S) = atom^k, Q(S) = atom^k e^(-k t) */
        struct interval missed = iv_scale(iv_exp(iv_scale(iv_log(iv(m->atom)), -k)), delta);
        one = fmax(one, iv_add(iv_scale(t, k), iv_log1p(iv_neg(missed))).lo);
    }
    return k > 1 && m->composed && (m->norm == SHIFT_L1 || m->two_losses)
               ? fmax(one, m->composed(t, fmin(k, m->composed_max), delta).lo)
               : one;
}

enum { SPREAD = 1024 }; /* coordinates; already within a fraction of a percent of the limit */

/* Noise on whole steps: one release, as far as one coordinate can move; or as many as can move by one step,
 * which is what `composed` is exact for. */
static double integer_lower(const struct mechanism *m, const struct sensitivity_ratio *s, double delta,
                            double k)
{
    double lower = m->integer->epsilon(s->one_coordinate, s->step, delta).lo;
    double single = fmin(k * s->coordinates, m->composed_max);
    return m->composed ? fmax(lower, m->composed(s->step, single, delta).lo) : lower;
}

/* What some adjacent pair really gives: its shift all in one coordinate, or spread evenly over as many as
 * both norms allow. Both are shifts within the sensitivity, so epsilon cannot be smaller. */
static double lower_bound(const struct mechanism *m, const struct sensitivity_ratio *s, double delta,
                          double k)
{
    struct interval one = iv_min(s->l1, s->l2);
    if (m->kind == RELEASE_NONE)
        m = mechanism_find("gaussian"); /* the noise that it is */
    if (m->kind == RELEASE_MEDIAN || m->kind == RELEASE_MINIMUM)
        return 0; /* an upper end is all that is known */
    if (delta == 0 && m->integer)
        return m->pure ? iv_scale(s->step, fmax(s->one_coordinate, s->coordinates) * k).lo : INFINITY;
    if (delta == 0 && m->norm == SHIFT_L1)
        return m->pure ? iv_scale(s->dimension > 0 ? s->l1 : one, k).lo : INFINITY;
    if (delta == 0)
        return iv_scale(account_shift(m, s), k).lo;
    if (m->integer)
        return integer_lower(m, s, delta, k);
    if (m->dominated)
        return 0;
    double lower = scalar_lower(m, one, delta, k);
    double spread = fmin(fmin(s->dimension, SPREAD), floor(m->composed_max / k));
    if (isfinite(s->l1.hi))
        spread = fmin(spread, floor(iv_square(iv_div(s->l1, s->l2)).lo));
    if (m->composed && m->norm == SHIFT_L1 && spread >= 2)
        lower = fmax(lower, m->composed(iv_div(s->l2, iv_sqrt(iv(spread))), k * spread, delta).lo);
    return lower;
}

double account_deviation(const struct mechanism *m, const struct sensitivity_ratio *s)
{
    if (m->integer)
        return m->integer->deviation(s->step.hi);
    return m->kind == RELEASE_VECTOR ? sqrt(s->dimension + 1) : m->standard_deviation;
}

/* The requested formula is the claim; the exact account of the noise is given beside it. */
static void classical_bounds(struct sotto_account *out, const struct mechanism *m, struct interval t,
                             double delta)
{
    double claim = m->epsilon(t, delta).hi;
    if (m->delta(t, claim).hi > delta)
        claim = INFINITY;
    account_add_bound(out, "classical formula", claim);
    double upper = out->epsilon.upper;
    account_add_bound(out, "analytic gaussian", mechanism_find("gaussian")->epsilon(t, delta).hi);
    out->epsilon.upper = upper;
    snprintf(out->accountant, sizeof out->accountant, "%s", isfinite(upper) ? "classical formula" : "none");
    if (claim >= 1)
        snprintf(out->note, sizeof out->note,
                 "the published proof of the classical formula covers epsilon < 1 only; here it was checked "
                 "against the exact curve");
}

void account_upper(struct sotto_account *out, const struct mechanism *m, double scale,
                   const struct sensitivity_ratio *s, double delta, size_t compose)
{
    double k = (double)compose;
    struct interval t = account_shift(m, s);
    bool has1 = isfinite(t.hi);
    const char *norm = m->norm == SHIFT_L2 ? "closed form by l2" : "closed form by l1";
    *out = (struct sotto_account){.scale = scale,
                                  .delta = delta,
                                  .compose = compose,
                                  .sample_rate = 1,
                                  .epsilon = {0, INFINITY},
                                  .pure_epsilon = NAN,
                                  .zcdp_rho = NAN,
                                  .accountant = "none",
                                  .adjacency = SOTTO_REPLACE_ONE,
                                  .standard_deviation = account_deviation(m, s) * scale};
    snprintf(out->mechanism, sizeof out->mechanism, "%s", m->name);
    struct interval rho = iv_scale(iv_div(iv_square(s->l2), iv(m->zcdp_divisor)), k);
    out->zcdp_rho = rho.hi;
    if (m->kind == RELEASE_VECTOR)
        snprintf(out->note, sizeof out->note,
                 "this noise is sampled in double precision: proved for real numbers, while residues of "
                 "floating-point arithmetic are not excluded");
    if (m->pure && has1) {
        out->pure_epsilon = iv_scale(t, k).hi;
        account_add_bound(out, compose > 1 ? "pure, basic composition" : "pure", out->pure_epsilon);
    }
    if (delta == 0)
        return;
    struct release_curve curve = {m, s, k};
    struct interval together = iv_mul(s->l2, iv_sqrt(iv(k)));
    if (m->kind == RELEASE_NONE) {
        classical_bounds(out, m, together, delta);
        return;
    }
    if (m->by_l2 || has1)
        account_add_bound(out, m->by_l2 ? "analytic gaussian" : norm, account_epsilon(m, s, k, delta).hi);
    if (m->composed && has1 && k > 1 && k <= m->composed_max)
        account_add_bound(
            out, m->composed == pure_pair_composed ? "optimal pure composition" : "exact composition by l1",
            m->composed(t, k, delta).hi);
    if (m->renyi_ball && s->dimension > 0)
        account_add_bound(out, "l2 theorem, renyi", renyi_curve_epsilon(release_renyi_ball, &curve, delta));
    if (has1 && !m->by_l2)
        account_add_bound(out, m->norm == SHIFT_L2 ? "renyi by l2" : "renyi by l1",
                          renyi_curve_epsilon(release_renyi, &curve, delta));
    account_add_bound(out, "zcdp", zcdp_epsilon(rho.hi, delta));
}

void account_compute(struct sotto_account *out, const struct mechanism *m, double scale,
                     const struct sensitivity_ratio *s, double delta, size_t compose)
{
    account_upper(out, m, scale, s, delta, compose);
    out->epsilon.lower = fmin(lower_bound(m, s, delta, (double)compose), out->epsilon.upper);
}

bool account_needs_pld(const struct mechanism *m, const struct sensitivity_ratio *s, double delta,
                       size_t compose)
{
    const double too_large = 1e4; /* pure epsilon of all: its last digits do not matter */
    bool exact = m->by_l2 || (m->composed && (double)compose <= m->composed_max && s->steps <= 1);
    return delta > 0 && compose > 1 && compose <= (size_t)1 << 40 && m->kind != RELEASE_NONE && !exact &&
           account_shift(m, s).hi * (double)compose <= too_large;
}

static sotto_status account_release(struct sotto_account *out, const struct mechanism *m, double scale,
                                    const struct sensitivity_ratio *shifts, double delta, size_t compose,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(require_delta(delta));
    TRY(sotto_option_check_number(sotto_option_find(options_account, "compose"), (double)compose));
    if (m->check && delta > 0)
        TRY(m->check(m->epsilon(iv_scale(shifts->l2, sqrt((double)compose)), delta).hi, delta));
    TRY(context_check(ctx, "account: stopped"));
    struct sotto_account a;
    account_compute(&a, m, scale, shifts, delta, compose);
    bool above = account_needs_pld(m, shifts, delta, compose), below = delta > 0 && shifts->coordinates > 1;
    if (a.epsilon.upper > 0 && (above || below)) {
        const struct part all = {.kind = PART_NOISE, .m = m, .count = (double)compose, .shifts = *shifts};
        struct interval epsilon;
        TRY(parts_pld(&epsilon, &all, 1, delta, ctx));
        if (above)
            account_add_bound(&a, "privacy-loss distribution", epsilon.hi);
        a.epsilon.lower = fmin(fmax(a.epsilon.lower, epsilon.lo), a.epsilon.upper);
    }
    *out = a;
done:
    return status;
}

sotto_status account_require_pure(const struct mechanism *m, const struct sensitivity_ratio *s, double delta)
{
    sotto_status status = SOTTO_OK;
    if (delta == 0 && !m->pure)
        FAIL(SOTTO_EDOMAIN, "mechanism '%s' gives no pure epsilon; give a delta > 0", m->name);
    if (delta == 0 && m->norm == SHIFT_L1 && isinf(s->l1.hi))
        FAIL(SOTTO_EDOMAIN, "a pure epsilon (delta 0) needs the l1 sensitivity, but only l2 is given; give "
                            "l1, or a delta > 0");
done:
    return status;
}

sotto_status account_require_finite(const struct sotto_account *a)
{
    if (isfinite(a->epsilon.upper))
        return SOTTO_OK;
    return status_fail(SOTTO_EDOMAIN,
                       "%s: no finite epsilon is proved at delta %g; give a larger scale, or a larger delta",
                       a->mechanism, a->delta);
}

/* An account to show, to charge and to certify has a finite epsilon. */
static sotto_status account_finite(struct sotto_account *out, const struct mechanism *m, double scale,
                                   const struct sensitivity_ratio *shifts, double delta, size_t compose,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    TRY(account_require_pure(m, shifts, delta));
    TRY(account_release(&a, m, scale, shifts, delta, compose, ctx));
    TRY(account_require_finite(&a));
    *out = a;
done:
    return status;
}

sotto_status sotto_account_release(struct sotto_account *out, const char *mechanism, double scale,
                                   const struct sotto_sensitivity *sensitivity, double delta, size_t compose,
                                   const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, mechanism, sensitivity);
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    struct sensitivity_ratio shifts;
    TRY(mechanism_require(&m, mechanism));
    TRY(sensitivity_ratio_for(&shifts, m, scale, sensitivity));
    TRY(account_finite(out, m, scale, &shifts, delta, compose, ctx));
done:
    return status;
}

sotto_status account_to_charge(struct sotto_account *out, const struct mechanism *m, double scale,
                               const struct sotto_sensitivity *sensitivity, double delta, int bits,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sensitivity_ratio shifts;
    TRY(sensitivity_ratio_on(&shifts, m, scale, sensitivity, bits));
    TRY(account_finite(out, m, scale, &shifts, delta, 1, ctx));
done:
    return status;
}

/* (1 / scale, delta) at this delta, and nothing at others. */
static sotto_status account_test(struct sotto_account *out, double scale, double delta)
{
    sotto_status status = SOTTO_OK;
    TRY(require_positive(scale, "scale"));
    REQUIRE(delta > 0 && delta < 1, "%s needs delta in (0, 1): a wrong test is never impossible (got %g)",
            TEST_MECHANISM, delta);
    struct sotto_account a = {.mechanism = TEST_MECHANISM,
                              .scale = scale,
                              .delta = delta,
                              .compose = 1,
                              .sample_rate = 1,
                              .epsilon = {0, INFINITY},
                              .pure_epsilon = NAN,
                              .zcdp_rho = NAN,
                              .accountant = "none",
                              .adjacency = SOTTO_REPLACE_ONE,
                              .standard_deviation = NAN};
    account_add_bound(&a, "test", iv_div(iv(1), iv(scale)).hi);
    *out = a;
done:
    return status;
}

sotto_status account_on(struct sotto_account *out, const char *mechanism, double scale,
                        const struct sotto_sensitivity *sensitivity, double delta, int bits,
                        const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    struct sensitivity_ratio shifts;
    if (strcmp(mechanism, TEST_MECHANISM) == 0)
        return account_test(out, scale, delta);
    TRY(mechanism_require(&m, mechanism));
    TRY(sensitivity_ratio_on(&shifts, m, scale, sensitivity, bits));
    TRY(account_release(out, m, scale, &shifts, delta, 1, ctx));
done:
    return status;
}
