/* Poisson sampling when one record takes another's place: with rate q it was in, and moved the output by t
 * one way before and by t the other way after. With a threshold c, F the law of the noise, x = e^eps >= 1:
 *
 *   delta = max_c q F(c) - (1-q) (x - 1) F(c - t) - q x F(c - 2 t),
 *
 * the three centres being "in, before", "out" and "in, after". It is split into the curves of shifts t and
 * 2 t: any weights s + (1 - s) = 1 bound it from above, any threshold from below:
 *
 *   q [ s delta_t(ln(a/s)) + (1-s) delta_2t(ln(x/(1-s))) ],  a = (1-q) (x - 1) / q,
 *
 * and both are equal where s = a e^-y, y being what the shift t loses at c. mechanism->balance() finds about
 * that. Below 0 a reflection swaps the pair: value(eps) = x value(-eps). docs/derivations/pld.md, section
 * 3. */
#include "dp/pld/pld.h"

struct pair_point pair_plain_point(const struct mechanism *m, double shift, double epsilon)
{
    struct tails t = m->tails(shift, fabs(epsilon));
    struct interval x = iv_exp(iv(epsilon));
    return epsilon >= 0 ? (struct pair_point){t.delta, iv_mul(x, t.beta)}
                        : (struct pair_point){iv_mul(x, t.delta), iv_mul(x, t.alpha)};
}

/* ln a; -INFINITY at epsilon = 0. */
static struct interval log_odds(double rate, double epsilon)
{
    struct interval rest = iv_div(iv_sub(iv(1), iv(rate)), iv(rate)), more;
    more = epsilon < 1 ? iv_log(iv_expm1(iv(epsilon)))
                       : iv_add(iv(epsilon), iv_log1p(iv_neg(iv_exp(iv(-epsilon)))));
    return iv_add(iv_log(rest), more);
}

struct tails pair_tails_at(const struct mechanism *m, double t, double y)
{
    struct tails s = m->tails(t, fabs(y));
    if (y >= 0)
        return s;
    struct interval d = iv_sub(iv_mul(iv_exp(iv(y)), s.delta), iv_expm1(iv(y))); /* 1 - e^y + e^y delta(-y) */
    return (struct tails){iv_sub(iv(1), s.beta), iv_sub(iv(1), s.alpha), d};
}

/* All three fall with y. */
static struct tails tails_between(const struct mechanism *m, double t, struct interval y)
{
    struct tails near = pair_tails_at(m, t, y.lo), far = pair_tails_at(m, t, y.hi);
    return (struct tails){
        {far.alpha.lo, near.alpha.hi}, {far.beta.lo, near.beta.hi}, {far.delta.lo, near.delta.hi}};
}

static double pld_replace_above(const struct pair_sampled *p, struct interval log_a, double epsilon,
                                double share)
{
    struct interval s = iv(share), rest = iv_sub(iv(1), s), sum = iv(0);
    if (share > 0) {
        double y = iv_sub(log_a, iv_log(s)).lo;
        sum = iv_mul(s, pair_tails_at(p->mechanism, p->shift, y).delta);
    }
    if (share < 1) {
        double y = iv_sub(iv(epsilon), iv_log(rest)).lo;
        sum = iv_add(sum, iv_mul(rest, pair_tails_at(p->mechanism, 2 * p->shift, y).delta));
    }
    return iv_mul(iv(p->rate), sum).hi;
}

/* What the event of one threshold gives. */
struct event {
    double value;
    struct interval first, second; /* its probability under the one law and the other */
};

static struct event event_at(const struct pair_sampled *p, struct interval log_a, double epsilon, double y)
{
    struct interval both = p->mechanism->twice(p->shift, y), q = iv(p->rate), out = iv_sub(iv(1), q);
    struct tails t = pair_tails_at(p->mechanism, p->shift, y),
                 far = tails_between(p->mechanism, 2 * p->shift, both);
    /* q [ s delta_t(y) + (1-s) delta_2t(z) + ((1-s) e^(z - eps) - 1) x F(c - 2 t) ]; the last is nearly 0 */
    struct interval s = iv_exp(iv_sub(log_a, iv(y))), rest = iv_sub(iv(1), s);
    struct interval miss = iv_sub(iv_mul(rest, iv_exp(iv_sub(both, iv(epsilon)))), iv(1));
    struct interval sum = iv_add(iv_mul(s, t.delta), iv_mul(rest, far.delta));
    sum = iv_add(sum, iv_mul(miss, iv_mul(iv_exp(iv(epsilon)), far.beta)));
    return (struct event){iv_mul(q, sum).lo, iv_add(iv_mul(q, t.alpha), iv_mul(out, t.beta)),
                          iv_add(iv_mul(out, t.beta), iv_mul(q, far.beta))};
}

struct pair_point pair_replaced_point(const struct pair_sampled *p, double epsilon)
{
    const struct mechanism *m = p->mechanism;
    if (p->rate == 1)
        return pair_plain_point(m, 2 * p->shift, epsilon);
    double size = fabs(epsilon), end = p->shift * (1 - 0x1p-40);
    struct interval log_a = log_odds(p->rate, size), x = iv_exp(iv(epsilon));
    double y = m->balance(p->shift, log_a.hi, size), share = fmin(exp(log_a.hi - y), 1);
    double most = pld_replace_above(p, log_a, size, share);
    if (m->pure) /* losses end at the shift: a threshold strictly within */
        y = fmin(fmax(y, -end), end);
    struct event e = event_at(p, log_a, size, y);
    struct interval value = {fmax(0, e.value), most};
    return epsilon >= 0 ? (struct pair_point){value, iv_mul(x, e.second)}
                        : (struct pair_point){iv_mul(x, value), iv_mul(x, e.first)};
}
