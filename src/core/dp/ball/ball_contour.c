/* delta_k by the trapezoidal sum on the line Re z = c (docs/derivations/logistic.md, 5):
 *
 *   delta_k(e) = (1/2pi) int F(z) e^(-z e) dy,
 *   F(z) = M(z)^k / (z (z+1)),  M(z) = sinh((z + 1/2) t) / ((2z+1) sinh(t/2)).
 *
 * With step h = 2 pi / T, T >= k t - e, the sum exceeds delta_k by at most e^(-cT) / (1 - e^(-cT)) and never
 * falls below it; what lies behind y adds at most
 *
 *   A^k y^(-k-1) e^(-ce) / (pi (k+1)),  A = cosh((c + 1/2) t) / (2 sinh(t/2)).
 *
 * c and T are plain numbers: any choice is valid. */
#include "dp/ball/ball_private.h"
#include "num/special.h"

struct contour {
    double t, epsilon, c;
    double size; /* about ln of the value */
    size_t count;
};

static double log_sinh(double x)
{
    return x - 0.6931471805599453 + log(-expm1(-2 * x));
}

/* k ln M(c) - c e - ln c - ln(1 + c) */
static double ball_contour_height(double c, const void *arg)
{
    const struct contour *p = arg;
    double log_m = log_sinh((c + 0.5) * p->t) - log(2 * c + 1) - log_sinh(p->t / 2);
    return (double)p->count * log_m - c * p->epsilon - log(c) - log1p(c);
}

/* F(z) e^(-z e) (sinh(t/2))^k without that constant factor. */
static void ball_contour_term(acb_t out, const acb_t z, const arb_t t, const arb_t epsilon, size_t k,
                              slong bits)
{
    acb_t x;
    acb_init(x);
    acb_mul_2exp_si(x, z, 1);
    acb_add_ui(x, x, 1, bits); /* 2z + 1 */
    acb_mul_2exp_si(out, x, -1);
    acb_mul_arb(out, out, t, bits);
    acb_sinh(out, out, bits);
    acb_div(out, out, x, bits);
    acb_pow_ui(out, out, k, bits);
    acb_mul_arb(x, z, epsilon, bits);
    acb_neg(x, x);
    acb_exp(x, x, bits);
    acb_mul(out, out, x, bits);
    acb_div(out, out, z, bits);
    acb_add_ui(x, z, 1, bits);
    acb_div(out, out, x, bits);
    acb_clear(x);
}

/* What the terms behind y can add, times h (see above), without the constant factor: an upper bound. */
static void ball_contour_tail(arb_t out, const arb_t growth, const arb_t y, const arb_t c,
                              const arb_t epsilon, size_t k, slong bits)
{
    arb_div(out, growth, y, bits); /* cosh((c + 1/2) t) / (2 y) */
    arb_pow_ui(out, out, k, bits);
    arb_div(out, out, y, bits);
    arb_div_ui(out, out, k + 1, bits);
    arb_t fall;
    arb_init(fall);
    arb_mul(fall, c, epsilon, bits);
    arb_neg(fall, fall);
    arb_exp(fall, fall, bits);
    arb_mul(out, out, fall, bits);
    arb_clear(fall);
}

/* KEEP: bits of the result that matter */
enum { MOST_TERMS = 1 << 16, KEEP = 70 };

/* Half the term at y = 0 and all terms at y = h, 2h, ... until the rest does not matter; the rest as a
 * radius. */
static void sum_terms(arb_t out, const struct contour *p, const arb_t t, const arb_t epsilon,
                      const arb_t step, slong bits)
{
    arb_t growth, rest;
    acb_t z, f;
    mag_t small;
    arb_init(growth);
    arb_init(rest);
    acb_init(z);
    acb_init(f);
    mag_init(small);
    arb_set_d(acb_realref(z), p->c);
    arb_set_d(growth, 0.5);
    arb_add(growth, growth, acb_realref(z), bits);
    arb_mul(growth, growth, t, bits);
    arb_cosh(growth, growth, bits);
    arb_mul_2exp_si(growth, growth, -1);
    ball_contour_term(f, z, t, epsilon, p->count, bits);
    arb_mul_2exp_si(out, acb_realref(f), -1);
    for (ulong i = 1; i < MOST_TERMS; i++) {
        arb_mul_ui(acb_imagref(z), step, i, bits);
        ball_contour_term(f, z, t, epsilon, p->count, bits);
        arb_add(out, out, acb_realref(f), bits);
        if (i % 8)
            continue;
        ball_contour_tail(rest, growth, acb_imagref(z), acb_realref(z), epsilon, p->count, bits);
        arb_div(rest, rest, step, bits);
        arb_get_mag(small, out);
        mag_mul_2exp_si(small, small, -KEEP);
        if (arf_cmpabs_mag(arb_midref(rest), small) < 0)
            break;
    }
    arb_add_error(out, rest);
    arb_clear(growth);
    arb_clear(rest);
    acb_clear(z);
    acb_clear(f);
    mag_clear(small);
}

static void ball_contour_formula(arb_t out, const void *arg, slong bits)
{
    const struct contour *p = arg;
    arb_t t, epsilon, step, part, period;
    arb_init(t);
    arb_init(epsilon);
    arb_init(step);
    arb_init(part);
    arb_init(period);
    arb_set_d(t, p->t);
    arb_set_d(epsilon, p->epsilon);
    /* T: at least k t - e, and so large that what is folded in does not matter */
    arb_set_d(period, (KEEP * 0.7 - p->size) / p->c);
    arb_mul_ui(part, t, p->count, bits);
    arb_sub(part, part, epsilon, bits);
    arb_max(period, period, part, bits);
    arb_const_pi(step, bits);
    arb_mul_2exp_si(step, step, 1);
    arb_div(step, step, period, bits);
    sum_terms(out, p, t, epsilon, step, bits);
    arb_mul(out, out, step, bits);
    arb_const_pi(part, bits);
    arb_div(out, out, part, bits);
    arb_mul_2exp_si(t, t, -1);
    arb_sinh(t, t, bits);
    arb_pow_ui(t, t, p->count, bits);
    arb_div(out, out, t, bits);
    arb_set_d(part, p->c); /* minus [0, e^(-cT) / (1 - e^(-cT))] */
    arb_mul(part, part, period, bits);
    arb_expm1(part, part, bits);
    arb_inv(part, part, bits);
    arb_mul_2exp_si(part, part, -1);
    arb_sub(out, out, part, bits);
    arb_add_error(out, part);
    arb_clear(t);
    arb_clear(epsilon);
    arb_clear(step);
    arb_clear(part);
    arb_clear(period);
}

struct interval ball_contour(double t, size_t count, double epsilon)
{
    struct contour p = {.t = t, .epsilon = epsilon, .count = count};
    if (epsilon >= next_up(t * (double)count))
        return iv(0);
    p.c = minimise_log(1e-9, 1e9 * fmax(1, 1 / t), 0, ball_contour_height, &p);
    p.size = fmin(0, ball_contour_height(p.c, &p));
    struct interval d = ball_narrow(ball_contour_formula, &p);
    return (struct interval){fmax(0, d.lo), fmin(1, d.hi)};
}
