/* Sensitivities in units of the noise: what one norm says about the other, and how many whole steps fit. */
#include "dp/account/accountant.h"

#include <math.h>

struct sotto_sensitivity sensitivity_normal(const struct sotto_sensitivity *s)
{
    struct sotto_sensitivity normal = *s;
    if (s->l1 == 0)
        normal.l1 = NAN;
    if (s->l2 == 0)
        normal.l2 = NAN;
    return normal;
}

static struct interval either_way(struct interval x)
{
    return (struct interval){-x.hi, x.hi};
}

sotto_status sensitivity_ratio_make(struct sensitivity_ratio *out, double scale,
                                    const struct sotto_sensitivity *s, int bits)
{
    sotto_status status = SOTTO_OK;
    TRY(require_positive(scale, "scale"));
    const struct sotto_sensitivity known = sensitivity_normal(s);
    bool has1 = !isnan(known.l1), has2 = !isnan(known.l2);
    REQUIRE(has1 || has2, "sensitivity: neither l1 nor l2 is given; expected at least one norm");
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
        struct interval n = iv((double)s->dimension), step = iv(ldexp(1, lattice_exponent(scale, bits)));
        l1 = iv_max(iv_add(l1, either_way(iv_mul(n, step))), iv(0));
        l2 = iv_max(iv_add(l2, either_way(iv_mul(iv_sqrt(n), step))), iv(0));
    }
    *out = (struct sensitivity_ratio){.dimension = (double)s->dimension};
    out->l1 = isinf(l1.hi) ? iv(INFINITY) : iv_div(l1, iv(scale));
    out->l2 = iv_div(l2, iv(scale));
done:
    return status;
}

/* A lattice step that others give: a power of two. */
static sotto_status require_step(double step)
{
    int exponent;
    sotto_status status = require_positive(step, "value_step");
    if (status == SOTTO_OK && frexp(step, &exponent) != 0.5)
        status = status_fail(SOTTO_EINVAL, "value_step must be a power of two (got %g)", step);
    return status;
}

/* Differences of whole multiples of the step: l1 is a whole multiple too, and |v| <= v^2 for whole v. */
static sotto_status whole_steps(struct sensitivity_ratio *out, double scale,
                                const struct sotto_sensitivity *s)
{
    sotto_status status = SOTTO_OK;
    double step = s->value_step == 0 ? 1 : s->value_step;
    struct sotto_sensitivity exact = sensitivity_normal(s);
    exact.dimension = 0; /* nothing is rounded */
    TRY(require_step(step));
    TRY(sensitivity_ratio_make(out, scale, &exact, LATTICE_BITS));
    double one = isnan(s->l1) ? INFINITY : s->l1 / step; /* exact: the step is a power of two */
    double far = isnan(s->l2) ? one : s->l2 / step;
    double most = fmin(one, iv_square(iv(far)).hi), spread = fmin(one, iv_square(iv(far)).lo);
    if (s->dimension > 0)
        most = fmin(most, iv_mul(iv_sqrt(iv((double)s->dimension)), iv(far)).hi);
    REQUIRE(most >= 1,
            "sensitivity %g is less than value_step (%g), the unit of the values; expected at least one unit",
            isnan(s->l1) ? s->l2 : s->l1, step);
    out->steps = floor(most);
    out->one_coordinate = fmin(out->steps, fmax(1, floor(fmin(one, far))));
    out->coordinates = fmax(1, floor(fmin(spread, (double)s->dimension)));
    out->step = iv_div(iv(step), iv(scale));
    out->l1 = iv_scale(out->step, out->steps);
    out->l2 = iv_min(out->l2, out->l1);
done:
    return status;
}

sotto_status sensitivity_ratio_on(struct sensitivity_ratio *out, const struct mechanism *m, double scale,
                                  const struct sotto_sensitivity *sensitivity, int bits)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity s = sensitivity_normal(sensitivity);
    if (m->integer) {
        TRY(whole_steps(out, scale, &s));
        goto done;
    }
    if (m->norm == SHIFT_SCORE) {
        REQUIRE(!isnan(s.l1), "mechanism '%s' needs the l1 sensitivity, the largest change of one number",
                m->name);
        s.l2 = NAN;
        s.dimension = m->kind == RELEASE_CHOICE; /* a score is rounded, a label is not */
    }
    REQUIRE(m->kind != RELEASE_VECTOR || s.dimension > 0,
            "mechanism '%s' needs the dimension of the vector, with which its noise grows", m->name);
    TRY(sensitivity_ratio_make(out, scale, &s, bits));
done:
    return status;
}

int mechanism_lattice(const struct mechanism *m)
{
    return m->kind == RELEASE_LATTICE ? LATTICE_BITS : LATTICE_BITS_FINE;
}

sotto_status sensitivity_ratio_for(struct sensitivity_ratio *out, const struct mechanism *m, double scale,
                                   const struct sotto_sensitivity *sensitivity)
{
    return sensitivity_ratio_on(out, m, scale, sensitivity, mechanism_lattice(m));
}
