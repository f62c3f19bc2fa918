/* The k losses are tilted uniforms, so delta_k is a tilted Irwin-Hall sum (docs/derivations/logistic.md, 5):
 *   e^(eps/2) (4 sinh(t/2))^-k sum_{j: 2tj < T} (-1)^j C(k, j) G(T - 2tj),  T = k t - eps,
 *   G(x) = sum_n x^(k+1+2n) / (4^n (k+1+2n)!).
 * The terms cancel to about k digits; the growing precision takes care of that. */
#include "dp/ball/ball_private.h"

struct finite {
    double t, epsilon;
    size_t count;
};

/* Once the ratio of terms is below 1/2 the rest is below the last term. */
static void ball_finite_sum_series(arb_t out, const arb_t x, size_t k, slong bits)
{
    arb_t term, square, ratio;
    mag_t size, last;
    mag_init(size);
    mag_init(last);
    arb_init(term);
    arb_init(square);
    arb_init(ratio);
    arb_pow_ui(term, x, k + 1, bits);
    arb_fac_ui(ratio, k + 1, bits);
    arb_div(term, term, ratio, bits);
    arb_mul(square, x, x, bits);
    arb_mul_2exp_si(square, square, -2);
    arb_set(out, term);
    for (ulong i = k + 3;; i += 2) {
        arb_set_ui(ratio, i);
        arb_mul_ui(ratio, ratio, i - 1, bits);
        arb_div(ratio, square, ratio, bits);
        arb_mul(term, term, ratio, bits);
        arb_add(out, out, term, bits);
        arb_get_mag(size, ratio);
        arb_get_mag(last, term);
        if (mag_cmp_2exp_si(size, -1) <= 0 && mag_cmp(last, arb_radref(out)) <= 0)
            break;
    }
    arb_add_error(out, term);
    mag_clear(size);
    mag_clear(last);
    arb_clear(term);
    arb_clear(square);
    arb_clear(ratio);
}

static void ball_finite_sum_formula(arb_t out, const void *arg, slong bits)
{
    const struct finite *f = arg;
    arb_t left, t, choose, x, part;
    arb_init(left);
    arb_init(t);
    arb_init(choose);
    arb_init(x);
    arb_init(part);
    arb_set_d(t, f->t);
    arb_mul_ui(left, t, f->count, bits);
    arb_set_d(x, f->epsilon);
    arb_sub(left, left, x, bits);
    arb_zero(out);
    for (size_t j = 0;; j++) { /* ends by count / 2, since epsilon >= 0 */
        arb_mul_ui(x, t, 2 * j, bits);
        arb_sub(x, left, x, bits);
        if (arb_is_nonpositive(x))
            break;
        arb_bin_uiui(choose, f->count, j, bits);
        ball_finite_sum_series(part, x, f->count, bits);
        arb_mul(part, part, choose, bits);
        if (j % 2)
            arb_sub(out, out, part, bits);
        else
            arb_add(out, out, part, bits);
    }
    arb_set_d(x, f->epsilon);
    arb_mul_2exp_si(x, x, -1);
    arb_exp(x, x, bits);
    arb_mul(out, out, x, bits);
    arb_mul_2exp_si(t, t, -1);
    arb_sinh(t, t, bits);
    arb_mul_2exp_si(t, t, 2);
    arb_pow_ui(t, t, f->count, bits);
    arb_div(out, out, t, bits);
    arb_clear(left);
    arb_clear(t);
    arb_clear(choose);
    arb_clear(x);
    arb_clear(part);
}

struct interval ball_finite_sum(double t, size_t count, double epsilon)
{
    const struct finite f = {t, epsilon, count};
    struct interval d = ball_narrow(ball_finite_sum_formula, &f);
    return (struct interval){fmax(0, d.lo), fmin(1, d.hi)};
}
