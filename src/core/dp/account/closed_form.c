/* One mechanism at one shift: the curve alone, without the search for a better bound. */
#include "dp/account/accountant.h"

/* The shift of one coordinate that both norms allow. */
static struct sensitivity_ratio one_coordinate(const struct mechanism *m, const struct sensitivity_ratio *s)
{
    struct sensitivity_ratio one = *s;
    if (!m->integer)
        one.l1 = one.l2 = iv_min(s->l1, s->l2);
    else
        one.steps = s->one_coordinate;
    return one;
}

static sotto_status closed_form_prepare(const struct mechanism **m, struct sensitivity_ratio *shifts,
                                        const char *mechanism, double scale,
                                        const struct sotto_sensitivity *sensitivity)
{
    sotto_status status = SOTTO_OK;
    TRY(mechanism_require(m, mechanism));
    TRY(sensitivity_ratio_for(shifts, *m, scale, sensitivity));
    if ((*m)->kind == RELEASE_NONE)
        FAIL(SOTTO_ENOTSUP,
             "mechanism '%s' is for comparison only and has no privacy curve; expected gaussian", mechanism);
    if (!(*m)->by_l2 && isinf(account_shift(*m, shifts).hi))
        FAIL(SOTTO_EDOMAIN, "mechanism '%s' needs the l1 sensitivity, but only l2 is given", mechanism);
done:
    return status;
}

sotto_status sotto_epsilon(struct sotto_interval *epsilon, const char *mechanism, double scale,
                           const struct sotto_sensitivity *sensitivity, double delta)
{
    REQUIRE_GIVEN(epsilon, mechanism, sensitivity);
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    struct sensitivity_ratio shifts;
    TRY(closed_form_prepare(&m, &shifts, mechanism, scale, sensitivity));
    TRY(require_delta(delta));
    struct sensitivity_ratio one = one_coordinate(m, &shifts);
    if (delta == 0) {
        *epsilon = (struct sotto_interval){m->dominated ? 0
                                           : m->pure    ? account_shift(m, &one).lo
                                                        : INFINITY,
                                           m->pure ? account_shift(m, &shifts).hi : INFINITY};
    } else {
        double upper = account_epsilon(m, &shifts, 1, delta).hi;
        *epsilon = (struct sotto_interval){
            m->dominated ? 0 : fmin(account_epsilon(m, &one, 1, delta).lo, upper), upper};
    }
done:
    return status;
}

sotto_status sotto_delta(struct sotto_interval *delta, const char *mechanism, double scale,
                         const struct sotto_sensitivity *sensitivity, double epsilon)
{
    REQUIRE_GIVEN(delta, mechanism, sensitivity);
    sotto_status status = SOTTO_OK;
    const struct mechanism *m;
    struct sensitivity_ratio shifts;
    TRY(closed_form_prepare(&m, &shifts, mechanism, scale, sensitivity));
    REQUIRE(epsilon >= 0 && epsilon <= 1e100, "epsilon must lie in [0, 1e100] (got %g)", epsilon);
    struct sensitivity_ratio one = one_coordinate(m, &shifts);
    double upper = account_delta(m, &shifts, 1, epsilon).hi;
    *delta =
        (struct sotto_interval){m->dominated ? 0 : fmin(account_delta(m, &one, 1, epsilon).lo, upper), upper};
done:
    return status;
}
