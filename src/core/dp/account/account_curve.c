/* The curves of one release, or of k releases seen as one shifted pair. */
#include "dp/account/accountant.h"

#include <math.h>

/* The shift that the scalar curve is taken at; hi INFINITY: unknown. */
struct interval account_shift(const struct mechanism *m, const struct sensitivity_ratio *s)
{
    return m->norm == SHIFT_L2 ? s->l2 : s->l1;
}

struct interval account_epsilon(const struct mechanism *m, const struct sensitivity_ratio *s, double k,
                                double delta)
{
    if (m->integer)
        return m->integer->epsilon(s->steps * k, s->step, delta);
    if (m->by_l2)
        return m->epsilon(iv_mul(s->l2, iv_sqrt(iv(k))), delta);
    return m->epsilon(iv_scale(account_shift(m, s), k), delta);
}

static struct interval pair_delta(const struct mechanism *m, const struct sensitivity_ratio *s, double k,
                                  double epsilon)
{
    if (m->integer)
        return m->integer->delta(s->steps * k, s->step, epsilon);
    if (m->by_l2)
        return m->delta(iv_mul(s->l2, iv_sqrt(iv(k))), epsilon);
    return m->delta(iv_scale(account_shift(m, s), k), epsilon);
}

struct interval account_delta(const struct mechanism *m, const struct sensitivity_ratio *s, double k,
                              double epsilon)
{
    struct interval d = pair_delta(m, s, k, fabs(epsilon));
    if (epsilon >= 0)
        return d;
    d = iv_add(iv_neg(iv_expm1(iv(epsilon))), iv_mul(iv_exp(iv(epsilon)), d));
    return iv_max(iv_min(d, iv(1)), iv(0));
}

struct interval release_renyi(double alpha, const void *arg)
{
    const struct release_curve *c = arg;
    const struct sensitivity_ratio *s = c->shifts;
    struct interval r = c->m->integer ? c->m->integer->renyi(s->steps, s->step, alpha)
                                      : c->m->renyi(account_shift(c->m, s), alpha);
    return iv_scale(r, c->k);
}

struct interval release_renyi_ball(double alpha, const void *arg)
{
    const struct release_curve *c = arg;
    return iv_scale(c->m->renyi_ball(c->shifts->l2, c->shifts->dimension, alpha), c->k);
}

struct interval account_renyi(const struct mechanism *m, const struct sensitivity_ratio *s, double alpha)
{
    const struct release_curve c = {m, s, 1};
    struct interval best = iv_scale(iv_div(iv_square(s->l2), iv(m->zcdp_divisor)), alpha);
    if (m->renyi_ball && s->dimension > 0)
        best = iv_min(best, release_renyi_ball(alpha, &c));
    return isfinite(account_shift(m, s).hi) ? iv_min(best, release_renyi(alpha, &c)) : best;
}
