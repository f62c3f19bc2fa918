/* The binomial sum of Mironov, Talwar and Zhang (2019, section 3.3): all terms are positive, so it is summed
 * as it stands. */
#include "dp/ball/ball_private.h"

struct sampled {
    double multiplier, divisor, rate;
    unsigned alpha;
};

static void ball_sampled_formula(arb_t out, const void *arg, slong bits)
{
    const struct sampled *s = arg;
    arb_t unit, rate, rest, term, part; /* unit: 1 / (d m^2) */
    arb_struct *all[] = {unit, rate, rest, term, part};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    arb_set_d(part, s->multiplier);
    arb_mul(part, part, part, bits);
    arb_set_d(unit, s->divisor);
    arb_mul(unit, unit, part, bits);
    arb_inv(unit, unit, bits);
    arb_set_d(rate, s->rate);
    arb_sub_ui(rest, rate, 1, bits);
    arb_neg(rest, rest);
    arb_zero(out);
    for (ulong k = 0; k <= s->alpha; k++) {
        arb_bin_uiui(term, s->alpha, k, bits);
        arb_pow_ui(part, rest, s->alpha - k, bits);
        arb_mul(term, term, part, bits);
        arb_pow_ui(part, rate, k, bits);
        arb_mul(term, term, part, bits);
        arb_mul_ui(part, unit, k, bits);
        arb_mul_ui(part, part, k ? k - 1 : 0, bits);
        arb_exp(part, part, bits);
        arb_addmul(out, term, part, bits);
    }
    arb_log(out, out, bits);
    arb_div_ui(out, out, s->alpha - 1, bits);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

struct interval ball_sampled_renyi(double multiplier, double divisor, double rate, unsigned alpha)
{
    const struct sampled s = {multiplier, divisor, rate, alpha};
    struct interval r = ball_narrow(ball_sampled_formula, &s);
    return (struct interval){fmax(0, r.lo), r.hi};
}
