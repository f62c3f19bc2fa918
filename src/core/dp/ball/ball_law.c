/* With t = shift / scale, the loss L0 of the unsampled pair grows with the output, so {L0 > e} is a tail:
 *   Gaussian  P(L0 > e) = erfc((e/t - t/2) / sqrt 2) / 2,  Q(L0 > e) = erfc((e/t + t/2) / sqrt 2) / 2;
 *   logistic  P = (e^(t/2) - e^(e/2)) / (2 sinh(t/2)), Q = (e^(-e/2) - e^(-t/2)) / (2 sinh(t/2)) for |e| < t;
 *   Laplace   P = 1 - e^((e-t)/2) / 2,  Q = e^(-(e+t)/2) / 2 for -t <= e < t.
 * Under Poisson sampling P becomes (1-q) Q + q P and L = ln(1 - q + q e^L0), so L > eps where
 * L0 > ln((e^eps - 1 + q) / q), and always where e^eps <= 1 - q.
 * A replaced record, Gaussian, x = e^eps: with u = e^(t c) and k = e^(-t^2/2) the densities at c have the ratio x where
 *   q k u^2 - (1-q) (x-1) u - q k x = 0,
 * which has one positive root and grows with c, so {L > eps} is {c > ln(u) / t}; with T(y) = erfc(y / sqrt 2) / 2
 *   P = (1-q) T(c) + q T(c - t),  Q = (1-q) T(c) + q T(c + t). */
#include "dp/ball/ball_private.h"

void ball_law_init(struct ball_law *law, const struct ball_step *step, slong bits)
{
    arb_struct *all[] = {law->rate, law->rest, law->t, law->half,  law->inverse, law->up,
                         law->down, law->x,    law->y, law->tail0, law->tail1};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    law->noise = step->noise;
    law->bits = bits;
    law->sampled = step->sample_rate < 1;
    law->replaced = step->replaced;
    arb_set_d(law->rate, step->sample_rate);
    arb_sub_ui(law->rest, law->rate, 1, bits);
    arb_neg(law->rest, law->rest);
    arb_set_d(law->t, step->shift);
    arb_set_d(law->x, step->scale);
    arb_div(law->t, law->t, law->x, bits);
    arb_mul_2exp_si(law->half, law->t, -1);
    if (step->noise == BALL_GAUSSIAN) {
        arb_sqrt_ui(law->x, 2, bits);
        arb_div(law->up, law->half, law->x, bits);
        arb_mul(law->inverse, law->t, law->x, bits);
        arb_inv(law->inverse, law->inverse, bits);
    } else {
        arb_exp(law->up, law->half, bits);
        arb_inv(law->down, law->up, bits);
        arb_sinh(law->inverse, law->half, bits);
        arb_mul_2exp_si(law->inverse, law->inverse, 1);
        arb_inv(law->inverse, law->inverse, bits);
    }
}

