/* With t = shift / scale, the loss L0 of the unsampled pair grows with the output, so {L0 > e} is a tail:
 *   Gaussian  P(L0 > e) = erfc((e/t - t/2) / sqrt 2) / 2,  Q(L0 > e) = erfc((e/t + t/2) / sqrt 2) / 2;
 *   logistic  P = (e^(t/2) - e^(e/2)) / (2 sinh(t/2)), Q = (e^(-e/2) - e^(-t/2)) / (2 sinh(t/2)) for |e| < t;
 *   Laplace   P = 1 - e^((e-t)/2) / 2,  Q = e^(-(e+t)/2) / 2 for -t <= e < t.
 * Under Poisson sampling P becomes (1-q) Q + q P and L = ln(1 - q + q e^L0), so L > eps where
 * L0 > ln((e^eps - 1 + q) / q), and always where e^eps <= 1 - q. */
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

void ball_law_tails(arb_t p, arb_t q, struct ball_law *law, const arb_t epsilon)
{
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
