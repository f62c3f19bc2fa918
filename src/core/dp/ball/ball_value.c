/* Elementary and special functions at doubles: the oracle of num/interval.c and num/special.c. */
#include "dp/ball/ball_private.h"

struct point {
    enum ball_function function;
    double x;
};

static void normal_tail(arb_t out, const arb_t x, slong bits)
{
    arb_t root;
    arb_init(root);
    arb_sqrt_ui(root, 2, bits);
    arb_div(root, x, root, bits);
    arb_hypgeom_erfc(out, root, bits);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(root);
}

static void normal_density(arb_t out, const arb_t x, slong bits)
{
    arb_t root;
    arb_init(root);
    arb_mul(out, x, x, bits);
    arb_mul_2exp_si(out, out, -1);
    arb_neg(out, out);
    arb_exp(out, out, bits);
    arb_const_pi(root, bits);
    arb_mul_2exp_si(root, root, 1);
    arb_rsqrt(root, root, bits);
    arb_mul(out, out, root, bits);
    arb_clear(root);
}

/* ln(sinh x / x) = x - ln(2x) + ln(1 - e^-2x) */
static void log_sinhc(arb_t out, const arb_t x, slong bits)
{
    arb_t part;
    arb_init(part);
    arb_mul_2exp_si(part, x, 1);
    arb_log(out, part, bits);
    arb_sub(out, x, out, bits);
    arb_neg(part, part);
    arb_expm1(part, part, bits);
    arb_neg(part, part);
    arb_log(part, part, bits);
    arb_add(out, out, part, bits);
    arb_clear(part);
}

static void ball_value_evaluate(arb_t out, const void *arg, slong bits)
{
    const struct point *point = arg;
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_set_d(x, point->x);
    switch (point->function) {
    case BALL_EXP:
        arb_exp(out, x, bits);
        break;
    case BALL_EXPM1:
        arb_expm1(out, x, bits);
        break;
    case BALL_LOG:
        arb_log(out, x, bits);
        break;
    case BALL_LOG1P:
        arb_log1p(out, x, bits);
        break;
    case BALL_ERFC:
        arb_hypgeom_erfc(out, x, bits);
        break;
    case BALL_NORMAL_CDF:
        arb_neg(x, x);
        normal_tail(out, x, bits);
        break;
    case BALL_NORMAL_DENSITY:
        normal_density(out, x, bits);
        break;
    case BALL_MILLS:
        normal_tail(out, x, bits);
        normal_density(y, x, bits);
        arb_div(out, out, y, bits);
        break;
    case BALL_LOG_SINHC:
        log_sinhc(out, x, bits);
        break;
    }
    arb_clear(x);
    arb_clear(y);
}

/* No value lies outside of these. */
static const struct interval ranges[] = {
    [BALL_EXP] = {0, INFINITY},           [BALL_EXPM1] = {-1, INFINITY}, [BALL_LOG] = {-INFINITY, INFINITY},
    [BALL_LOG1P] = {-INFINITY, INFINITY}, [BALL_ERFC] = {0, 2},          [BALL_NORMAL_CDF] = {0, 1},
    [BALL_NORMAL_DENSITY] = {0, 0.4},     [BALL_MILLS] = {0, INFINITY},  [BALL_LOG_SINHC] = {0, INFINITY}};

struct interval ball_value(enum ball_function function, double x)
{
    const struct point point = {function, x};
    struct interval value = ball_narrow(ball_value_evaluate, &point);
    return (struct interval){fmax(value.lo, ranges[function].lo), fmin(value.hi, ranges[function].hi)};
}