void ball_law_clear(struct ball_law *law)
{
    arb_struct *all[] = {law->rate, law->rest, law->t, law->half,  law->inverse, law->up,
                         law->down, law->x,    law->y, law->tail0, law->tail1};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

static void ball_law_gaussian(arb_t p, arb_t q, struct ball_law *law, const arb_t e)
{
    arb_mul(law->x, e, law->inverse, law->bits);
    arb_sub(law->y, law->x, law->up, law->bits);
    arb_hypgeom_erfc(p, law->y, law->bits);
    arb_mul_2exp_si(p, p, -1);
    arb_add(law->y, law->x, law->up, law->bits);
    arb_hypgeom_erfc(q, law->y, law->bits);
    arb_mul_2exp_si(q, q, -1);
}

/* Losses are bounded: nothing above t, everything above -t. A ball that holds an end is rare and gets
 * [0, 1]. */
static bool ball_law_beyond(arb_t p, arb_t q, const struct ball_law *law, const arb_t e, arb_t sum)
{
    if (arb_ge(e, law->t)) {
        arb_zero(p);
        arb_zero(q);
        return true;
    }
    arb_add(sum, e, law->t, law->bits);
    if (arb_is_negative(sum)) {
        arb_one(p);
        arb_one(q);
        return true;
    }
    if (arb_lt(e, law->t) && arb_is_nonnegative(sum))
        return false;
    arb_unit_interval(p);
    arb_unit_interval(q);
    return true;
}

static void ball_law_bounded(arb_t p, arb_t q, struct ball_law *law, const arb_t e)
{
    if (ball_law_beyond(p, q, law, e, law->x))
        return;
    arb_mul_2exp_si(law->x, e, -1);
    arb_exp_invexp(law->x, law->y, law->x, law->bits);
    if (law->noise == BALL_LOGISTIC) {
        arb_sub(p, law->up, law->x, law->bits);
        arb_mul(p, p, law->inverse, law->bits);
        arb_sub(q, law->y, law->down, law->bits);
        arb_mul(q, q, law->inverse, law->bits);
    } else {
        arb_mul(p, law->x, law->down, law->bits);
        arb_mul_2exp_si(p, p, -1);
        arb_sub_ui(p, p, 1, law->bits);
        arb_neg(p, p);
        arb_mul(q, law->y, law->down, law->bits);
        arb_mul_2exp_si(q, q, -1);
    }
}

static void ball_law_unsampled(arb_t p, arb_t q, struct ball_law *law, const arb_t e)
{
    if (law->noise == BALL_GAUSSIAN)
        ball_law_gaussian(p, q, law, e);
    else
        ball_law_bounded(p, q, law, e);
}

/* The output above which the loss of a replaced record is. */
static void ball_law_threshold(arb_t c, struct ball_law *law, const arb_t epsilon)
{
    const slong bits = law->bits;
    arb_exp(law->x, epsilon, bits); /* x */
    arb_mul(law->y, law->t, law->t, bits);
    arb_neg(law->y, law->y);
    arb_mul_2exp_si(law->y, law->y, -1);
    arb_exp(law->y, law->y, bits);
    arb_mul(law->y, law->y, law->rate, bits); /* q k */
    arb_sub_ui(law->tail0, law->x, 1, bits);
    arb_mul(law->tail0, law->tail0, law->rest, bits); /* A = (1-q) (x-1) */
    arb_mul(law->tail1, law->y, law->y, bits);
    arb_mul(law->tail1, law->tail1, law->x, bits);
    arb_mul_2exp_si(law->tail1, law->tail1, 2);
    arb_addmul(law->tail1, law->tail0, law->tail0, bits);
    arb_sqrt(law->tail1, law->tail1, bits); /* root of A^2 + 4 x (q k)^2 */
    if (arb_is_negative(law->tail0)) {      /* without a difference of two large numbers */
        arb_sub(law->tail1, law->tail1, law->tail0, bits);
        arb_mul(law->y, law->y, law->x, bits);
        arb_mul_2exp_si(law->y, law->y, 1);
        arb_div(c, law->y, law->tail1, bits);
    } else {
        arb_add(law->tail1, law->tail1, law->tail0, bits);
        arb_mul_2exp_si(law->y, law->y, 1);
        arb_div(c, law->tail1, law->y, bits);
    }
    arb_log(c, c, bits);
    arb_div(c, c, law->t, bits);
}

/* P(N(0, 1) > y), into tail1. */
static void ball_law_normal_tail(struct ball_law *law, const arb_t y)
{
    arb_mul(law->x, y, law->inverse, law->bits); /* y t / (t sqrt 2) */
    arb_mul(law->x, law->x, law->t, law->bits);
    arb_hypgeom_erfc(law->tail1, law->x, law->bits);
    arb_mul_2exp_si(law->tail1, law->tail1, -1);
}

static void ball_law_replaced(arb_t p, arb_t q, struct ball_law *law, const arb_t epsilon)
{
    const slong bits = law->bits;
    ball_law_threshold(law->tail0, law, epsilon);
    ball_law_normal_tail(law, law->tail0);
    arb_mul(p, law->tail1, law->rest, bits);
    arb_set(q, p);
    arb_sub(law->y, law->tail0, law->t, bits);
    ball_law_normal_tail(law, law->y);
    arb_addmul(p, law->tail1, law->rate, bits);
    arb_add(law->y, law->tail0, law->t, bits);
    ball_law_normal_tail(law, law->y);
    arb_addmul(q, law->tail1, law->rate, bits);
}

void ball_law_tails(arb_t p, arb_t q, struct ball_law *law, const arb_t epsilon)
{
    if (law->replaced) {
        ball_law_replaced(p, q, law, epsilon);
        return;
    }
    if (!law->sampled) {
        ball_law_unsampled(p, q, law, epsilon);
        return;
    }
    arb_exp(law->tail0, epsilon, law->bits);
    arb_sub(law->tail0, law->tail0, law->rest, law->bits);
    if (!arb_is_positive(law->tail0)) {
        if (arb_is_nonpositive(law->tail0)) {
            arb_one(p);
            arb_one(q);
        } else {
            arb_unit_interval(p);
            arb_unit_interval(q);
        }
        return;
    }
    arb_div(law->tail0, law->tail0, law->rate, law->bits);
    arb_log(law->tail0, law->tail0, law->bits);
    ball_law_unsampled(law->tail1, q, law, law->tail0);
    arb_mul(p, law->tail1, law->rate, law->bits);
    arb_addmul(p, q, law->rest, law->bits);
}
